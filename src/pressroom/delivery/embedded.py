"""Delivery inside one process: a latch. Processes that share a file find each other's work by polling."""

import asyncio
from collections.abc import Sequence

from pressroom.model import Submitted


class Embedded:
    """However many jobs are announced while nobody listens, the latch is set once; whoever comes finds it set."""

    def __init__(self) -> None:
        self._latch = asyncio.Event()

    def announce(self, jobs: Sequence[Submitted]) -> None:  # noqa: ARG002
        self._latch.set()

    async def arrival(self, timeout: float) -> bool:
        try:
            async with asyncio.timeout(timeout):
                await self._latch.wait()
        except TimeoutError:
            return False
        self._latch.clear()
        return True
