"""The command line, as a person and as a script would use it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from pressroom import Pressroom, config, kind, registry
from pressroom.model import VERSION
from tests import looking
from tests.cli.conftest import Run

KINDS = """
import asyncio
from pressroom import Partial, SourceInvalid, kind

@kind("shout", max_attempts=1)
async def shout(job, payload):
    await job.phase("shouting", total=3)
    for word in ("one", "two", "three"):
        await job.step(message=word)
    return payload["text"].upper()

@kind("wrong")
async def wrong(job, payload):
    raise SourceInvalid("no closing bracket", line=3, column=7)

@kind("odd", max_attempts=1)
async def odd(job, payload):
    raise ValueError("the password is hunter2")

@kind("partial")
async def partial(job, payload):
    return Partial("half", ["the other half is missing"])

@kind("endless", timeout=None)
async def endless(job, payload):
    await job.phase("dreaming")
    await asyncio.Event().wait()
"""


on_file = pytest.mark.parametrize("database", ["file"], indirect=True)  # for what no database changes


@pytest.fixture
def folder(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as a user has it: kinds in a module, settings in pressroom.toml."""
    (tmp_path / "mykinds.py").write_text(KINDS)
    (tmp_path / "pressroom.toml").write_text(f'database = "{database}"\nimports = ["mykinds"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mykinds", raising=False)
    return tmp_path


@pytest.fixture
def run(folder: Path, give: Run) -> Run:
    return give


def opened(**options: Any) -> Pressroom:
    """As an application in this folder would open it."""
    kinds, _ = registry.import_kinds(["mykinds"])
    return Pressroom(settings=config.load_settings(), **{"kinds": kinds} | options)


def submit(*requests: tuple[str, Any]) -> list[str]:
    """Submit as an application would, and let nobody work."""

    async def act() -> list[str]:
        async with opened(workers=None) as press:
            return [str(await press.submit(name, payload, subject=f"page {name}")) for name, payload in requests]

    return asyncio.run(act())


def work_off(*, timeout: float = 120) -> None:
    """Let a worker in this process finish what is queued."""

    async def act() -> None:
        async with opened(workers=2) as press:
            for job in (await press.list()).jobs:
                await press.wait_until_ended(job, timeout=timeout)

    asyncio.run(act())


def test_jobs_can_be_listed_filtered_and_paged(run: Run) -> None:
    submit(*[("shout", {"text": "hi"})] * 3, ("wrong", None))
    work_off()

    code, out, _ = run("jobs", "list", "--status", "failed")
    assert code == 0
    assert "no closing bracket" in out
    assert "page shout" not in out

    _, out, _ = run("jobs", "list", "--limit", "3", "--json")
    first = json.loads(out)
    _, out, _ = run("jobs", "list", "--limit", "3", "--json", "--cursor", first["cursor"])
    second = json.loads(out)
    assert len({job["id"] for job in first["jobs"] + second["jobs"]}) == 4
    assert second["cursor"] is None


def test_a_job_is_shown_with_its_history_and_its_errors(run: Run) -> None:
    (job,) = submit(("odd", {"n": 1}))
    work_off()

    code, out, _ = run("jobs", "show", job)

    assert code == 0
    assert "handler_error" in out
    assert "ValueError: the password is hunter2" in out, "an operator needs the traceback"
    shown = json.loads(run("jobs", "show", job, "--json")[1])
    assert shown["payload"] == {"n": 1}
    assert [event["type"] for event in shown["events"]] == ["queued", "started", "failed"]
    assert "hunter2" not in json.dumps(shown["events"]) + shown["last_error"]  # D22


@pytest.mark.parametrize(("name", "code"), [("shout", 0), ("wrong", 3), ("odd", 1), ("partial", 9)])
def test_watching_ends_with_the_job_and_the_exit_code_tells_how(run: Run, name: str, code: int) -> None:
    (job,) = submit((name, {"text": "hi"}))
    work_off()

    ended, out, _ = run("jobs", "watch", job)
    as_json = [json.loads(line) for line in run("jobs", "watch", job, "--json")[1].splitlines()]

    assert ended == code
    assert "queued" in out
    assert as_json[0]["type"] == "queued"
    resumed = run("jobs", "watch", job, "--json", "--after", str(as_json[0]["id"]))[1].splitlines()
    assert [json.loads(line)["id"] for line in resumed] == [event["id"] for event in as_json[1:]]


def test_a_queued_job_is_cancelled_and_retried_as_a_new_one(run: Run) -> None:
    (job,) = submit(("shout", {"text": "hi"}))

    assert run("jobs", "cancel", job)[:2] == (0, f"{job} is cancelled\n")
    assert run("jobs", "cancel", job)[0] == 0, "asking twice is no mistake"
    code, out, _ = run("jobs", "retry", job, "--json")
    again = json.loads(out)

    assert code == 0
    shown = json.loads(run("jobs", "show", f"job_{again['uid']}", "--json")[1])
    assert f"job_{shown['retry_of']}" == job
    assert shown["status"] == "queued"


def test_cancelling_what_has_ended_says_so(run: Run) -> None:
    (job,) = submit(("shout", {"text": "hi"}))
    work_off()

    code, out, _ = run("jobs", "cancel", job)

    assert code == 1
    assert "had already ended: completed" in out


def test_a_paused_kind_is_shown_and_resumed(run: Run) -> None:
    submit(("shout", {"text": "hi"}))

    assert run("queue", "pause", "shout")[0] == 0
    stats = json.loads(run("queue", "stats", "--json")[1])
    assert stats["paused"] == ["shout"]
    assert stats["backlog"][0]["queued"] == 1
    assert "paused: shout" in run("queue", "stats")[1]

    assert run("queue", "resume", "shout")[0] == 0
    assert json.loads(run("queue", "stats", "--json")[1])["paused"] == []


@on_file
def test_check_says_what_is_set_and_where_it_came_from(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_POLL_INTERVAL_MS", "250")

    code, out, _ = run("check", "--quick")
    as_json = json.loads(run("check", "--quick", "--json")[1])

    assert code == 0
    assert "environment (JOB_POLL_INTERVAL_MS)" in out
    assert {"name": "poll_interval", "value": "0.25", "from": "environment (JOB_POLL_INTERVAL_MS)"} in as_json["settings"]
    assert as_json["well"] is True


@on_file
def test_check_tells_every_wrong_setting_at_once(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pressroom.toml").write_text('workers = "many"\nlaese = 3\n')
    monkeypatch.setenv("PRESSROOM_WROKERS", "3")

    code, out, _ = run("check")

    assert code == 1
    assert "workers: 'many' is not a number" in out
    assert "laese: there is no such setting; did you mean lease?" in out
    assert "did you mean PRESSROOM_WORKERS?" in out
    assert run("jobs", "list")[0] == 2


@on_file
def test_check_finds_a_file_that_is_no_database(run: Run, folder: Path) -> None:
    (folder / "press.db").write_text("no database at all, but long enough to be taken for one " * 40)

    code, out, _ = run("check", "--quick")

    assert code == 1
    assert "PROBLEM schema" in out
    assert "to mend it" in out


def test_fsck_is_content_with_a_healthy_database(run: Run) -> None:
    submit(("shout", {"text": "hi"}), ("wrong", None), ("odd", None), ("partial", None))
    work_off()

    assert run("fsck") == (0, "all invariants hold\n", "")
    assert json.loads(run("fsck", "--json")[1]) == []


def test_fsck_exits_with_the_rows_that_break_an_invariant(run: Run, database: str) -> None:
    (job,) = submit(("shout", {"text": "hi"}))
    looking.change(database, "DELETE FROM job_payload")

    code, out, _ = run("fsck", "--json")

    assert code == 1
    assert [(row["check"], row["job"]) for row in json.loads(out)] == [("missing_payload", job)]
    assert job in run("fsck")[1]


def test_migrate_makes_the_database_and_then_has_nothing_to_do(run: Run, database: str, folder: Path) -> None:
    if not database.startswith("sqlite:"):
        looking.empty(database)
    assert "would apply 0001 jobs" in run("migrate", "--dry-run")[1]
    assert looking.tables(database) == []
    assert "applied 0001 jobs" in run("migrate")[1]
    assert run("migrate")[1] == "the database is up to date\n"


@on_file
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["jobs", "show", "job_01M7GSS1TQE00A2Y4HRBTP8ZY6"], 6),
        (["jobs", "show", "nonsense"], 6),
        (["jobs", "list", "--since", "yesterday"], 2),
        (["jobs", "list", "--limit", "0"], 2),
        (["jobs", "list", "--status", "done"], 2),
        (["work", "--kinds", "nope"], 2),
        (["work", "--except", "nope"], 2),
        (["work", "--kinds", "render", "--except", "render"], 2),
        (["work", "--kinds", ""], 2),
        (["work", "--pool", "nope"], 2),
        (["work", "--pool", ""], 2),
        (["work", "--pool", "render", "--kinds", "render"], 2),
        (["work", "--kinds", "webhook", "--except", "webhook"], 2),
        (["work", "--slots", "many"], 2),
        (["jobs", "list", "--database", "mysql://x"], 2),
        (["jobs", "list", "--config", "missing.toml"], 2),
        (["nonsense"], 2),
        ([], 2),
        (["--version"], 0),
        (["--help"], 0),
    ],
    ids=str,
)
def test_exit_codes_are_as_documented(run: Run, arguments: list[str], code: int) -> None:
    run("migrate")

    ended, _, err = run(*arguments)

    assert ended == code
    assert "Traceback" not in err


@on_file
def test_a_module_that_cannot_be_imported_is_named(run: Run) -> None:
    code, _, err = run("work", "--import", "no_such_module")

    assert code == 2
    assert "no_such_module" in err


def test_the_version_is_the_projects() -> None:
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    assert f'version = "{VERSION}"' in pyproject.read_text()


def test_what_a_job_says_cannot_move_the_cursor(run: Run) -> None:
    @kind("shout")
    async def shout(job: Any, payload: Any) -> None: ...

    async def act() -> str:
        async with opened(kinds=[shout], workers=None) as press:
            return str(await press.submit("shout", {}, subject="\x1b[2J\x1b]0;owned\x07"))

    job = asyncio.run(act())

    assert "\x1b" not in run("jobs", "list")[1] + run("jobs", "show", job)[1]


@contextmanager
def a_worker(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A real process, stopped as an operator stops it."""
    command = [sys.executable, "-m", "pressroom", "work", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        try:
            assert f"working on {config.mask_password(config.load_settings().database)} " in worker.stdout.readline()
            yield worker
        finally:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(timeout=60) == 0


def test_a_worker_works_until_it_is_told_to_stop(folder: Path, run: Run) -> None:
    jobs = submit(*[("shout", {"text": "hi"})] * 5)

    with a_worker(folder, "--slots", "2"):
        for job in jobs:
            assert run("jobs", "watch", job)[0] == 0


@on_file
def test_a_second_signal_ends_a_worker_that_still_waits_for_its_jobs(folder: Path, run: Run) -> None:
    (job,) = submit(("endless", {}))
    command = [sys.executable, "-m", "pressroom", "work", "--grace", "3600"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as worker:
        try:
            deadline = time.monotonic() + 120
            while "dreaming" not in run("jobs", "show", job)[1] and time.monotonic() < deadline:
                time.sleep(0.1)
            while worker.poll() is None and time.monotonic() < deadline:
                worker.send_signal(signal.SIGTERM)  # the first asks it to stop; those before it has heard that are one
                time.sleep(0.1)

            assert worker.returncode == -signal.SIGTERM
        finally:
            worker.kill()


def test_a_worker_says_which_kinds_it_takes_and_where_artifacts_go(folder: Path) -> None:
    command = [sys.executable, "-m", "pressroom", "work", "--kinds", "shout"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        line = worker.stdout.readline()
        worker.send_signal(signal.SIGTERM)

    assert f"; kinds: shout; artifacts in {config.load_settings().artifact_folder}\n" in line


def test_a_worker_takes_all_kinds_but_some(folder: Path, run: Run) -> None:
    (job,) = submit(("shout", {"text": "hi"}))
    command = [sys.executable, "-m", "pressroom", "work", "--except", "webhook"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        line = worker.stdout.readline()
        assert run("jobs", "watch", job)[0] == 0
        worker.send_signal(signal.SIGTERM)

    kinds = line.partition("; kinds: ")[2].partition(";")[0].split(", ")
    assert {"shout", "render", "diagram", "wiki.render"} <= set(kinds)
    assert "webhook" not in kinds


def test_a_worker_takes_the_kinds_of_its_pools(folder: Path, run: Run) -> None:
    """As the workers of deploy/compose.yaml do: one's own kinds too, but none that needs a way out."""
    (job,) = submit(("shout", {"text": "hi"}))
    command = [sys.executable, "-m", "pressroom", "work", "--pool", "render,default", "--except", "diagram"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        line = worker.stdout.readline()
        assert run("jobs", "watch", job)[0] == 0
        worker.send_signal(signal.SIGTERM)

    assert "; pools: render, default; " in line
    kinds = line.partition("; kinds: ")[2].partition(";")[0].split(", ")
    assert {"shout", "render", "wiki.render", "desk.bulk"} <= set(kinds)
    assert not {"webhook", "diagram"} & set(kinds)


def test_a_wrong_pool_is_told_with_those_that_there_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_APPS", "diagrams,wiki")
    _, _, unknown = run("work", "--pool", "render,gpu")
    _, _, empty = run("work", "--pool", "outbound", "--except", "webhook")

    assert "'render,gpu' names no pool; the pools are default, render, outbound" in unknown
    assert "no kind is left to work on: pool outbound without webhook; known kinds: " in empty
    assert "webhook (outbound)" in empty


def test_a_job_that_runs_elsewhere_is_cancelled_from_here(folder: Path, run: Run) -> None:  # I19
    (job,) = submit(("endless", None))

    with a_worker(folder, "--slots", "2"):
        while json.loads(run("jobs", "show", job, "--json")[1])["phase"] != "dreaming":
            pass

        assert run("jobs", "cancel", job)[0] == 0
        assert run("jobs", "watch", job)[0] == 1

        assert json.loads(run("jobs", "show", job, "--json")[1])["status"] == "cancelled"


def test_two_workers_and_an_application_share_one_database(folder: Path, run: Run) -> None:  # P4
    async def act() -> None:
        async with opened(workers=2) as press:
            jobs = await asyncio.gather(*[press.submit("shout", {"text": f"job {n}"}) for n in range(200)])
            values = await asyncio.gather(*[press.wait(job, timeout=60) for job in jobs])

            assert values == [f"JOB {n}" for n in range(200)]
            assert all([(await press.get(job)).failures == 0 for job in jobs])

    with a_worker(folder, "--slots", "2"), a_worker(folder, "--slots", "2"):
        asyncio.run(act())

    assert json.loads(run("fsck", "--json")[1]) == []


def test_the_library_needs_none_of_the_services_packages() -> None:
    """What `pip install pressroom` brings is enough to import it, and to ask for help."""
    program = """
import sys
for name in ("starlette", "fastapi", "uvicorn", "prometheus_client", "httpx", "obstore", "psycopg", "redis", "oban"):
    sys.modules[name] = None  # as if it were not installed
import pressroom, pressroom.cli.main
pressroom.cli.main.main()
"""
    ran = subprocess.run([sys.executable, "-c", program, "--help"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "usage: pressroom" in ran.stdout


def test_an_address_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        environ = os.environ | {"PRESSROOM_HOME": str(tmp_path), "PRESSROOM_LISTEN": f"127.0.0.1:{port}"}
        ran = subprocess.run([sys.executable, "-m", "pressroom", "serve"], capture_output=True, text=True, env=environ)

    assert ran.returncode != 0
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use; name another address in PRESSROOM_LISTEN" in ran.stderr
    assert "Traceback" not in ran.stderr
