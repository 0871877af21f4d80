"""A kind whose handler notes when it began: the end of every wait that is measured here."""

import asyncio
import time
from typing import Any

from bench.job import PAYLOAD
from pressroom import Kind, Pressroom, Tier


class Marker:
    def __init__(self, tier: Tier) -> None:
        self.kind = Kind("mark", self._handle, tier=tier)
        self._begun = asyncio.Event()
        self._at = 0.0

    async def wait_for_a_worker(self, press: Pressroom) -> float:
        """Submit a job. Returns the seconds from the call until its handler ran."""
        self._begun.clear()
        submitted = time.perf_counter()
        await press.submit(self.kind.name, PAYLOAD)
        await self._begun.wait()
        return self._at - submitted

    async def _handle(self, job: Any, payload: Any) -> None:
        self._at = time.perf_counter()
        self._begun.set()
