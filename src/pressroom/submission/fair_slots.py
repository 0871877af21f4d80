"""Slots for renders that callers wait for, a bounded number of waiters, and 429 beyond it (001). Organisations take turns."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager

from pressroom.errors import Backpressure

RETRY_AFTER = 5


class FairSlots:
    """Free slots are given at once; then callers wait in line; when the line is full they are refused.

    Organisations take turns: a slot goes to the one that holds the fewest, or else was served longest ago. One that has less
    than its share of a full line may wait all the same. Within an organisation, and with only one, it is first in, first out.
    """

    def __init__(self, slots: int, max_waiting: int) -> None:
        self.free = slots
        self._room = max_waiting
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}
        self._held: Counter[str] = Counter()
        self._served: dict[str, int] = {}  # when an organisation was last given a slot, counted in slots given
        self._given = 0

    @property
    def waiting(self) -> int:
        return sum(map(len, self._lines.values()))

    @asynccontextmanager
    async def hold_slot(self, org_id: str | None = None) -> AsyncIterator[None]:
        """Wait for a slot, and give it back at the end. None and "" are both the default organisation. Raises Backpressure."""
        await self._acquire(org_id or "")
        try:
            yield
        finally:
            self._release(org_id or "")

    async def _acquire(self, org_id: str) -> None:
        if self.free:
            self.free -= 1
            self._record_grant(org_id)
            return
        line = self._lines.get(org_id, ())
        if self.waiting >= self._room and len(line) >= org_share(self._room, {*self._lines, org_id}):
            raise slots_taken_error(self._room)
        turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(org_id, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release(org_id)  # it was handed a slot in the very moment it gave up
            else:
                self._remove_waiter(org_id, turn)
            raise

    def _record_grant(self, org_id: str) -> None:
        self._given += 1
        self._held[org_id] += 1
        self._served[org_id] = self._given

    def _release(self, org_id: str) -> None:
        self._held[org_id] -= 1
        while self._lines:
            next_org = min(self._lines, key=lambda org: (self._held[org], self._served.get(org, 0)))
            turn = self._lines[next_org][0]
            self._remove_waiter(next_org, turn)
            if not turn.done():
                self._record_grant(next_org)
                turn.set_result(None)
                break
        else:
            self.free += 1
        if not self._held[org_id] and org_id not in self._lines:
            del self._held[org_id]
            self._served.pop(org_id, None)

    def _remove_waiter(self, org_id: str, turn: "asyncio.Future[None]") -> None:
        """May be called again for one who gave up while the line was gone through."""
        line = self._lines.get(org_id, deque())
        if turn in line:
            line.remove(turn)
        if not line:
            self._lines.pop(org_id, None)


class RenderWaiters:
    """How many different renders may be waited for at once. Callers that wait for the same one take one place.

    Beside the slots and not one of them, so that waiting callers cannot make another caller's job fail. An
    organisation that has less than its share of the places is let in all the same.
    """

    def __init__(self, max_renders: int) -> None:
        self._room = max_renders
        self._inside: dict[str, int] = {}
        self._by_org: Counter[str] = Counter()  # different renders

    @contextmanager
    def reserve_place(self, render: str, org_id: str | None = None) -> Iterator[None]:
        org = org_id or ""
        if render not in self._inside:
            if len(self._inside) >= self._room and self._by_org[org] >= org_share(self._room, {*+self._by_org, org}):
                raise slots_taken_error(self._room)
            self._by_org[org] += 1
        self._inside[render] = self._inside.get(render, 0) + 1
        try:
            yield
        finally:
            self._inside[render] -= 1
            if not self._inside[render]:
                del self._inside[render]
                self._by_org[org] -= 1
                self._by_org = +self._by_org


def org_share(places: int, organisations: Collection[str]) -> int:
    """How many of the places are each organisation's, of those that have some or come now. At least one, if there are any."""
    return max(min(1, places), places // len(organisations))


def slots_taken_error(waiting: int) -> Backpressure:
    return Backpressure(f"BackpressureError: all slots are taken and {waiting} wait already", retry_after=RETRY_AFTER)
