"""`pressroom queue`: what an operator asks, as a person and as a script would, on both databases."""

import asyncio
import json
import time
from functools import partial
from typing import Any

import pytest

from pressroom.store.jobs.worker_records import WorkerRecord, save_worker
from pressroom.testing import ManualClock
from tests.cli.conftest import Run
from tests.service.queue_stage import BAD, GOOD, LEASE, Floor, floor, job

A_WHILE_AGO = 1_800  # seconds: the command looks at the real clock


@pytest.fixture
def run(give_on_database: Run) -> Run:
    return partial(give_on_database, "queue")


@pytest.fixture
def started(database: str) -> list[str]:
    """Two builds of one project that update the same edition, a job that waits, and two that ended."""

    async def act(here: Floor) -> list[str]:
        claims = [await here.start(project_id="handbook", org_id="acme", subject=f"build {number}") for number in (1, 2)]
        await here.editions(claims[0], "main", "v1")
        await here.move(claims[0], "v1", "failed", "no")
        await here.editions(claims[1], "main")
        await here.press.submit("tidy", org_id="beta")
        await here.end(GOOD, "page", org_id="acme")
        await here.end(BAD, "page", org_id="beta")
        return [job(claim) for claim in claims]

    async def stage() -> list[str]:
        async with floor(database, ManualClock(int((time.time() - A_WHILE_AGO) * 1000))) as here:
            return await act(here)

    return asyncio.run(stage())


def read(run: Run, *arguments: str) -> Any:
    code, out, _ = run(*arguments, "--json")
    assert code == 0
    return json.loads(out)


def test_the_backlog_is_shown(run: Run, started: list[str]) -> None:
    """Q13"""
    code, out, _ = run("backlog")

    assert code == 0
    assert out.splitlines()[0] == "1 queued"
    assert out.splitlines()[-1].split()[:4] == ["tidy", "background", "1", "1"]
    assert "30 min" in out
    assert read(run, "backlog", "--org", "acme")["items"] == []


def test_what_runs_is_shown_with_its_progress(run: Run, started: list[str]) -> None:
    """Q14"""
    _, out, _ = run("active")
    page = read(run, "active", "--limit", "1")
    rest = read(run, "active", "--limit", "1", "--cursor", page["next_cursor"])

    assert "editions  1/2 (1 failed)  build 1" in out
    assert "editions  0/1" in out
    assert "press-1.1.A" in out
    assert [line["id"] for line in page["items"] + rest["items"]] == started
    assert rest["next_cursor"] is None
    assert f"more: --cursor {page['next_cursor']}" in run("active", "--limit", "1")[1]
    assert run("active", "--kind", "tidy")[1] == "nothing is running\n"


def test_editions_that_two_jobs_name_are_shown(run: Run, started: list[str]) -> None:
    """Q15"""
    one, two = started
    _, out, _ = run("conflicts", "handbook")

    assert f"main     acme  {one} (in_progress), {two} (in_progress)" in out
    assert [line["id"] for line in read(run, "conflicts", "handbook", "--item", "main")["items"]] == started
    assert run("conflicts", "handbook", "--item", "v1")[1] == "nothing updates v1 of handbook\n"
    assert run("conflicts", "leaflet")[1] == "nothing updates an edition of leaflet\n"


def test_the_errors_of_the_last_hour_are_shown(run: Run, started: list[str]) -> None:
    """Q16"""
    _, out, _ = run("errors")

    assert out.startswith("1 of 2 jobs that ended within 1 h went wrong: 50.0% of those")
    assert read(run, "errors", "--org", "acme")["rate"] == 0.0


def test_the_throughput_of_the_last_hour_is_shown(run: Run, started: list[str]) -> None:
    """Q17"""
    _, out, _ = run("throughput")

    assert [line.split()[0] for line in out.splitlines()[3:]] == ["acme", "beta"]
    assert [line["org_id"] for line in read(run, "throughput", "--limit", "1")["items"]] == ["acme"]


def test_slow_jobs_are_shown(run: Run, started: list[str]) -> None:
    """Q18: over ten minutes, unless told otherwise."""
    assert [line["id"] for line in read(run, "slow")["items"]] == started
    assert run("slow", "--over", "2h")[1] == "nothing has been running for more than 2 h\n"


def test_what_makes_no_sense_is_wrong_usage(run: Run) -> None:
    for wrong in (("slow", "--over", "soon"), ("active", "--limit", "0"), ("active", "--cursor", "7"), ("conflicts",)):
        assert run(*wrong)[0] == 2


def test_a_kind_that_nobody_knows_cannot_be_paused(run: Run, give_on_database: Run) -> None:
    give_on_database("migrate")
    code, out, error = run("pause", "rendr")

    assert (code, out) == (6, "")
    assert "there is no kind 'rendr'" in error


def test_kinds_that_no_running_worker_takes_are_told(give_on_database: Run, database: str, started: list[str]) -> None:
    """`tidy` has been ready for half an hour."""
    nobody = "warning: no worker is running, and jobs are ready of: tidy"
    assert give_on_database("queue", "stats")[1].splitlines()[-1] == nobody
    assert give_on_database("workers")[1].splitlines()[-1] == nobody

    async def start_worker() -> None:
        async with floor(database, ManualClock(int(time.time() * 1000))) as here:
            await here.run(save_worker(WorkerRecord("one", "elsewhere/1/2/3/4", ["page"], 1, 0, lease=LEASE)))

    asyncio.run(start_worker())

    assert give_on_database("workers")[1].splitlines()[-1] == "warning: no running worker takes tidy, of which 1 job is ready"
    stats = json.loads(give_on_database("queue", "stats", "--json")[1])
    assert (stats["workers"], [one["kind"] for one in stats["without_worker"]]) == (1, ["tidy"])
