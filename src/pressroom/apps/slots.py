"""A few may render, some may wait, the rest is told to come back (design 001)."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from pressroom.errors import Backpressure

RETRY_AFTER = 5


class Slots:
    """Free slots are given at once; then callers wait in line; when the line is full they are refused."""

    def __init__(self, concurrent: int, waiting: int) -> None:
        self.free = concurrent
        self._room = waiting
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        return len(self._line)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        await self._take()
        try:
            yield
        finally:
            self._give_back()

    async def _take(self) -> None:
        if self.free:
            self.free -= 1
            return
        if len(self._line) >= self._room:
            raise no_room(self._room)
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
        self.free += 1


class Door:
    """How many different renders may be waited for at once. Whoever waits for the same one takes no further place.

    Beside the slots and not one of them, so that callers who wait cannot make the job of somebody who does not fail.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._inside: dict[str, int] = {}

    @contextmanager
    def place(self, render: str) -> Iterator[None]:
        if render not in self._inside and len(self._inside) >= self._room:
            raise no_room(self._room)
        self._inside[render] = self._inside.get(render, 0) + 1
        try:
            yield
        finally:
            self._inside[render] -= 1
            if not self._inside[render]:
                del self._inside[render]


def no_room(waiting: int) -> Backpressure:
    return Backpressure(f"BackpressureError: all slots are taken and {waiting} wait already", retry_after=RETRY_AFTER)
