"""Which engines work here, and what those that do not are lacking."""

import asyncio
import time
from dataclasses import dataclass

from pressroom.renderers import Engine, Missing, catalogue

CACHE_SECONDS = 60.0  # engines are installed rarely, and each check reads the disk


@dataclass(frozen=True)
class EngineStatus:
    name: str
    title: str
    version: str
    missing: Missing | None


class EngineStatusCache:
    def __init__(self) -> None:
        self._statuses: list[EngineStatus] = []
        self._stale_at = 0.0
        self._lock = asyncio.Lock()

    async def statuses(self) -> list[EngineStatus]:
        """In a thread: the first call loads every engine."""
        async with self._lock:
            if time.monotonic() >= self._stale_at:
                self._statuses = await asyncio.to_thread(lambda: [_status_of(engine) for engine in catalogue.engines()])
                self._stale_at = time.monotonic() + CACHE_SECONDS
            return self._statuses


def _status_of(engine: type[Engine]) -> EngineStatus:
    missing = engine.missing()
    return EngineStatus(engine.name, engine.title, "" if missing else engine.version(), missing)
