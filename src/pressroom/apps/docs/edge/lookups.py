"""Look-ups that are good for a second."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import NamedTuple

from cachetools import LRUCache

from pressroom.apps.docs.edge.single_flight import SingleFlight
from pressroom.errors import Unavailable

log = logging.getLogger("pressroom.docs.edge")

FRESH = 1.0  # seconds
STALE = 300.0  # seconds for which an answer is still given while the database is out of reach


class _Known[V](NamedTuple):
    value: V
    at: float  # when the look-up that found it began
    is_failing: bool = False  # the last look-up did not reach the database


class RecentLookups[K: Hashable, V]:
    """At most one look-up in `fresh` seconds for each key, however many ask.

    While the database is out of reach, the answer is what was found last, at once: each look-up may take as long as its time
    limit, and only the first request waits for that.
    """

    def __init__(
        self,
        look_up: Callable[[K], Awaitable[V]],
        *,
        most: int,
        fresh: float = FRESH,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look_up = look_up
        self._fresh = fresh
        self._clock = clock
        self._known: LRUCache[K, _Known[V]] = LRUCache(most)
        self._refreshing = SingleFlight[K, V]()

    async def get(self, key: K) -> V:
        known = self._known.get(key)
        if known is None:
            return await self._refreshing.run(key, partial(self._refresh, key))
        age = self._clock() - known.at
        if age < self._fresh:
            return known.value
        refresh = self._refreshing.start(key, partial(self._refresh, key))
        if known.is_failing and age <= STALE:
            return known.value
        return await asyncio.shield(refresh)

    async def _refresh(self, key: K) -> V:
        began = self._clock()
        try:
            value = await self._look_up(key)
        except Unavailable as reason:
            known = self._known.get(key)
            if known is None or began - known.at > STALE:
                raise
            if not known.is_failing:
                log.warning("answered from what was known before: %s", reason)
                self._known[key] = known._replace(is_failing=True)
            return known.value
        self._known[key] = _Known(value, began)
        return value
