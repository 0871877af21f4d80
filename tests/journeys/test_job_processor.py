"""The job processor of design 001: poll, claim the oldest, render, settle, go on, whatever happens."""

import asyncio
import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressroom import JobFailed, Pressroom, Request, SourceInvalid, Status, Tier, backends, failpoints, kind
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.clock import SystemClock
from pressroom.config import Settings, load_settings
from pressroom.delivery.embedded import Embedded
from pressroom.errors import StoreBusy
from pressroom.store.jobs import claiming, worker_records
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.testing import ManualClock
from pressroom.worker import process
from pressroom.worker.maintenance import Maintenance, run_every
from pressroom.worker.worker import Worker
from tests import looking
from tests.journeys.stage import Steps


@kind("diagram", max_attempts=1, tier=Tier.INTERACTIVE)
async def diagram(job, payload):
    if payload == "wrong":
        raise SourceInvalid("line 3: an arrow needs two ends")
    return f"<svg>{payload}</svg>"


# P1
async def test_it_starts_with_the_server_and_renders_what_was_pending(database):
    async with Pressroom(database, kinds=[diagram], workers=None) as press:
        pending = await press.submit("diagram", "a -> b")

    async with Pressroom(database, kinds=[diagram], workers=1) as press:
        assert await press.wait(pending) == "<svg>a -> b</svg>"


# P1
async def test_with_nothing_pending_it_waits_and_finds_what_comes_without_being_told(database):
    """The other Pressroom shares the file and tells this one nothing: it must look."""
    async with (
        Pressroom(database, kinds=[diagram], workers=1, poll_interval=0.01) as press,
        Pressroom(database, kinds=[diagram], workers=None) as elsewhere,
    ):
        for text in ("one", "two"):
            assert await press.wait(await elsewhere.submit("diagram", text)) == f"<svg>{text}</svg>"


# P3
async def test_several_pending_jobs_are_taken_oldest_first(anywhere):
    ran = []

    @kind("note")
    async def note(job, payload):
        ran.append(payload)

    async with Pressroom(anywhere, kinds=[note], workers=1) as press:
        await press.pause("note")
        jobs = [await press.submit("note", number) for number in range(20)]
        await press.resume("note")
        for job in jobs:
            await press.wait(job)

    assert ran == list(range(20))


# P4
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(["one", "other"]), st.integers(1, 4)), max_size=10), st.integers(0, 12))
def test_two_processors_never_get_the_same_job(turns, pending):
    steps = Steps(diagram)
    submitted = [steps.submit("diagram", number) for number in range(pending)]
    taken = []

    for worker, room in turns:
        claims = steps.claim(room, worker=worker)
        assert all(steps.get(submitted[claim.id - 1]).worker == worker for claim in claims)
        taken += [claim.uid for claim in claims]

    asked = sum(room for _, room in turns)
    assert taken == [job.uid for job in submitted[: min(asked, pending)]]
    steps.close()


# P4
async def test_many_processors_on_one_file_render_each_job_once(database):
    ran = []

    @kind("note")
    async def note(job, payload):
        ran.append(payload)

    def a_processor():
        return Pressroom(database, kinds=[note], workers=3, poll_interval=0.01)

    async with a_processor() as one, a_processor(), a_processor():
        jobs = await one.submit_many([Request("note", number) for number in range(150)])
        for job in jobs:
            await one.wait(job)

    assert sorted(ran) == list(range(150))


# P7, P10
async def test_a_failed_render_is_told_and_the_next_job_is_rendered(anywhere):
    async with Pressroom(anywhere, kinds=[diagram], workers=1) as press:
        bad, good = await press.submit("diagram", "wrong"), await press.submit("diagram", "right")

        with pytest.raises(JobFailed, match="line 3: an arrow needs two ends"):
            await press.wait(bad)
        assert await press.wait(good) == "<svg>right</svg>"


# P8
async def test_a_render_that_hangs_fails_with_a_timeout_and_frees_its_slot(anywhere, gate):
    @kind("hangs", max_attempts=1, timeout=0.05)
    async def hangs(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[hangs, diagram], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("hangs"))

        assert (ended.status, ended.errors[-1]["code"]) == (Status.FAILED, "timeout")
        assert await press.wait(await press.submit("diagram", "next")) == "<svg>next</svg>"


# P9
async def test_a_database_that_cannot_be_written_for_a_while_is_tried_again(database, monkeypatch, caplog, eventually):
    clock = ManualClock()
    async with Pressroom(database, kinds=[diagram], workers=1, clock=clock, poll_interval=0.01) as press:
        job = await press.submit("diagram", "patient", delay=2)
        looking.be_impatient(monkeypatch)
        with looking.held(database):
            clock.advance(seconds=3)  # its time comes while nobody may write
            with caplog.at_level(logging.ERROR, logger="pressroom.worker"):
                await eventually(lambda: "settling and claiming failed, and is tried again" in caplog.text)
            assert (await press.get(job)).status is Status.QUEUED

        assert await press.wait(job) == "<svg>patient</svg>"


# P9
async def test_a_result_is_not_lost_when_the_database_cannot_be_written_for_a_while(
    database, gate, monkeypatch, caplog, eventually
):
    ran = []

    @kind("held", max_attempts=1)
    async def held(job, payload):
        ran.append(job.attempt)
        await gate.hold()
        return "rendered"

    async with Pressroom(database, kinds=[held], workers=1, lease=3600) as press:
        job = await press.submit("held")
        await eventually(lambda: gate.came)
        looking.be_impatient(monkeypatch)
        with looking.held(database):
            gate.open()
            with caplog.at_level(logging.ERROR, logger="pressroom.worker"):
                await eventually(lambda: "settling and claiming failed, and is tried again" in caplog.text)

        assert await press.wait(job) == "rendered"
        assert ((await press.get(job)).failures, ran) == (0, [1])


# P9
async def test_a_result_that_is_settled_beside_a_broken_neighbour_outlasts_a_busy_database(
    database, gate, monkeypatch, eventually
):
    """The neighbour's settling hook fails, so each is settled alone, and just then the database is busy."""

    def break_down(ending):
        raise RuntimeError("the application's own table is gone")
        yield

    async def hold(job, payload):
        await gate.hold(job.kind)
        return "rendered"

    broken = kind("broken", settling=break_down, max_attempts=1, tier=Tier.INTERACTIVE)(hold)
    innocent = kind("innocent", max_attempts=1, tier=Tier.INTERACTIVE)(hold)
    async with Pressroom(database, kinds=[broken, innocent], workers=2, poll_interval=0.01) as press:
        await press.submit("broken")
        await eventually(lambda: gate.came == ["broken"])
        job = await press.submit("innocent")
        await eventually(lambda: len(gate.came) == 2)
        settle_alone, refused = press.worker._turns._settle_alone, []

        async def busy_once(settlement, kinds):
            if settlement.claim.kind == "innocent" and not refused:
                refused.append(settlement)
                raise StoreBusy("another process held the file locked")
            return await settle_alone(settlement, kinds)

        monkeypatch.setattr(press.worker._turns, "_settle_alone", busy_once)
        gate.open()

        ended = await press.wait_until_ended(job)
        assert len(refused) == 1
        assert (ended.status, ended.result) == (Status.COMPLETED, "rendered")


# P10
async def test_an_error_that_nobody_foresaw_is_logged_and_the_processor_lives(anywhere, caplog):
    async with Pressroom(anywhere, kinds=[diagram], workers=2, poll_interval=0.01) as press:
        failpoints.arm("turn.before_commit=raise@1-3")

        with caplog.at_level(logging.ERROR, logger="pressroom.worker"):
            answers = [await press.wait(await press.submit("diagram", str(number))) for number in range(5)]

    assert answers == [f"<svg>{number}</svg>" for number in range(5)]
    assert "a turn failed" in caplog.text


# P10
async def test_a_chore_that_fails_is_logged_and_done_again_at_the_next_beat(caplog):
    beats, stopping = [], asyncio.Event()

    async def forgetful():
        beats.append(len(beats))
        if len(beats) == 3:
            stopping.set()
        if len(beats) < 3:
            raise OSError("where is the disk?")

    with caplog.at_level(logging.ERROR, logger="pressroom.maintenance"):
        await run_every(0.001, forgetful, stopping)

    assert beats == [0, 1, 2]
    assert caplog.text.count("the task forgetful failed") == 1, "and a second time only after a minute"
    assert "OSError: where is the disk?" in caplog.text


# P11
async def test_a_result_for_a_job_that_is_gone_is_refused_and_nothing_else_happens(database, gate, eventually):
    """Its worker was thought dead, the job was parked and pruned, and then the worker comes back."""
    clock = ManualClock()

    @kind("held", max_attempts=1, max_crashes=1, timeout=None)
    async def held(job, payload):
        await gate.hold()
        return "late"

    async with (
        Pressroom(database, kinds=[held, diagram], workers=1, clock=clock, lease=3600) as press,
        Pressroom(database, kinds=[held], workers=None, clock=clock) as neighbour,
    ):
        await press.submit("held")
        await eventually(lambda: gate.came)
        clock.advance(days=1)
        await neighbour.maintenance.rescue()
        clock.advance(days=8)
        assert await neighbour.maintenance.prune() == 1

        gate.open()

        await eventually(lambda: press.worker.counts.stale == 1)
        assert await press.wait(await press.submit("diagram", "goes on")) == "<svg>goes on</svg>"


# D12
async def test_a_job_that_was_left_in_progress_is_found_at_the_next_start(database):
    """A process that is gone left it behind: its worker is on the list, its process is not alive."""
    async with Pressroom(database, kinds=[diagram], workers=None) as press:
        job = await press.submit("diagram", "left behind")
        place = worker_records.WorkerRecord("ghost", _a_dead_process(), ["diagram"], 1, 1)
        await press._database.run(lambda: worker_records.save_worker(place), name="heartbeat")
        await press._database.run(lambda: claiming.claim("ghost", ["diagram"], FreeSlots(1, 1), 3_600_000), name="turn")

    async with Pressroom(database, kinds=[diagram], workers=1) as press:
        assert await press.wait(job) == "<svg>left behind</svg>"
        assert (await press.get(job)).crashes == 1


def _a_dead_process():
    place, _, started = process.process_identity().rpartition("/")
    return f"{place}/{int(started) + 1}"


# D11
async def test_as_many_jobs_are_rendered_at_once_as_there_are_slots(anywhere):
    together = asyncio.Barrier(5)

    @kind("meet", tier=Tier.INTERACTIVE)
    async def meet(job, payload):
        async with asyncio.timeout(60):
            await together.wait()

    async with Pressroom(anywhere, kinds=[meet], workers=5) as press:
        for job in await press.submit_many([Request("meet")] * 10):
            await press.wait(job)


async def test_no_more_jobs_are_claimed_than_there_are_slots(anywhere, gate, eventually):
    @kind("held", tier=Tier.INTERACTIVE)
    async def held(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[held], workers=3, poll_interval=0.005) as press:
        waiting = await press.submit_many([Request("held")] * 10)
        await eventually(lambda: len(gate.came) == 3)

        running = (await press.list(status=Status.IN_PROGRESS)).jobs
        queued = (await press.list(status=Status.QUEUED)).jobs

        assert (len(running), len(queued), press.worker.running) == (3, 7, 3)
        gate.open()
        for job in waiting:
            await press.wait(job)


# P13, P14
def test_the_intervals_have_the_defaults_and_the_names_of_the_design(tmp_path):
    nothing_set = load_settings(environ={}, file=None)
    set_by_name = load_settings(environ={"JOB_POLL_INTERVAL_MS": "250", "JOB_CLEANUP_INTERVAL_MS": "1500"})

    assert (nothing_set.poll_interval, nothing_set.cleanup_interval) == (0.1, 60.0)
    assert (set_by_name.poll_interval, set_by_name.cleanup_interval) == (0.25, 1.5)
    assert (Settings().poll_interval, Settings().cleanup_interval) == (0.1, 60.0)


# P15
async def test_a_shutdown_waits_for_the_current_job_and_polls_no_more(database, gate, eventually):
    ran = []

    @kind("held")
    async def held(job, payload):
        ran.append(payload)
        await gate.hold()
        return "finished"

    async with Pressroom(database, kinds=[held], workers=1, poll_interval=0.005) as press:
        current, following = await press.submit("held", 1), await press.submit("held", 2)
        await eventually(lambda: ran == [1])
        stopping = asyncio.create_task(press.stop())
        await eventually(lambda: not press.worker._loop.claiming)
        gate.open()
        await stopping

    async with Pressroom(database, workers=None) as press:
        assert (await press.get(current)).result == "finished"
        assert (await press.get(following)).status is Status.QUEUED
    assert ran == [1]


# P16
async def test_disposing_of_the_scope_ends_its_timers(anywhere):
    before = asyncio.all_tasks()

    async with Pressroom(anywhere, kinds=[diagram], workers=2) as press:
        await press.wait(await press.submit("diagram", "x"))
        during = asyncio.all_tasks() - before

    assert during
    assert asyncio.all_tasks() == before


# P17
async def test_every_part_that_it_depends_on_is_handed_in(database, caplog):
    """The store, the slots, the renderer, the way to hear and to tell, the clock and the settings are all arguments."""
    told, rendered = [], []

    @kind("diagram")
    async def renderer(job, payload):
        rendered.append(payload)

    kinds = {"diagram": renderer}
    clock = ManualClock()
    store = backends.open_database(Settings(database=database), clock, BUILT_IN_SCHEMA)
    delivery = Embedded()
    worker = Worker(store, delivery, kinds, told.extend, name="w1", slots=7, lease=60, poll_interval=0.01, random=lambda: 0.5)
    maintenance = Maintenance(
        store, delivery, kinds, [], told.extend, lambda schedule: None, clock, lease=60, prune_interval=60
    )
    async with Pressroom(database, kinds=[renderer], workers=None, clock=clock) as press:
        await worker.start()
        job = await press.submit("diagram", "a -> b")
        ended = await press.wait_until_ended(job)
        await maintenance.prune()
        await worker.stop(5)
        await store.close()

    assert (rendered, ended.worker, worker.slots) == (["a -> b"], "w1", 7)
    assert job.id in told
    assert ended.date_completed.timestamp() * 1000 == clock.now_ms()


# P17
def test_the_clock_may_be_shifted_for_one_process(monkeypatch):
    monkeypatch.setenv("PRESSROOM_CLOCK_OFFSET", "3600")

    ahead = SystemClock().now_ms()
    monkeypatch.delenv("PRESSROOM_CLOCK_OFFSET")

    assert 3_590_000 < ahead - SystemClock().now_ms() < 3_610_000
