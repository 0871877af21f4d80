"""The same work through Pressroom's front door, as an application would ask for it. Each returns the seconds it took."""

import asyncio
import time
from pathlib import Path

from bench.job import PAYLOAD, noop
from pressroom import Pressroom, Request

CALLERS = 64
BULK = 1_000  # jobs in one submit_many
# A worker claims up to half of its slots at a time. Our best too, as for the peers: 200 slots drained a sixth slower.
SLOTS = 800


def _only_submitting(path: Path) -> Pressroom:
    return Pressroom(f"sqlite:///{path}", kinds=[noop], workers=None)


async def submit_one_by_one(path: Path, count: int) -> float:
    """Callers that each submit a job, wait until it is on the disk, and submit the next."""
    async with _only_submitting(path) as press:
        left = iter(range(count))

        async def call() -> None:
            for _ in left:
                await press.submit(noop.name, PAYLOAD)

        started = time.perf_counter()
        await asyncio.gather(*(call() for _ in range(CALLERS)))
        return time.perf_counter() - started


async def submit_many(path: Path, count: int) -> float:
    async with _only_submitting(path) as press:
        started = time.perf_counter()
        for start in range(0, count, BULK):
            await press.submit_many(Request(noop.name, PAYLOAD) for _ in range(min(BULK, count - start)))
        return time.perf_counter() - started


async def fill(path: Path, count: int) -> None:
    """A database full of jobs that nobody may claim yet."""
    await submit_many(path, count)
    async with _only_submitting(path) as press:
        await press.pause(noop.name)


async def drain(path: Path, count: int) -> float:
    """From letting the worker go until the last of the jobs is settled on the disk."""
    async with Pressroom(f"sqlite:///{path}", kinds=[noop], workers=SLOTS) as press:
        started = time.perf_counter()
        await press.resume(noop.name)
        await until_settled(press, count)
        return time.perf_counter() - started


async def until_settled(press: Pressroom, count: int) -> None:
    """Return within a few milliseconds of the worker's `count`-th settled job.

    By looking: waiting for each job through the front door would be work that is measured too.
    """
    assert press.worker is not None
    while press.worker.counts.settled < count:  # noqa: ASYNC110
        await asyncio.sleep(0.003)
