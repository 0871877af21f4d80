"""Background attempts that end one after the other, while more of them run, are settled by one turn."""

import asyncio
from collections import defaultdict
from contextlib import asynccontextmanager

import pytest

from pressroom import Pressroom, Request, Status, Tier, kind
from pressroom.worker import loop

RUNNING = 5  # more than the quarter of eight slots that is enough for a turn


@pytest.fixture(autouse=True)
def _long_delay(monkeypatch):
    """Whatever may wait to be settled waits for an hour."""
    monkeypatch.setattr(loop, "SETTLE_DELAY", 3600.0)


@asynccontextmanager
async def _five_running(file, eventually):
    """A press at work on five background jobs, and the events that end them."""
    ends = defaultdict(asyncio.Event)

    @kind("held")
    async def held(job, payload):
        await ends[payload].wait()

    async with Pressroom(file, kinds=[held], workers=8) as press:
        jobs = await press.submit_many(Request("held", number, Tier.BACKGROUND) for number in range(RUNNING))
        await eventually(lambda: press.worker.running == RUNNING and not press.worker._loop.turns_in_flight)
        press.worker._worker_slots.average_seconds = 1e9
        yield press, jobs, ends
        for event in ends.values():
            event.set()


async def _end(press, ends, eventually, *names):
    left = press.worker.running - len(names)
    for name in names:
        ends[name].set()
    await eventually(lambda: press.worker.running == left)


async def test_one_that_ended_waits_until_a_quarter_of_the_slots_has(file, eventually):
    async with _five_running(file, eventually) as (press, jobs, ends):
        await _end(press, ends, eventually, 0)
        assert (await press.get(jobs[0])).status is Status.IN_PROGRESS

        await _end(press, ends, eventually, 1)
        for job in jobs[:2]:
            await press.wait(job, timeout=60)


async def test_one_that_ended_waits_no_longer_than_its_moment(file, monkeypatch, eventually):
    async with _five_running(file, eventually) as (press, jobs, ends):
        monkeypatch.setattr(loop, "SETTLE_DELAY", 0.001)

        await _end(press, ends, eventually, 0)

        await press.wait(jobs[0], timeout=60)
        assert press.worker.running == RUNNING - 1


async def test_an_interactive_one_is_settled_at_once_and_takes_the_others_along(file, eventually):
    async with _five_running(file, eventually) as (press, jobs, ends):
        urgent = await press.submit("held", "urgent")
        await eventually(lambda: press.worker.running == RUNNING + 1 and not press.worker._loop.turns_in_flight)
        await _end(press, ends, eventually, 0)

        await _end(press, ends, eventually, "urgent")

        for job in (urgent, jobs[0]):
            await press.wait(job, timeout=60)


async def test_news_of_a_job_is_not_kept_waiting(file, eventually):
    async with _five_running(file, eventually) as (press, jobs, ends):
        await _end(press, ends, eventually, 0)

        await press.submit("held", "late", tier=Tier.BACKGROUND)

        await press.wait(jobs[0], timeout=60)
        await eventually(lambda: press.worker.running == RUNNING)


async def test_the_last_that_runs_is_settled_at_once(file, eventually):
    async with _five_running(file, eventually) as (press, jobs, ends):
        await _end(press, ends, eventually, *range(RUNNING - 1))
        await press.wait(jobs[RUNNING - 2], timeout=60)

        await _end(press, ends, eventually, RUNNING - 1)

        await press.wait(jobs[RUNNING - 1], timeout=60)
