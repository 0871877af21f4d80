"""oban-py on PostgreSQL, with the event loop and the JSON that its own command line chooses."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import orjson
from course import PAYLOAD, POSTGRES, Queue, run
from oban import Oban, worker
from oban.schema import install
from psycopg.types.json import set_json_dumps, set_json_loads

set_json_dumps(orjson.dumps)
set_json_loads(orjson.loads)
SLOTS = 200


class ObanQueue(Queue):
    async def open(self) -> None:
        @worker(queue="bench")
        class Noop:
            async def process(_, job: Any) -> None:  # noqa: N805
                self.begun()

        self.noop = Noop
        self.pool = await Oban.create_pool(POSTGRES, min_size=2, max_size=10)
        self.oban = Oban(pool=self.pool)

    async def prepare(self) -> None:
        await self.open()
        await install(self.pool)

    async def submit(self) -> None:
        await self.oban.enqueue(self.noop.new(PAYLOAD))

    async def submit_many(self, count: int) -> None:
        await self.oban.enqueue_many([self.noop.new(PAYLOAD) for _ in range(count)])

    async def work(self) -> None:
        queues = {"bench": {"limit": SLOTS, "debounce_interval": 0.001}}
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(Oban(pool=self.pool, queues=queues, name="worker"))
            await asyncio.Event().wait()

    async def left(self) -> int:
        async with self.pool.connection() as connection:
            cursor = await connection.execute("SELECT count(*) FROM oban_jobs WHERE state <> 'completed'")
            (count,) = await cursor.fetchone()
        return int(count)


run(ObanQueue())
