"""Delivery inside one process: a latch. Processes that share a file find each other's work by polling."""

import asyncio
from collections.abc import Iterable, Sequence

from pressroom.delivery import Taker, Waiting
from pressroom.model import Submitted


class Embedded:
    """However many jobs are announced while no worker waits, the latch is set once; the next worker finds it set."""

    min_poll_interval = 0.0
    fires_schedules = False

    def __init__(self) -> None:
        self._latch = asyncio.Event()

    async def open(self) -> None:
        return None

    def announce(self, jobs: Sequence[Submitted]) -> None:  # noqa: ARG002
        self._latch.set()

    async def announce_again(self, kinds: Iterable[str], waiting: Waiting) -> None:  # noqa: ARG002
        self._latch.set()

    async def wait_for_work(self, timeout: float) -> bool:
        """Wait until work may have come: True when it was announced, False when `timeout` seconds passed without news."""
        try:
            async with asyncio.timeout(timeout):
                await self._latch.wait()
        except TimeoutError:
            return False
        self._latch.clear()
        return True

    async def serve(self, taker: Taker) -> None:
        while True:
            if await self.wait_for_work(60.0):
                taker.expect_jobs()

    async def close(self) -> None:
        return None
