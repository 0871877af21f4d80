"""`pressroom demo`: a day that was lived through, on both databases."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pressroom import Pressroom
from pressroom.cli.main import main
from pressroom.config import Settings
from pressroom.demo import sources
from pressroom.demo.timeline import SettableClock, Timeline
from pressroom.model import Status
from pressroom.store.operators import audit

type Run = Callable[..., tuple[int, str]]

on_file = pytest.mark.parametrize("database", ["file"], indirect=True)  # for what no database changes


@pytest.fixture
def run(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def command_line(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["pressroom", *arguments, "--database", database])
        with redirect_stdout(StringIO()) as said:
            code = main()
        return code, said.getvalue()

    return command_line


async def seen(database: str) -> dict[str, Any]:
    async with Pressroom(settings=Settings(database=database), workers=None) as press:
        jobs = (await press.list(limit=500)).jobs
        hooks = await press.webhooks.list(None, after="", limit=50)
        deliveries = [
            one for hook in hooks for one in await press.webhooks.deliveries(hook, state=None, before=1 << 60, limit=50)
        ]
        return {
            "jobs": jobs,
            "deliveries": Counter(one.state for one in deliveries),
            "scopes": {token.scope for token in await press.tokens.all()},
            "schedules": await press.schedules(),
            "workers": await press.members(),
            "deeds": {deed.action for deed in await press.rendering.database.read(audit.list_entries)},
        }


@pytest.fixture
def two_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are enough to see that things are rendered, and their engines start quickly."""
    monkeypatch.setattr(sources, "GOOD", ((1, sources.make_service_map), (1, sources.make_flowchart)))
    monkeypatch.setattr(sources, "BROKEN", ((1, sources.make_broken_arrow), (1, sources.make_broken_brace)))


@pytest.mark.usefixtures("two_languages")
def test_a_demonstration_shows_every_kind_of_thing_and_breaks_no_invariant(run: Run, database: str) -> None:
    code, said = run("demo", "--jobs", "25", "--json")
    told = json.loads(said)
    found = asyncio.run(seen(database))

    assert code == 0
    assert told["jobs"].keys() == set(Status)
    assert sum(told["jobs"].values()) == len(found["jobs"])
    assert {job.org_id for job in found["jobs"]} == {None, "acme", "northwind", "globex"}
    assert {job.kind for job in found["jobs"]} >= {"render", "statement", "statement.batch", "site.build", "webhook"}
    assert any(job.parent for job in found["jobs"])
    assert any(job.retry_of for job in found["jobs"])
    assert any(job.errors and "line" in job.errors[-1] for job in found["jobs"])
    assert any(job.phase and job.status is Status.IN_PROGRESS for job in found["jobs"])
    assert found["scopes"] == {"viewer", "submitter", "operator", "admin"}
    assert found["deliveries"].keys() >= {"delivered", "waiting"}
    assert len([schedule for schedule, _ in found["schedules"] if not schedule.name.startswith("docs.")]) == 4
    assert {member.alive for member in found["workers"]} == {True, False}
    assert found["deeds"] >= {"queue.pause", "token.revoke"}
    assert run("fsck")[0] == 0
    assert run("fsck", "--artifacts")[0] == 0


@on_file
def test_a_database_with_jobs_is_left_alone_unless_they_are_to_be_added(
    run: Run, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def submit() -> None:
        async with Pressroom(settings=Settings(database=database), workers=None) as press:
            await press.render("dot", "digraph { a -> b }", "svg")

    asyncio.run(submit())

    code, _ = run("demo", "--jobs", "10")

    assert code == 2
    assert "has jobs" in capsys.readouterr().err
    assert len(asyncio.run(seen(database))["jobs"]) == 1


@on_file
@pytest.mark.parametrize("jobs", ["0", "-1", "100001"])
def test_a_number_of_jobs_out_of_bounds_is_refused(run: Run, jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--jobs", jobs)[0] == 2
    assert "--jobs is 10 to 100000" in capsys.readouterr().err


def test_the_same_seed_makes_the_same_sources_of_which_few_are_different_pictures() -> None:
    first, second = ([sources.make_random_source(sources.GOOD, luck) for _ in range(200)] for luck in (Random(7), Random(7)))

    assert first == second
    assert len({sheet.source for sheet in first}) == 200
    assert len({sources.without_comments(sheet.source) for sheet in first}) <= sources.FEW * len(sources.GOOD)


async def test_time_passes_from_one_appointment_to_the_next() -> None:
    timeline, seen = Timeline(SettableClock(0)), []

    async def story(name: str, *seconds: float) -> None:
        for pause in seconds:
            await timeline.sleep(pause)
            seen.append((timeline.clock.now_ms(), name))

    timeline.start_activity(story("slow", 10, 10, 10))
    timeline.start_activity(story("quick", 4, 4))
    await timeline.run_until(25_000, lambda _: None)
    await timeline.cancel_all()

    assert seen == [(4000, "quick"), (8000, "quick"), (10_000, "slow"), (20_000, "slow")]
    assert timeline.clock.now_ms() == 25_000


async def test_a_story_that_fails_is_not_passed_over() -> None:
    timeline = Timeline(SettableClock(0))

    async def story() -> None:
        await timeline.sleep(1)
        raise RuntimeError("lost the thread")

    timeline.start_activity(story())

    with pytest.raises(RuntimeError, match="lost the thread"):
        await timeline.run_until(5_000, lambda _: None)
