"""arq on Redis."""

import asyncio
from typing import Any

from arq.connections import ArqRedis, RedisSettings, create_pool
from arq.worker import Worker, func
from course import PAYLOAD, REDIS, Queue, run

SETTINGS = RedisSettings.from_dsn(REDIS)
NAME = "arq:queue"


class Arq(Queue):
    wide_door = False
    redis: ArqRedis

    async def open(self) -> None:
        self.redis = await create_pool(SETTINGS)

    async def submit(self) -> None:
        await self.redis.enqueue_job("noop", PAYLOAD)

    async def submit_many(self, count: int) -> None:
        for start in range(0, count, 50):
            await asyncio.gather(*(self.submit() for _ in range(min(50, count - start))))

    async def work(self) -> None:
        async def noop(ctx: Any, payload: Any) -> None:
            self.begun()

        # It polls, by default every half second. A result would be one more write for each job.
        worker = Worker(
            [func(noop, name="noop", keep_result=0)],
            redis_settings=SETTINGS,
            max_jobs=50,
            queue_read_limit=200,
            poll_delay=0.005,
            log_results=False,
            handle_signals=False,
        )
        await worker.async_run()

    async def left(self) -> int:
        return int(await self.redis.zcard(NAME))


run(Arq())
