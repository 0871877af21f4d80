"""Procrastinate on PostgreSQL."""

from typing import Any

from course import PAYLOAD, POSTGRES, Queue, run
from procrastinate import App, PsycopgConnector

app = App(connector=PsycopgConnector(conninfo=POSTGRES, min_size=4, max_size=20))


class Procrastinate(Queue):
    async def open(self) -> None:
        @app.task(name="noop")
        async def noop(payload: Any) -> None:
            self.begun()

        self.noop = noop
        await app.open_async()

    async def prepare(self) -> None:
        await self.open()
        await app.schema_manager.apply_schema_async()

    async def submit(self) -> None:
        await self.noop.defer_async(payload=PAYLOAD)

    async def submit_many(self, count: int) -> None:
        await self.noop.batch_defer_async(*({"payload": PAYLOAD} for _ in range(count)))

    async def work(self) -> None:
        await app.run_worker_async(concurrency=50, install_signal_handlers=False)

    async def left(self) -> int:
        unfinished = "SELECT count(*) AS jobs FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        return int((await app.connector.execute_query_one_async(unfinished))["jobs"])


run(Procrastinate())
