"""A transaction that a caller holds open, statement by statement."""

import asyncio
import queue
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any

from pressroom.errors import TransactionExpired
from pressroom.model import Row, Statement, Work
from pressroom.store.engine.work_requests import WorkRequest


class TransactionRequest(WorkRequest):
    def resolve_before_commit(self) -> None:
        """The caller goes on inside its transaction; `after` waits for the commit."""
        after, self.after = self.after, None
        self.resolve()
        self.after = after


class TransactionEnd(Enum):
    COMMIT = "commit"
    ROLLBACK = "rollback"


class OpenTransaction:
    """Shared by the caller's event loop and the writer thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.inbox: queue.Queue[TransactionRequest | TransactionEnd] = queue.Queue()
        self.begun: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.done: list[WorkRequest] = []
        self.over: BaseException | None = None

    def settle_future(self, future: "asyncio.Future[None]", error: BaseException | None = None) -> None:
        def resolve() -> None:
            if future.done():
                return
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
                future.exception()  # retrieved: no warning if the caller has stopped waiting

        self.call_in_loop(resolve)

    def call_in_loop(self, callback: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop was closed: no caller is left
            self.loop.call_soon_threadsafe(callback)

    def end(self, error: BaseException | None) -> None:
        self.over = error or TransactionExpired("the transaction is over")
        self.settle_future(self.ended, error)
        self.refuse_late_requests(self.over)

    def refuse_late_requests(self, error: BaseException) -> None:
        while True:
            try:
                late = self.inbox.get_nowait()
            except queue.Empty:
                return
            if isinstance(late, TransactionRequest):
                late.error = error
                self.call_in_loop(late.resolve)


class CallerTransaction:
    """A `Transaction`."""

    def __init__(self, held: OpenTransaction) -> None:
        self._held = held

    async def execute(self, sql: str, params: dict[str, Any] | None = None) -> list[Row]:
        def unit() -> Work[list[Row]]:
            return (yield Statement(sql, params))

        return await self.run(unit, name="execute")

    async def run[T](self, unit: Callable[[], Work[T]], *, name: str, after: Callable[[T], None] | None = None) -> T:
        if self._held.over is not None:
            raise self._held.over
        future: asyncio.Future[T] = self._held.loop.create_future()
        self._held.inbox.put(TransactionRequest(unit, name, True, after, self._held.loop, future))
        if self._held.over is not None:  # it ended between the check and our request
            self._held.refuse_late_requests(self._held.over)
        return await future
