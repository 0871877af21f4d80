"""Which engines work here, and what those that do not are lacking."""

import asyncio
import time
from dataclasses import dataclass

from pressroom.renderers import Engine, Missing, catalogue

KEPT = 60.0  # seconds: nobody installs an engine every minute, and looking asks the disk about each


@dataclass(frozen=True)
class Health:
    name: str
    title: str
    version: str
    missing: Missing | None


class Engines:
    def __init__(self) -> None:
        self._found: list[Health] = []
        self._stale_at = 0.0
        self._looking = asyncio.Lock()

    async def look(self) -> list[Health]:
        """In a thread: the first look loads every engine."""
        async with self._looking:
            if time.monotonic() >= self._stale_at:
                self._found = await asyncio.to_thread(lambda: [_health(engine) for engine in catalogue.engines()])
                self._stale_at = time.monotonic() + KEPT
            return self._found


def _health(engine: type[Engine]) -> Health:
    missing = engine.missing()
    return Health(engine.name, engine.title, "" if missing else engine.version(), missing)
