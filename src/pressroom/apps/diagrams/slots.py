"""A few may render, some may wait, the rest is told to come back (design 001)."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pressroom.errors import Backpressure


class Slots:
    """Free slots are given at once; then callers wait in line; when the line is full they are refused."""

    def __init__(self, concurrent: int, waiting: int) -> None:
        self._free = concurrent
        self._room = waiting
        self._line: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        await self._take()
        try:
            yield
        finally:
            self._give_back()

    async def _take(self) -> None:
        if self._free:
            self._free -= 1
            return
        if len(self._line) >= self._room:
            raise Backpressure(f"BackpressureError: all slots are taken and {self._room} wait already", retry_after=5)
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back()  # it was handed a slot in the very moment it gave up
            else:
                self._line.remove(turn)
            raise

    def _give_back(self) -> None:
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
