"""Celery on Redis."""

import asyncio
from typing import Any

from celery import Celery
from course import PAYLOAD, REDIS, Queue, run

app = Celery("bench", broker=REDIS)
app.conf.update(
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
)


class CeleryQueue(Queue):
    wide_door = False

    async def open(self) -> None:
        @app.task(name="noop")
        def noop(payload: Any) -> None:
            self.begun()

        self.noop = noop

    async def submit(self) -> None:
        self.noop.delay(PAYLOAD)

    async def submit_many(self, count: int) -> None:
        for _ in range(count):
            self.noop.delay(PAYLOAD)

    async def work(self) -> None:
        """In this process: it has no async jobs, and its threads and children cost more than a job that does nothing."""
        worker = app.Worker(pool="solo", without_gossip=True, without_mingle=True, without_heartbeat=True, loglevel="CRITICAL")
        await asyncio.to_thread(worker.start)

    async def left(self) -> int:
        with app.connection_for_read() as connection:
            redis = connection.default_channel.client
            return int(redis.llen("celery")) + int(redis.hlen("unacked"))


run(CeleryQueue())
