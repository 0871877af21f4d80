"""A transaction that a caller holds open: its two ends, and what is said between them."""

import asyncio
import queue
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any

from pressroom.errors import TransactionExpired
from pressroom.model import Row, Statement, Work
from pressroom.store.engine.work_requests import Request


class HeldRequest(Request):
    def answer_early(self) -> None:
        """The caller goes on inside its transaction; what follows a commit waits for the commit."""
        after, self.after = self.after, None
        self.answer()
        self.after = after


class End(Enum):
    COMMIT = "commit"
    ROLLBACK = "rollback"


class Held:
    """The two ends of a held transaction: the caller's event loop and the lane."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.inbox: queue.Queue[HeldRequest | End] = queue.Queue()
        self.begun: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.done: list[Request] = []
        self.over: BaseException | None = None

    def tell(self, future: "asyncio.Future[None]", error: BaseException | None = None) -> None:
        def resolve() -> None:
            if future.done():
                return
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
                future.exception()  # whoever still waits gets it; nobody is scolded for not asking

        self.answer(resolve)

    def answer(self, tell: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody is left to tell
            self.loop.call_soon_threadsafe(tell)

    def end(self, error: BaseException | None) -> None:
        self.over = error or TransactionExpired("the transaction is over")
        self.tell(self.ended, error)
        self.refuse_late_ones(self.over)

    def refuse_late_ones(self, over: BaseException) -> None:
        while True:
            try:
                late = self.inbox.get_nowait()
            except queue.Empty:
                return
            if isinstance(late, HeldRequest):
                late.error = over
                self.answer(late.answer)


class HeldTransaction:
    """A `Transaction`."""

    def __init__(self, held: Held) -> None:
        self._held = held

    async def execute(self, sql: str, params: dict[str, Any] | None = None) -> list[Row]:
        def unit() -> Work[list[Row]]:
            return (yield Statement(sql, params))

        return await self.run(unit, name="execute")

    async def run[T](self, unit: Callable[[], Work[T]], *, name: str, after: Callable[[T], None] | None = None) -> T:
        if self._held.over is not None:
            raise self._held.over
        future: asyncio.Future[T] = self._held.loop.create_future()
        self._held.inbox.put(HeldRequest(unit, name, True, after, self._held.loop, future))
        if self._held.over is not None:  # it ended between our look and our request
            self._held.refuse_late_ones(self._held.over)
        return await future
