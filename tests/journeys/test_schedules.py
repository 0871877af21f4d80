"""Schedules: every tick fires once, however many processes watch the clock and wherever it goes."""

import asyncio
from datetime import UTC, datetime

import pytest

from pressroom import Backoff, Missed, OnKey, Pressroom, Schedule, Status, Transient, kind
from pressroom.errors import InvalidArgument, UnknownKind
from pressroom.ids import new_uid
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.testing import ManualClock

# The clock of these tests starts at eight o'clock.
HOUR = 3_600_000
EIGHT = datetime(2027, 1, 15, 8, tzinfo=UTC)


@kind("audit")
async def audit(job, payload):
    return payload


def hourly(missed=Missed.ONE, **options):
    return Schedule("hourly", "0 * * * *", "audit", missed=missed, **options)


async def fired(press, name="audit"):
    """Everything that the schedule has submitted so far, oldest first, once the ticks that have come are fired."""
    await press.maintenance.fire_schedules()
    return (await press.list(kind=name, limit=500)).jobs[::-1]


# W7
async def test_a_tick_submits_a_job_when_its_time_has_come_and_not_before(anywhere):
    clock = ManualClock()
    schedule = hourly(payload={"scope": "all"})
    async with Pressroom(anywhere, kinds=[audit], schedules=[schedule], workers=1, clock=clock) as press:
        at_once = await fired(press)
        clock.advance(minutes=59, seconds=59.999)
        just_before = await fired(press)
        clock.advance(seconds=0.001)
        (job,) = await fired(press)

        assert (at_once, just_before) == ([], [])
        assert await press.wait(job) == {"scope": "all"}
        assert job.subject == "schedule hourly"


async def test_a_tick_fires_once_however_often_one_looks(anywhere):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[audit], schedules=[hourly()], workers=1, clock=clock) as press:
        clock.advance(hours=1)

        await asyncio.gather(*(press.maintenance.fire_schedules() for _ in range(10)))

        assert len(await fired(press)) == 1


async def test_a_tick_fires_once_although_two_processes_watch_the_same_schedule(database):
    clock = ManualClock()

    def a_process():
        return Pressroom(database, kinds=[audit], schedules=[hourly()], workers=1, clock=clock)

    async with a_process() as one, a_process() as other:
        for hour in range(1, 6):
            clock.advance(hours=1)
            await asyncio.gather(one.maintenance.fire_schedules(), other.maintenance.fire_schedules())

            assert len(await fired(one)) == hour


@pytest.mark.parametrize(("missed", "expected"), [(Missed.ONE, 1), (Missed.SKIP, 0), (Missed.ALL, 5)])
async def test_ticks_that_nobody_was_there_for_are_made_up_as_the_schedule_says(database, missed, expected):
    clock = ManualClock()

    def a_process():
        return Pressroom(database, kinds=[audit], schedules=[hourly(missed)], workers=1, clock=clock)

    async with a_process():
        pass
    clock.advance(hours=5, minutes=30)
    async with a_process() as press:
        made_up = await fired(press)
        again = await fired(press)
        clock.advance(minutes=30)
        after_the_next = await fired(press)

    assert len(made_up) == len(again) == expected
    assert len(after_the_next) == expected + 1, "the next tick comes as if nothing had been missed"


async def test_of_many_missed_ticks_a_hundred_are_made_up_at_most(database):
    clock = ManualClock()

    def a_process():
        return Pressroom(database, kinds=[audit], schedules=[hourly(Missed.ALL)], workers=1, clock=clock)

    async with a_process():
        pass
    clock.advance(days=30)
    async with a_process() as press:
        assert len(await fired(press)) == 100


async def test_a_clock_that_is_set_back_does_not_fire_a_tick_again(anywhere):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[audit], schedules=[hourly(Missed.ALL)], workers=1, clock=clock) as press:
        clock.advance(hours=2)
        before = await fired(press)

        clock.advance(hours=-2)
        set_back = await fired(press)
        clock.advance(hours=1)
        once_more = await fired(press)
        clock.advance(hours=1)
        there_again = await fired(press)
        clock.advance(hours=1)
        further = await fired(press)

    assert len(before) == len(set_back) == len(once_more) == len(there_again) == 2
    assert len(further) == 3


async def test_a_tick_stays_fired_after_its_traces_were_pruned(anywhere):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[audit], schedules=[hourly(Missed.ALL)], workers=1, clock=clock) as press:
        clock.advance(hours=2)
        await fired(press)
        clock.advance(days=3)
        await press.maintenance.fire_schedules()
        total = len(await fired(press))

        await press.maintenance.prune()
        clock.advance(days=-3)

        assert len(await fired(press)) == total


def a_job(schedule):
    return CheckedJob(new_uid(), schedule.kind, 1, "{}", OnKey.COALESCE, 2, 3, 60_000)


def test_the_latest_tick_is_remembered_however_old_it_is(steps):
    """A process that looked long ago, or whose clock was set back, may still come to fire it."""
    store, schedule = steps(audit), hourly()
    store.run(schedule_rows.save_schedule(schedule))
    earlier, latest = store.clock.now_ms() + HOUR, store.clock.now_ms() + 2 * HOUR
    for tick in (earlier, latest):
        assert store.run(schedule_rows.fire(schedule, tick, a_job(schedule)))
    store.clock.advance(days=7)
    store.prune()

    assert not store.run(schedule_rows.fire(schedule, latest, a_job(schedule)))

    assert store.store.raw.execute("SELECT tick FROM schedule_tick").fetchall() == [(latest,)], "the others are forgotten"


def test_a_schedule_never_goes_back_to_an_earlier_tick(steps):
    """A process that was paused fires, or passes over, what it saw before; others have gone on meanwhile."""
    store, schedule = steps(audit), hourly(Missed.ALL)
    store.run(schedule_rows.save_schedule(schedule))
    earlier, latest = store.clock.now_ms() + HOUR, store.clock.now_ms() + 2 * HOUR
    store.run(schedule_rows.fire(schedule, latest, a_job(schedule)))

    store.run(schedule_rows.skip_to(schedule, earlier))
    assert store.run(schedule_rows.fire(schedule, earlier, a_job(schedule)))

    assert [last for _, last in store.run(schedule_rows.list_schedules())] == [latest]


async def test_a_schedule_survives_a_restart_and_knows_what_it_has_fired(database):
    clock = ManualClock()

    def a_process():
        return Pressroom(database, kinds=[audit], schedules=[hourly()], workers=1, clock=clock)

    async with a_process() as press:
        clock.advance(hours=1)
        before = await fired(press)
    async with a_process() as press:
        after = await fired(press)
        ((_, last),) = await press.schedules()

    assert len(before) == len(after) == 1
    assert datetime.fromtimestamp(last / 1000, UTC) == EIGHT.replace(hour=9)


async def test_a_schedule_whose_times_changed_starts_counting_anew(database):
    clock = ManualClock()
    async with Pressroom(database, kinds=[audit], schedules=[hourly(Missed.ALL)], workers=1, clock=clock):
        pass
    clock.advance(hours=3, minutes=10)

    every_ten_minutes = Schedule("hourly", "*/10 * * * *", "audit", missed=Missed.ALL)
    async with Pressroom(database, kinds=[audit], schedules=[every_ten_minutes], workers=1, clock=clock) as press:
        at_first = await fired(press)
        clock.advance(minutes=10)
        later = await fired(press)

    assert (len(at_first), len(later)) == (0, 1)


# Q34
async def test_a_periodic_job_that_failed_is_tried_once_more_and_then_waits_for_its_next_tick(anywhere, eventually):
    clock = ManualClock()
    attempts = []

    @kind("periodic", max_attempts=2, backoff=Backoff(base=60, jitter=0))
    async def periodic(job, payload):
        attempts.append((job.uid, job.attempt))
        raise Transient("GitHub is down")

    schedule = Schedule("nightly", "0 * * * *", "periodic")
    async with Pressroom(anywhere, kinds=[periodic], schedules=[schedule], workers=1, clock=clock, poll_interval=0.01) as press:
        clock.advance(hours=1)
        (first,) = await fired(press, "periodic")
        await eventually(lambda: press.worker.counts.settled == 1)
        clock.advance(seconds=60)
        ended = await press.wait_until_ended(first)
        clock.advance(hours=1)
        _, second = await fired(press, "periodic")

        assert (ended.status, ended.failures) == (Status.FAILED, 2)
        assert attempts[:2] == [(first.uid, 1), (first.uid, 2)]
        await eventually(lambda: attempts[-1] == (second.uid, 1))


async def test_a_schedule_with_a_key_does_not_pile_up_while_its_job_waits(anywhere):
    clock = ManualClock()
    schedule = hourly(Missed.ALL, key="audit")
    async with Pressroom(anywhere, kinds=[audit], schedules=[schedule], workers=1, clock=clock) as press:
        await press.pause("audit")
        clock.advance(hours=6)

        assert len(await fired(press)) == 1


async def test_a_schedule_of_an_unknown_kind_or_of_no_time_at_all_is_refused_at_once(database):
    with pytest.raises(UnknownKind):
        Pressroom(database, kinds=[audit], schedules=[Schedule("x", "0 * * * *", "nonsense")])
    with pytest.raises(InvalidArgument, match="cron"):
        Pressroom(database, kinds=[audit], schedules=[Schedule("x", "every morning", "audit")])
