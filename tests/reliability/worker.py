"""A worker process of the lab: runs jobs until it is told to stop or dies, and tells how many late results were refused."""

import asyncio
from collections.abc import Collection
from contextlib import suppress

from pressroom import Pressroom
from tests.reliability.journal import Journal
from tests.reliability.workload import LEASE, POLL, SCHEDULES, Handlers

GRACE = 0.5


async def run(url: str, journal: Journal, only: Collection[str], stopping: asyncio.Event) -> None:
    kinds = [kind for kind in Handlers(journal).kinds() if kind.name in only]
    schedules = [schedule for schedule in SCHEDULES if schedule.kind in only]
    press = Pressroom(
        url,
        kinds=kinds,
        schedules=schedules,
        workers=4,
        lease=LEASE,
        poll_interval=POLL,
        cleanup_interval=0.5,
        grace=GRACE,
    )
    async with press:
        while not stopping.is_set():
            await _tell(press, journal)
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await stopping.wait()
    await _tell(press, journal, open_jobs=False)


async def _tell(press: Pressroom, journal: Journal, *, open_jobs: bool = True) -> None:
    assert press.worker is not None
    tally = press.worker.tally
    journal.write("info", "tally", worker=press.worker.name, stale=tally.stale, settled=tally.settled)
    if open_jobs:
        stats = await press.stats()
        journal.write("info", "open", count=stats.queued + sum(line.running for line in stats.running))
