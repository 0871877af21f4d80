"""saq: on Redis if its program is told so, `saq_queue.py redis PART COUNT`, and else on PostgreSQL."""

import asyncio
import sys
from typing import Any

from course import PAYLOAD, POSTGRES, REDIS, Queue, run
from saq import Queue as SaqQueue
from saq import Worker

ON_REDIS = sys.argv[1] == "redis"


class Saq(Queue):
    wide_door = False

    async def open(self) -> None:
        self.queue = SaqQueue.from_url(REDIS if ON_REDIS else POSTGRES)
        await self.queue.connect()

    async def prepare(self) -> None:
        await self.open()  # makes its tables

    async def submit(self) -> None:
        await self.queue.enqueue("noop", payload=PAYLOAD)

    async def submit_many(self, count: int) -> None:
        for start in range(0, count, 10):
            await asyncio.gather(*(self.submit() for _ in range(min(10, count - start))))

    async def work(self) -> None:
        async def noop(ctx: Any, *, payload: Any) -> None:
            self.begun()

        await Worker(self.queue, functions=[("noop", noop)], concurrency=50).start()

    async def left(self) -> int:
        return await self.queue.count("incomplete")


run(Saq())
