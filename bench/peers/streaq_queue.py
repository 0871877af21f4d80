"""streaQ on Redis."""

from contextlib import AsyncExitStack
from typing import Any

from course import PAYLOAD, REDIS, Queue, run
from streaq import Worker


class Streaq(Queue):
    async def open(self) -> None:
        self.client = self._worker()
        self.noop = self.client.registry["noop"]
        await AsyncExitStack().enter_async_context(self.client)

    def _worker(self) -> "Worker[Any]":
        worker: Worker[Any] = Worker(redis_url=REDIS, concurrency=64, prefetch=256, handle_signals=False)

        @worker.task(name="noop", ttl=0, timeout=None)
        async def noop(payload: Any) -> None:
            self.begun()

        return worker

    async def submit(self) -> None:
        await self.noop.enqueue(PAYLOAD)

    async def submit_many(self, count: int) -> None:
        await self.client.enqueue_many([self.noop.enqueue(PAYLOAD) for _ in range(count)])

    async def work(self) -> None:
        await self._worker().run_async()

    async def left(self) -> int:
        return await self.client.queue_size()


run(Streaq())
