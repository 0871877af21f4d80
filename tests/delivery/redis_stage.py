"""What the tests of the Redis delivery are staged with: a worker that only notes what it is offered, and a look into Redis."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from redis.asyncio import Redis as Client

from pressroom.delivery import JobNotice, Offer
from pressroom.delivery.redis import Redis
from pressroom.ids import new_uid
from pressroom.model import Answer, Submitted


class NotingTaker:
    """A worker as a delivery sees it. It answers no offer by itself."""

    def __init__(self, *kinds: str, slots: int = 4, name: str = "noting") -> None:
        self.name = name
        self.kinds = frozenset(kinds or ("echo",))
        self.slots = slots
        self.offers: list[Offer] = []
        self.heard = 0
        self.room = slots
        self._freed = asyncio.Event()

    def expect_jobs(self) -> None:
        self.heard += 1

    def offer(self, offer: Offer) -> None:
        self.offers.append(offer)
        self.room -= 1

    def free_slots(self) -> tuple[int, int]:
        return max(0, self.room), max(0, self.room)

    async def slot_freed(self) -> None:
        await self._freed.wait()
        self._freed.clear()

    def make_room(self, room: int) -> None:
        self.room = room
        self._freed.set()


class Announcer:
    """A delivery over jobs that exist only here: by their number, what a look-up would find."""

    def __init__(self, url: str, queue: str) -> None:
        self.jobs: dict[int, JobNotice] = {}
        self.looked_up: list[int] = []
        self.delivery = Redis(url, queue, self._look_up)

    def submit(self, kind: str = "echo", tier: int = 0, payload: str | None = None) -> Submitted:
        id, uid = len(self.jobs) + 1, new_uid()
        self.jobs[id] = JobNotice(uid, kind, tier, payload)
        return Submitted(id=id, uid=uid, kind=kind, answer=Answer.NEW, version=1)

    async def waiting(self) -> list[JobNotice]:
        return list(self.jobs.values())

    async def _look_up(self, ids: Sequence[int]) -> list[JobNotice]:
        self.looked_up.append(len(ids))
        return [self.jobs[id] for id in ids]


@asynccontextmanager
async def announcing(url: str, queue: str) -> AsyncIterator[Announcer]:
    announcer = Announcer(url, queue)
    try:
        yield announcer
    finally:
        await announcer.delivery.close()


@asynccontextmanager
async def serving(delivery: Redis, taker: NotingTaker) -> AsyncIterator[NotingTaker]:
    task = asyncio.create_task(delivery.serve(taker))
    try:
        yield taker
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def looking_into(url: str) -> AsyncIterator[Any]:
    client = Client.from_url(url)
    try:
        yield client
    finally:
        await client.aclose()


async def keys_of(redis: Any, queue: str) -> set[str]:
    """What lies in Redis under a list's name, but for the note about looking after others, which goes by itself."""
    return {key.decode() async for key in redis.scan_iter(f"{queue}*") if not key.endswith(b":looked")}
