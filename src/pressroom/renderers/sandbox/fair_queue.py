"""Renders that wait for an engine process, and which of them is next."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from pressroom.renderers import Rendered


class RenderCaller(NamedTuple):
    """The caller of a render, as the queue sorts it. `waiting` surrounds the time in which it waits for an engine process."""

    is_background: bool = False
    org_id: str = ""
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext


DIRECT_CALLER = RenderCaller()


class Ticket:
    """One render on its way: what to send to an engine process, and the future that its caller awaits."""

    __slots__ = ("caller", "future", "is_sent", "on_sent", "options", "output", "sent_at", "source", "tries")

    def __init__(
        self,
        source: bytes,
        output: str,
        options: dict[str, Any],
        future: "asyncio.Future[Rendered]",
        caller: RenderCaller = DIRECT_CALLER,
    ) -> None:
        self.source = source
        self.output = output
        self.options = options
        self.future = future
        self.caller = caller
        self.tries = 0
        self.is_sent = False
        self.sent_at = 0.0  # by the monotonic clock
        self.on_sent: Callable[[], None] | None = None

    def mark_sent(self) -> None:
        self.is_sent = True
        self.sent_at = time.monotonic()
        if self.on_sent is not None:
            self.on_sent()


class TicketQueue:
    """Interactive and background tickets apart. Within each, organisations take turns: next is the one with the fewest tickets
    in engine processes, then the one that was served longest ago. Within an organisation it is first in, first out.
    """

    def __init__(self) -> None:
        self._tickets_by_org: dict[bool, dict[str, deque[Ticket]]] = {False: {}, True: {}}
        self._last_served: dict[str, int] = {}  # by organisation: the number of the last ticket that it was served
        self._count = 0

    def __iter__(self) -> Iterator[Ticket]:
        for lines in self._tickets_by_org.values():
            for line in lines.values():
                yield from line

    def has(self, *, background: bool) -> bool:
        return bool(self._tickets_by_org[background])

    def add(self, ticket: Ticket) -> None:
        self._tickets_like(ticket).append(ticket)

    def put_back(self, ticket: Ticket) -> None:
        """An engine process had it and died of another: it is the first of its organisation."""
        self._tickets_like(ticket).appendleft(ticket)

    def pop(self, count_by_org: Callable[[], Counter[str]], *, background: bool) -> Ticket:
        """`in_presses` counts the tickets that engine processes have, by organisation. It is called when several
        organisations wait.
        """
        lines = self._tickets_by_org[background]
        if len(lines) == 1:
            org_id = next(iter(lines))
        else:
            held = count_by_org()
            org_id = min(lines, key=lambda org: (held[org], self._last_served.get(org, 0)))
        line = lines[org_id]
        ticket = line.popleft()
        if not line:
            del lines[org_id]
        self._record_served(org_id)
        return ticket

    def clear(self) -> list[Ticket]:
        """Take all of them out."""
        tickets = list(self)
        for lines in self._tickets_by_org.values():
            lines.clear()
        return tickets

    def _tickets_like(self, ticket: Ticket) -> deque[Ticket]:
        return self._tickets_by_org[ticket.caller.is_background].setdefault(ticket.caller.org_id, deque())

    def _record_served(self, org_id: str) -> None:
        self._count += 1
        waiting = {org for lines in self._tickets_by_org.values() for org in lines} if len(self._last_served) > 1_000 else None
        if waiting is not None:  # organisations that come and go must not fill memory
            self._last_served = {org: number for org, number in self._last_served.items() if org in waiting}
        self._last_served[org_id] = self._count
