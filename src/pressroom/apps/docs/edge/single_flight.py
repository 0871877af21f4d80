"""One task for each key, however many wait for it."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from functools import partial
from typing import Any


class SingleFlight[K: Hashable, V]:
    """A task goes on when its waiters are cancelled, so the callers shield it."""

    def __init__(self) -> None:
        self._running: dict[K, asyncio.Task[V]] = {}

    def start(self, key: K, work: Callable[[], Coroutine[Any, Any, V]]) -> asyncio.Task[V]:
        """The task that runs for this key, or a new one."""
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = asyncio.create_task(work())
            running.add_done_callback(partial(self._forget, key))
        return running

    async def run(self, key: K, work: Callable[[], Coroutine[Any, Any, V]]) -> V:
        return await asyncio.shield(self.start(key, work))

    def _forget(self, key: K, ended: asyncio.Task[V]) -> None:
        self._running.pop(key, None)
        if not ended.cancelled():
            ended.exception()  # retrieved also if all its waiters were cancelled
