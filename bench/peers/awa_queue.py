"""Awa on PostgreSQL."""

import asyncio
from dataclasses import dataclass
from typing import Any

import psycopg
from awa import AsyncClient
from course import PAYLOAD, POSTGRES, Queue, run

SLOTS = 256
UNFINISHED = """
SELECT (SELECT count(*) FROM awa.ready_entries) - (SELECT count(*) FROM awa.done_entries)
     - (SELECT coalesce(sum(completed_count), 0) FROM awa.receipt_completion_batches)
"""


@dataclass
class Noop:
    text: str


JOB = Noop(PAYLOAD["text"])


class Awa(Queue):
    async def open(self) -> None:
        self.client = AsyncClient(POSTGRES, max_connections=20)

    async def prepare(self) -> None:
        await self.open()
        await self.client.migrate()
        await self.client.install_queue_storage()

    async def submit(self) -> None:
        await self.client.insert(JOB)

    async def submit_many(self, count: int) -> None:
        await self.client.enqueue_many_copy([JOB] * count)

    async def work(self) -> None:
        @self.client.task(Noop)
        async def noop(job: Any) -> None:
            self.begun()

        await self.client.start([("default", SLOTS)], poll_interval_ms=20)
        await asyncio.Event().wait()

    async def left(self) -> int:
        """From its tables: its own count of a queue takes seconds."""
        with psycopg.connect(POSTGRES, autocommit=True) as connection:
            found = connection.execute(UNFINISHED).fetchone()
        assert found is not None
        return int(found[0])


run(Awa())
