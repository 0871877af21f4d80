"""Retention: what is over goes when its time is over, and nothing that anybody may still need goes with it."""

import logging
from datetime import timedelta

import pytest

from pressroom import Answer, Kind, NotFound, Pressroom, SourceInvalid, Status, Tier, kind
from pressroom.model import Succeeded
from pressroom.testing import ManualClock
from tests import looking

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@kind("diagram", retention=HOUR)
async def diagram(job, payload):
    return payload


@kind("report")
async def report(job, payload):
    return payload


async def known(press, job):
    try:
        await press.get(job)
    except NotFound:
        return False
    return True


# Q36
async def test_each_kind_is_kept_for_as_long_as_it_says_and_seven_days_if_it_says_nothing(anywhere):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[diagram, report], workers=1, clock=clock) as press:
        short, long = await press.submit("diagram"), await press.submit("report")
        await press.wait(short)
        await press.wait(long)

        clock.advance(hours=1)
        await press.maintenance.prune()
        after_an_hour = [await known(press, job) for job in (short, long)]
        clock.advance(days=7)
        await press.maintenance.prune()
        after_a_week = [await known(press, job) for job in (short, long)]

    assert (after_an_hour, after_a_week) == ([False, True], [False, False])
    assert Kind("any", report.handler).retention == timedelta(days=7)


# Q36, I9
async def test_a_job_is_kept_to_the_last_millisecond_of_its_retention(anywhere):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[diagram], workers=1, clock=clock) as press:
        job = await press.submit("diagram", "a -> b")
        await press.wait(job)

        clock.advance(seconds=3599.999)
        await press.maintenance.prune()
        assert await press.wait(job) == "a -> b"

        clock.advance(seconds=0.001)
        await press.maintenance.prune()
        for ask in (press.get, press.wait, press.wait_until_ended, press.cancel, press.retry, press.history):
            with pytest.raises(NotFound) as gone:
                await ask(job)
            assert (gone.value.code, gone.value.status) == ("not_found", 404)


# Q36, I9
async def test_failed_and_cancelled_jobs_are_kept_and_pruned_like_completed_ones(anywhere):
    clock = ManualClock()

    @kind("strict", retention=HOUR)
    async def strict(job, payload):
        raise SourceInvalid("no")

    async with Pressroom(anywhere, kinds=[strict, diagram], workers=1, clock=clock) as press:
        failed = await press.submit("strict")
        await press.wait_until_ended(failed)
        cancelled = await press.submit("diagram", delay=60)
        await press.cancel(cancelled)

        await press.maintenance.prune()
        assert [await known(press, job) for job in (failed, cancelled)] == [True, True]
        clock.advance(hours=1)
        await press.maintenance.prune()
        assert [await known(press, job) for job in (failed, cancelled)] == [False, False]


# I9
async def test_what_is_queued_or_running_is_never_pruned_however_old_it_is(anywhere, gate, eventually):
    clock = ManualClock()

    @kind("held", retention=timedelta(0), timeout=None)
    async def held(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[held, diagram], workers=1, clock=clock) as press:
        running = await press.submit("held", tier=Tier.INTERACTIVE)
        await eventually(lambda: gate.came)
        queued = await press.submit("diagram")
        dated = await press.submit("diagram", delay=timedelta(days=3650))

        clock.advance(days=1000)
        await press.maintenance.prune()

        assert [(await press.get(job)).status for job in (running, queued, dated)] == ["in_progress", "queued", "queued"]
        gate.open()


async def test_what_an_unexpired_answer_refers_to_is_not_pruned(anywhere):
    clock = ManualClock()

    @kind("cached", retention=HOUR, cache_for=DAY)
    async def cached(job, payload):
        return payload

    async with Pressroom(anywhere, kinds=[cached], workers=1, clock=clock) as press:
        job = await press.submit("cached", "a -> b")
        await press.wait(job)

        clock.advance(hours=23)
        await press.maintenance.prune()
        hit = await press.submit("cached", "a -> b")
        assert (hit.answer, await press.wait(hit)) == (Answer.HIT, "a -> b")

        clock.advance(hours=1)
        await press.maintenance.prune()
        assert not await known(press, job)
        assert (await press.submit("cached", "a -> b")).answer is Answer.NEW


async def test_an_answer_that_was_rendered_again_refers_to_the_newer_job_only(anywhere):
    clock = ManualClock()

    @kind("cached", retention=HOUR, cache_for=HOUR)
    async def cached(job, payload):
        return payload

    async with Pressroom(anywhere, kinds=[cached], workers=1, clock=clock) as press:
        old = await press.submit("cached", "a -> b")
        await press.wait(old)
        clock.advance(hours=1)
        new = await press.submit("cached", "a -> b")
        await press.wait(new)

        await press.maintenance.prune()

        assert (await known(press, old), await known(press, new)) == (False, True)


async def test_a_job_is_kept_while_a_child_of_it_is_open(anywhere):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[diagram, report], workers=1, clock=clock) as press:
        parent = await press.submit("diagram")
        await press.wait(parent)
        await press.pause("report")
        child = await press.submit("report", parent=parent)

        clock.advance(days=30)
        await press.maintenance.prune()
        assert await known(press, parent)

        await press.resume("report")
        await press.wait(child)
        await press.maintenance.prune()
        assert not await known(press, parent)


async def test_a_pruned_job_leaves_nothing_behind(database):
    clock = ManualClock()

    @kind("items", retention=HOUR, cache_for=timedelta(minutes=1))
    async def items(job, payload):
        await job.items("parts", ["a", "b"])

    async with Pressroom(database, kinds=[items], workers=1, clock=clock) as press:
        await press.wait(await press.submit("items"))
        clock.advance(hours=2)
        await press.maintenance.prune()

    tables = ["job", "job_payload", "job_event", "job_item", "job_input", "render_cache"]
    left = {table: looking.rows(database, f"SELECT count(*) FROM {table}") for table in tables}
    assert left == {table: [(0,)] for table in tables}


async def test_a_number_is_not_given_again_after_its_job_was_pruned(anywhere):
    """A late worker must not take a new job for its own."""
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[diagram], workers=1, clock=clock) as press:
        old = await press.submit("diagram")
        await press.wait(old)
        clock.advance(hours=1)
        await press.maintenance.prune()

        assert (await press.submit("diagram")).id > old.id


# P11
def test_a_worker_whose_job_was_deleted_meanwhile_changes_nothing(steps):
    @kind("poison", max_crashes=1, retention=HOUR)
    async def poison(job, payload):
        return None

    store = steps(poison)
    job = store.submit("poison")
    late = store.claim_one(lease=15)
    store.clock.advance(seconds=16)
    assert store.rescue() == [Status.FAILED]
    store.clock.advance(hours=1)
    assert store.prune() == 1

    assert store.settle(late, Succeeded('"late"')) is None

    with pytest.raises(NotFound):
        store.get(job)


# P12
async def test_pruning_tells_how_many_it_deleted(anywhere, caplog):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[diagram], workers=1, clock=clock) as press:
        for _ in range(3):
            await press.wait(await press.submit("diagram"))
        clock.advance(hours=1)

        with caplog.at_level(logging.INFO, logger="pressroom.maintenance"):
            deleted = await press.maintenance.prune()

    assert deleted == 3
    assert "pruned 3 jobs past their retention" in caplog.text


# P12, P14
async def test_pruning_happens_by_itself_on_its_own_beat(anywhere, eventually):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[diagram], workers=1, clock=clock, cleanup_interval=0.01) as press:
        job = await press.submit("diagram")
        await press.wait(job)

        clock.advance(hours=1)

        async def gone():
            return not await known(press, job)

        await eventually(gone)


async def test_a_job_is_kept_while_a_child_of_it_runs(anywhere, gate, eventually):
    clock = ManualClock()

    @kind("held", timeout=None)
    async def held(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[diagram, held], workers=1, clock=clock) as press:
        parent = await press.submit("diagram")
        await press.wait(parent)
        await press.submit("held", parent=parent)
        await eventually(lambda: gate.came)

        clock.advance(days=30)
        await press.maintenance.prune()
        assert await known(press, parent)
        gate.open()
