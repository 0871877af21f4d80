"""PgQueuer on PostgreSQL."""

import json
from datetime import timedelta
from typing import Any

import asyncpg
from course import PAYLOAD, POSTGRES, Queue, run
from pgqueuer.db import AsyncpgDriver
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries

BODY = json.dumps(PAYLOAD).encode()


class PgQueuer(Queue):
    async def open(self) -> None:
        self.queries = Queries(AsyncpgDriver(await asyncpg.connect(POSTGRES)))

    async def prepare(self) -> None:
        await self.open()
        await self.queries.install()  # all its tables are logged, as they come

    async def submit(self) -> None:
        await self.queries.enqueue("noop", BODY)

    async def submit_many(self, count: int) -> None:
        await self.queries.enqueue(["noop"] * count, [BODY] * count, [0] * count)

    async def work(self) -> None:
        manager = QueueManager(Queries(AsyncpgDriver(await asyncpg.connect(POSTGRES))))

        @manager.entrypoint("noop")
        async def noop(job: Any) -> None:
            self.begun()

        await manager.run(batch_size=500, dequeue_timeout=timedelta(seconds=30))

    async def left(self) -> int:
        return int((await self.queries.driver.fetch("SELECT count(*) AS jobs FROM pgqueuer"))[0]["jobs"])


run(PgQueuer())
