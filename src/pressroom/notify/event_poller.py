"""Polls the database for events of other processes while this process has listeners."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pressroom.base.outages import Outage
from pressroom.notify.listeners import JobListeners

log = logging.getLogger("pressroom.notify")


class EventPoller:
    def __init__(
        self,
        listeners: JobListeners,
        changed_elsewhere: Callable[[], Awaitable[bool]],
        read_events: Callable[[int], Awaitable[tuple[int, list[int]]]],
        read_last_event: Callable[[], Awaitable[int]],
        interval: float,
    ) -> None:
        self._listeners = listeners
        self._changed = changed_elsewhere
        self._read_events = read_events
        self._read_last_event = read_last_event
        self._interval = interval
        self._outage = Outage("looking for news", log)

    async def run(self) -> None:
        while True:
            await self._listeners.has_listeners.wait()
            try:
                await self._poll()
            except Exception as reason:
                await asyncio.sleep(self._outage.record_failure(reason))

    async def _poll(self) -> None:
        last = await self._read_last_event()
        self._outage.record_success()
        self._listeners.notify_all()  # an event between their last read and ours would be missed
        while self._listeners.has_listeners.is_set():
            await asyncio.sleep(self._interval)
            if not await self._changed():
                continue
            while True:
                following, job_ids = await self._read_events(last)
                self._listeners.notify(job_ids)
                if following == last:
                    break
                last = following
