"""Pressroom on the course of `bench/peers/course.py`: `python -m bench.scale_ours DELIVERY PART COUNT`."""

import asyncio
import sys
from typing import Any

import psycopg

from bench.peers import course
from pressroom import Kind, Pressroom, Request
from pressroom.cli.work import SWITCH_INTERVAL
from pressroom.errors import InvalidArgument, InvalidSettings

DELIVERY = sys.argv[1]
# A worker claims up to half of its slots at a time. Our best too, as for the peers.
SLOTS = 800
NOOP = "noop"


def press(handle: Any, *, works: bool) -> Pressroom:
    """The one delivery that has no name to choose is embedded. Of the others we say so while they are not there."""
    options: dict[str, Any] = {} if DELIVERY == "embedded" else {"delivery": DELIVERY}
    if DELIVERY == "redis":
        options["redis_url"] = course.REDIS
    try:
        return Pressroom(course.POSTGRES, kinds=[Kind(NOOP, handle)], workers=SLOTS if works else None, **options)
    except (InvalidArgument, InvalidSettings) as reason:
        sys.exit(f"not available: {reason}")


def count_open(connection: "psycopg.Connection[Any]") -> int:
    found = connection.execute("SELECT count(*) FROM pressroom.job WHERE status IN ('queued', 'in_progress')").fetchone()
    assert found is not None
    return int(found[0])


class Ours(course.Queue):
    quick_loop = False

    async def open(self) -> None:
        self._press = press(self._handle, works=False)
        await self._press.start()
        self._store = psycopg.connect(course.POSTGRES, autocommit=True)

    async def prepare(self) -> None:
        async with press(self._handle, works=False):
            pass

    async def submit(self) -> None:
        await self._press.submit(NOOP, course.PAYLOAD)

    async def submit_many(self, count: int) -> None:
        await self._press.submit_many(Request(NOOP, course.PAYLOAD) for _ in range(count))

    async def work(self) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL)  # as `pressroom work`
        async with press(self._handle, works=True):
            await asyncio.Event().wait()

    async def left(self) -> int:
        return count_open(self._store)

    async def _handle(self, job: Any, payload: Any) -> None:
        self.begun()


if __name__ == "__main__":
    course.run(Ours())
