"""Events of other processes on the same database, for the waiters of this one."""

import asyncio

from pressroom.backends.queue_backend import QueueBackend
from pressroom.base.lifecycle import Lifecycle, cancel_tasks
from pressroom.notify.event_poller import EventPoller
from pressroom.queue import Queue
from pressroom.store.jobs import queries


class RemoteEvents(Lifecycle):
    """Looks for them every `interval` seconds while a task waits for a job."""

    def __init__(self, backend: QueueBackend, queue: Queue, interval: float) -> None:
        self._backend = backend
        self._queue = queue
        self._interval = interval
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        changed = self._backend.database.changed_elsewhere
        tail = EventPoller(self._queue.listeners, changed, self._events_after, self._last_event_id, self._interval)
        self._tasks = [asyncio.create_task(tail.run())]

    async def stop(self) -> None:
        await cancel_tasks(self._tasks)
        self._tasks = []

    async def _events_after(self, last: int) -> tuple[int, list[int]]:
        events = await self._backend.database.read(lambda: queries.events_after(last))
        return (events[-1].id if events else last), [event.job_id for event in events]

    async def _last_event_id(self) -> int:
        return await self._backend.database.read(queries.last_event_id)
