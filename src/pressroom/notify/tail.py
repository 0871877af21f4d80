"""News from other processes on the same database, found by looking now and then while somebody listens."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pressroom.notify.inside import Switchboard
from pressroom.outages import Outage

log = logging.getLogger("pressroom.notify")


class Tail:
    def __init__(
        self,
        switchboard: Switchboard,
        changed: Callable[[], Awaitable[bool]],
        news_after: Callable[[int], Awaitable[tuple[int, list[int]]]],
        newest: Callable[[], Awaitable[int]],
        interval: float,
    ) -> None:
        self._switchboard = switchboard
        self._changed = changed
        self._news_after = news_after
        self._newest = newest
        self._interval = interval
        self._outage = Outage("looking for news", log)

    async def run(self) -> None:
        while True:
            await self._switchboard.somebody_listens.wait()
            try:
                await self._follow()
            except Exception as reason:
                await asyncio.sleep(self._outage.failed(reason))

    async def _follow(self) -> None:
        last = await self._newest()
        self._outage.recovered()
        self._switchboard.tell_everybody()  # what happened between their last look and ours would be missed
        while self._switchboard.somebody_listens.is_set():
            await asyncio.sleep(self._interval)
            if not await self._changed():
                continue
            while True:
                following, job_ids = await self._news_after(last)
                self._switchboard.tell(job_ids)
                if following == last:
                    break
                last = following
