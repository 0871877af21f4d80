"""The Job Processor of design 001, as the kind `diagram` keeps its promises (P1 to P17, D12, D15)."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from pressroom import failpoints
from pressroom.app import settings_types
from pressroom.apps.diagrams.renders import Diagrams
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.clock import SystemClock
from pressroom.kinds.rendering import Rendering
from pressroom.model import Status
from pressroom.store.jobs import claiming, worker_records
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.worker import maintenance
from tests.apps.diagrams.conftest import Easel, Stage, Staging, ended


async def submit(stage: Stage, *sources: str) -> list[Any]:
    return [await stage.http.post("/render?format=dot", content=source) for source in sources]


# P1
async def test_it_starts_polling_when_the_server_starts_and_finds_what_was_left_pending(staged: Staging, easel: Easel) -> None:
    async with staged(workers=None) as stage:
        (answer,) = await submit(stage, "left pending")
        assert (await stage.http.get(answer.json()["statusUrl"])).json()["status"] == "pending"

    async with staged() as stage:
        assert (await ended(stage, answer))["status"] == "completed"


# P2
async def test_a_job_is_marked_rendering_then_rendered_then_stored_then_completed_with_its_shortlink(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged() as stage:
        (answer,) = await submit(stage, "a")
        await eventually(lambda: easel.drew)
        during = (await stage.http.get(answer.json()["statusUrl"])).json()
        assert (during["status"], during["shortlink"], stage.press.app("diagrams").diagrams.slots.free) == (
            "rendering",
            None,
            9,
        )
        easel.release()

        told = await ended(stage, answer)

        history = [event.type for event in await stage.press.history(told["jobId"])]
        assert history == ["queued", "started", "completed"]
        assert (await stage.http.get(told["url"])).status_code == 200
        assert stage.press.app("diagrams").diagrams.slots.free == 10


# P2
async def test_it_does_not_sleep_while_jobs_are_pending(staged: Staging, easel: Easel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "ANNOUNCE_INTERVAL", 3600)
    async with staged(workers=1, poll_interval=60.0, lease=3600) as stage:
        answers = await submit(stage, *map(str, range(10)))

        async with asyncio.timeout(50):
            for answer in answers:
                await ended(stage, answer)


# P3
async def test_several_pending_jobs_are_processed_oldest_first(staged: Staging, easel: Easel) -> None:
    async with staged(workers=None) as stage:
        answers = await submit(stage, *map(str, range(10)))

    async with staged(workers=1) as stage:
        for answer in answers:
            await ended(stage, answer)

    assert easel.sources == list(map(str, range(10)))


# P4
async def test_two_concurrent_processors_never_get_the_same_pending_job(staged: Staging, easel: Easel) -> None:
    async with staged(workers=3, poll_interval=0.01) as one, staged(workers=3, poll_interval=0.01):
        answers = await submit(one, *map(str, range(40)))
        for answer in answers:
            await ended(one, answer)

    assert sorted(easel.sources, key=int) == list(map(str, range(40)))


# P5, P7, P10
async def test_the_slot_is_released_after_success_after_failure_and_after_any_unexpected_error(
    staged: Staging, easel: Easel
) -> None:
    async with staged(workers=2, diagrams={"max_concurrent": 1}) as stage:
        stage.press.kinds["diagram"].__dict__["max_attempts"] = 1
        good, broken, crash, last = await submit(stage, "good", "broken", "crash", "last")

        told = [await ended(stage, answer) for answer in (good, broken, crash, last)]

        assert [one["status"] for one in told] == ["completed", "failed", "failed", "completed"]
        assert told[1]["error"] == "an arrow needs two ends"
        assert told[2]["code"] == "handler_error"
        assert stage.press.app("diagrams").diagrams.slots.free == 1


# P8, D15
async def test_a_render_that_does_not_end_is_failed_with_a_timeout_error(staged: Staging, easel: Easel) -> None:
    """Each engine has its limit, and the kind has one for what no engine counts."""
    async with staged(workers=2) as stage:
        kind = stage.press.kinds["diagram"]
        stage.press.kinds["diagram"].__dict__.update(max_attempts=1, timeout=0.1)
        (endless,) = await submit(stage, "endless")
        engines_own = await ended(stage, endless)
        easel.hold()
        (stuck,) = await submit(stage, "stuck")
        kinds_own = await ended(stage, stuck)
        easel.release()

        assert (engines_own["status"], engines_own["code"]) == ("failed", "timeout")
        assert (kinds_own["status"], kinds_own["code"]) == ("failed", "timeout")
        assert "limit of 0.1 s" in kinds_own["error"]
        assert kind.timeout is not None
        kind.__dict__.update(timeout=60)
        (after,) = await submit(stage, "after")
        assert (await ended(stage, after))["status"] == "completed"


def test_no_engine_of_a_diagram_is_without_a_time_limit() -> None:
    """D15"""
    from pressroom.renderers import catalogue

    assert all(0 < engine.limits.seconds <= 120 for engine in catalogue.engines())


# P9
async def test_a_database_error_is_logged_and_retried(staged: Staging, easel: Easel, caplog: pytest.LogCaptureFixture) -> None:
    async with staged(poll_interval=0.01) as stage:
        failpoints.arm("turn.before_commit=raise@1-3")
        with caplog.at_level(logging.ERROR, logger="pressroom.worker"):
            answers = await submit(stage, "a", "b", "c")
            assert [(await ended(stage, answer))["status"] for answer in answers] == ["completed"] * 3

    assert "a turn failed" in caplog.text


# P11
async def test_a_job_that_disappears_while_it_is_processed_is_a_silent_no_op(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    """Its worker was thought dead, the job was given up and pruned by a neighbour, and then the worker comes back."""
    easel.hold()
    async with staged(lease=3600) as stage, staged(workers=None, clock=stage.clock) as neighbour:
        stage.press.kinds["diagram"].__dict__["max_crashes"] = 1
        (answer,) = await submit(stage, "vanishes")
        await eventually(lambda: easel.drew)
        stage.clock.advance(days=1)
        await neighbour.press.maintenance.rescue()
        stage.clock.advance(days=1)
        assert await neighbour.press.maintenance.prune() == 1
        easel.release()

        await eventually(lambda: stage.press.worker is not None and stage.press.worker.counts.stale == 1)
        assert (await stage.http.get(answer.json()["statusUrl"])).status_code == 404
        (after,) = await submit(stage, "after")
        assert (await ended(stage, after))["status"] == "completed"


# P12, P20
async def test_cleanup_deletes_completed_and_failed_jobs_past_their_retention_and_keeps_pending_ones(
    staged: Staging, easel: Easel
) -> None:
    async with staged(diagrams={"job_retention": 3600.0}) as stage:
        answers = await submit(stage, "good", "broken")
        for answer in answers:
            await ended(stage, answer)
        await stage.press.pause("diagram")
        (pending,) = await submit(stage, "pending")
        stage.clock.advance(seconds=3599)
        assert await stage.press.maintenance.prune() == 0
        stage.clock.advance(seconds=2)

        assert await stage.press.maintenance.prune() == 2

        codes = [(await stage.http.get(answer.json()["statusUrl"])).status_code for answer in (*answers, pending)]
        assert codes == [404, 404, 200]


# P13, P14, P18, P19, P20, I11, X27
def test_the_settings_have_the_names_and_defaults_of_the_designs() -> None:
    from pressroom.config import load_settings

    plain = load_settings(environ={}, find_sections=settings_types)
    diagrams = plain.sections["diagrams"]
    assert isinstance(diagrams, DiagramsSettings)
    assert (plain.poll_interval, plain.cleanup_interval) == (0.1, 60.0)
    assert (diagrams.max_concurrent, diagrams.max_waiting) == (10, 50)
    assert (diagrams.cache_ttl, diagrams.job_retention) == (604_800.0, 3600.0)  # five minutes were the source product's
    named = {
        "JOB_POLL_INTERVAL_MS": "250",
        "JOB_CLEANUP_INTERVAL_MS": "1500",
        "JOB_RETENTION_MS": "7200000",
        "CACHE_TTL": "60000",
        "QUEUE_MAX_CONCURRENT": "3",
        "QUEUE_MAX_WAITING": "4",
        "JOB_DB_PATH": "./data/jobs.db",
        "BASE_URL": "https://press.example",
    }
    ours = load_settings(environ=named, find_sections=settings_types)
    assert (ours.poll_interval, ours.cleanup_interval) == (0.25, 1.5)
    assert ours.sections["diagrams"] == DiagramsSettings(cache_ttl=60.0, job_retention=7200.0, max_concurrent=3, max_waiting=4)
    assert (ours.path, ours.base_url) == ("./data/jobs.db", "https://press.example")


# P15
async def test_a_shutdown_stops_polling_and_waits_for_the_current_job(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged(workers=1) as stage:
        current, following = await submit(stage, "current", "following")
        await eventually(lambda: easel.drew)
        stopping = asyncio.create_task(stage.press.stop())
        await eventually(lambda: stage.press.worker is not None and not stage.press.worker._loop.claiming)
        easel.release()
        await stopping

    async with staged(workers=None) as stage:
        assert (await stage.press.get(current.json()["jobId"])).status is Status.COMPLETED
        assert (await stage.press.get(following.json()["jobId"])).status is Status.QUEUED
    assert easel.sources == ["current"]


# P16, P18
async def test_on_disposal_those_who_wait_for_a_slot_go_back_to_the_queue(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged(workers=3, grace=0.1, diagrams={"max_concurrent": 1}) as stage:
        answers = await submit(stage, "a", "b", "c")
        await eventually(lambda: stage.press.app("diagrams").diagrams.slots.waiting == 2)

    async with staged(workers=None) as stage:
        found = [await stage.press.get(answer.json()["jobId"]) for answer in answers]
        assert [(job.status, job.failures) for job in found] == [(Status.QUEUED, 0)] * 3


# P16
async def test_disposing_of_the_scope_ends_its_timers(staged: Staging, easel: Easel) -> None:
    before = asyncio.all_tasks()
    async with staged() as stage:
        (answer,) = await submit(stage, "a")
        await ended(stage, answer)

    assert asyncio.all_tasks() == before


# P17
async def test_its_dependencies_are_handed_in() -> None:
    """The renderer with its store and cache, and the settings; the queue, the clock and the log are the worker's."""
    from datetime import timedelta

    settings = DiagramsSettings(max_concurrent=2, max_waiting=3, job_retention=7.0, cache_ttl=9.0)
    diagrams = Diagrams(Rendering(presses=1, cache_for=timedelta(days=1), clock=SystemClock()), settings)

    assert (diagrams.slots.free, diagrams.kind.on_backpressure) == (2, "fail")
    assert (diagrams.kind.retention, diagrams.kind.cache_for) == (timedelta(seconds=7), timedelta(seconds=9))


# P20, P21, I9, X12
async def test_one_job_is_found_by_any_spelling_of_its_id_and_nothing_else_is(staged: Staging, easel: Easel) -> None:
    from pressroom.ids import as_uuid

    async with staged(workers=None) as stage:
        (answer,) = await submit(stage, "a")
        id = answer.json()["jobId"]
        uid = id.removeprefix("job_")
        for spelling in (id, uid, uid.lower(), str(as_uuid(uid)), as_uuid(uid).hex):
            assert (await stage.http.get(f"/jobs/{spelling}")).json()["jobId"] == id
        for unknown in ("job_", "job_12345678", "nonsense", "job_" + "0" * 26, "%00", "é"):
            assert (await stage.http.get(f"/jobs/{unknown}")).status_code == 404, unknown


# D12
async def test_a_job_left_rendering_by_a_crash_is_rendered_again(staged: Staging, easel: Easel) -> None:
    from pressroom.worker import process

    async with staged(workers=None) as stage:
        (answer,) = await submit(stage, "left rendering")
        place, _, started = process.process_identity().rpartition("/")
        ghost = worker_records.WorkerRecord("ghost", f"{place}/{int(started) + 1}", ["diagram"], 1, 1)
        database = stage.press.rendering.database
        await database.run(lambda: worker_records.save_worker(ghost), name="heartbeat")
        await database.run(lambda: claiming.claim("ghost", ["diagram"], FreeSlots(1, 1), 3_600_000), name="turn")
        assert (await stage.http.get(answer.json()["statusUrl"])).json()["status"] == "rendering"

    async with staged() as stage:
        assert (await ended(stage, answer))["status"] == "completed"


# X10
async def test_attempts_counts_attempts_and_not_claims(staged: Staging, easel: Easel) -> None:
    async with staged() as stage:
        (good, broken) = await submit(stage, "good", "broken")

        assert (await ended(stage, good))["job"]["attempts"] == 1
        assert (await ended(stage, broken))["job"]["attempts"] == 1


# X6
async def test_a_caller_who_stops_waiting_changes_nothing(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged() as stage:
        waiting = asyncio.create_task(stage.http.post("/render?format=dot&mode=sync", content="a"))
        await eventually(lambda: easel.drew)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        easel.release()

        (job,) = (await stage.press.list()).jobs
        assert (await stage.press.wait_until_ended(job, timeout=60)).status is Status.COMPLETED
        again = await stage.http.post("/render?format=dot&mode=sync", content="a")
        assert again.json()["cached"] is True
