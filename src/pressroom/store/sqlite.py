"""SQLite: one thread owns the writing connection and commits in groups.

Everything that waits joins the next transaction, each unit under a savepoint of its own, and is answered after the
commit. A durable submit or settle so costs a share of an fsync instead of one each. Several processes may share the
file: whoever writes takes the lock at once (BEGIN IMMEDIATE) and the others wait for it.
"""

import asyncio
import concurrent.futures
import logging
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import apsw

from pressroom import failpoints
from pressroom.clock import Clock
from pressroom.errors import PressroomError, QueueClosed, StoreUnavailable, TransactionExpired
from pressroom.model import Row, Statement, Work
from pressroom.store import migrate
from pressroom.store.sqlite_connection import Connection, Translated, translate

log = logging.getLogger("pressroom.store")

HOLD_LIMIT = 5.0  # a transaction held open stops every other writer; five seconds is long for a few statements
GROUP_LIMIT = 512  # beyond this an fsync is shared so widely that waiting for more gains nothing


@dataclass(slots=True, eq=False)
class _Request:
    """A unit of work on its way through the writer thread, and who hears of it."""

    unit: Callable[[], Work[Any]]
    name: str
    durable: bool
    after: Callable[[Any], None] | None
    loop: asyncio.AbstractEventLoop | None
    future: "asyncio.Future[Any] | concurrent.futures.Future[Any]"
    result: Any = None
    error: BaseException | None = None

    def answer(self) -> None:
        if self.error is None and self.after is not None:
            try:
                self.after(self.result)
            except Exception:
                log.exception("telling what came of %s failed; it is committed all the same", self.name)
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class SQLite:
    """A `Database` in one file, or in memory."""

    def __init__(self, path: str, clock: Clock) -> None:
        self.path = path
        self.volatile = path == ":memory:"
        if not self.volatile:
            _prepare_folder(Path(path))
        self._writer = Connection(path, clock)
        try:
            with Translated(path):
                migrate.bring_up_to_date(self._writer.raw, path)
            self._reader = self._writer if self.volatile else Connection(path, clock, readonly=True)
        except BaseException:
            self._writer.raw.close()
            raise
        self._inbox: queue.SimpleQueue[_Request | _Held | None] = queue.SimpleQueue()
        self._reads: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._synchronous = ""
        self._seen_version = 0
        self._closed = False
        self._threads = [threading.Thread(target=self._write_in_groups, name="pressroom-writer", daemon=True)]
        if not self.volatile:
            self._threads.append(threading.Thread(target=self._read_in_groups, name="pressroom-reader", daemon=True))
        for thread in self._threads:
            thread.start()

    async def run[T](
        self, unit: Callable[[], Work[T]], *, name: str, durable: bool = True, after: Callable[[T], None] | None = None
    ) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._put(_Request(unit, name, durable, after, loop, future))
        return await future

    def run_from_thread[T](self, unit: Callable[[], Work[T]], *, name: str, durable: bool = True) -> T:
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._put(_Request(unit, name, durable, None, None, future))
        return future.result()

    async def read[T](self, unit: Callable[[], Work[T]]) -> T:
        if self.volatile:
            return await self.run(unit, name="read", durable=False)
        if self._closed:
            raise QueueClosed("the database is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._reads.put(_Request(unit, "read", False, None, loop, future))
        return await future

    async def changed_elsewhere(self) -> bool:
        if self.volatile:
            return False
        version = await self.read(_read_data_version)
        changed, self._seen_version = version != self._seen_version, version
        return changed

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["HeldTransaction"]:
        held = _Held(asyncio.get_running_loop())
        self._put(held)
        try:
            await held.begun
        except asyncio.CancelledError:
            held.inbox.put(_End.ROLLBACK)
            raise
        transaction = HeldTransaction(held)
        try:
            yield transaction
        except BaseException:
            held.inbox.put(_End.ROLLBACK)
            with suppress(PressroomError):
                await asyncio.shield(held.ended)
            raise
        held.inbox.put(_End.COMMIT)
        await held.ended
        for request in held.done:
            if request.after is not None:
                request.after(request.result)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._inbox.put(None)
        self._reads.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        if self._reader is not self._writer:
            self._reader.raw.close()
        self._writer.raw.close()

    def _put(self, request: "_Request | _Held") -> None:
        if self._closed:
            raise QueueClosed("the database is closed")
        self._inbox.put(request)

    def _write_in_groups(self) -> None:
        while (first := self._inbox.get()) is not None:
            group: list[_Request] = []
            held: _Held | None = None
            following: _Request | _Held | None = first
            while following is not None:
                if isinstance(following, _Held):
                    held = following
                    break
                group.append(following)
                if len(group) == GROUP_LIMIT:
                    break
                try:
                    following = self._inbox.get_nowait()
                except queue.Empty:
                    break
                if following is None:  # closing: finish this group, then see the end again
                    self._inbox.put(None)
            if group:
                self._commit_together(group)
                _answer(group)
            if held is not None:
                self._hold(held)

    def _commit_together(self, group: list[_Request]) -> None:
        """One transaction for all. If it cannot be kept, each gets one of its own: a bad neighbour spoils nobody."""
        try:
            with Translated(self.path):
                self._begin(durable=any(request.durable for request in group))
        except BaseException as refused:  # the same for all: nobody gets in by asking again
            for request in group:
                request.error = refused
            return
        try:
            with Translated(self.path):
                for request in group:
                    self._attempt(request, alone=len(group) == 1)
                self._commit([request.name for request in group if request.error is None])
        except BaseException as error:
            self._roll_back()
            if len(group) == 1:
                group[0].error = group[0].error or error
                return
            for request in group:
                request.error = request.result = None
                self._commit_together([request])

    def _attempt(self, request: _Request, *, alone: bool) -> None:
        if alone:
            request.result = self._writer.carry_out(request.unit())
            return
        self._writer.execute("SAVEPOINT unit")
        try:
            request.result = self._writer.carry_out(request.unit())
        except BaseException as error:
            if self._writer.raw.in_transaction:  # SQLite ends the whole transaction by itself when the disk is full
                self._writer.execute("ROLLBACK TO unit")
                self._writer.execute("RELEASE unit")
                request.error = translate(error, self.path) if isinstance(error, apsw.Error) else error
                return
            raise
        self._writer.execute("RELEASE unit")

    def _begin(self, *, durable: bool) -> None:
        # A claim, a heartbeat or progress that is lost with the power only means that the job runs again.
        level = "FULL" if durable else "NORMAL"
        if level != self._synchronous:
            self._writer.execute(f"PRAGMA synchronous = {level}")
            self._synchronous = level
        self._writer.execute("BEGIN IMMEDIATE")

    def _commit(self, names: list[str]) -> None:
        for name in names:
            failpoints.hit(f"{name}.before_commit")
        self._writer.execute("COMMIT")
        for name in names:
            failpoints.hit(f"{name}.after_commit")

    def _roll_back(self) -> None:
        if self._writer.raw.in_transaction:
            self._writer.execute("ROLLBACK")

    def _hold(self, held: "_Held") -> None:
        """Serve one caller's transaction until it ends or expires. Everybody else waits."""
        error: BaseException | None = None
        try:
            with Translated(self.path):
                self._begin(durable=True)
        except BaseException as refused:
            held.tell(held.begun, refused)
            return
        held.tell(held.begun)
        failpoints.hit("transaction.held")
        deadline = time.monotonic() + HOLD_LIMIT
        try:
            with Translated(self.path):
                while not isinstance(request := held.inbox.get(timeout=max(0.0, deadline - time.monotonic())), _End):
                    self._attempt(request, alone=False)
                    if request.error is None:
                        held.done.append(request)
                    held.answer(request.answer_early)
                if request is _End.COMMIT:
                    self._commit([request.name for request in held.done])
        except queue.Empty:
            error = TransactionExpired(f"the transaction was held open for {HOLD_LIMIT:g} s and was rolled back")
        except BaseException as failure:
            error = failure
        finally:
            self._roll_back()
        held.end(error)

    def _read_in_groups(self) -> None:
        while (first := self._reads.get()) is not None:
            group = [first]
            with suppress(queue.Empty):
                while len(group) < GROUP_LIMIT:
                    more = self._reads.get_nowait()
                    if more is None:  # closing: finish these, then see the end again
                        self._reads.put(None)
                        break
                    group.append(more)
            self._read_together(group)
            _answer(group)

    def _read_together(self, group: list[_Request]) -> None:
        for request in group:
            try:
                with Translated(self.path):
                    self._reader.execute("BEGIN")
                    request.result = self._reader.carry_out(request.unit())
            except BaseException as error:
                request.error = error
            finally:
                if self._reader.raw.in_transaction:
                    self._reader.execute("ROLLBACK")


def _answer(group: list[_Request]) -> None:
    """Tell everybody of a group with one wake-up per event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[_Request]] = {}
    for request in group:
        if request.loop is None:
            request.answer()
        else:
            loops.setdefault(request.loop, []).append(request)
    for loop, requests in loops.items():
        with suppress(RuntimeError):  # the loop was closed while its work was under way: nobody is left to tell
            loop.call_soon_threadsafe(_answer_all, requests)


def _answer_all(requests: list[_Request]) -> None:
    for request in requests:
        request.answer()


def _read_data_version() -> Work[int]:
    ((version,),) = yield Statement("PRAGMA data_version")
    return int(version)


class _HeldRequest(_Request):
    def answer_early(self) -> None:
        """The caller goes on inside its transaction; what follows a commit waits for the commit."""
        after, self.after = self.after, None
        self.answer()
        self.after = after


class _End(Enum):
    COMMIT = "commit"
    ROLLBACK = "rollback"


class _Held:
    """The two ends of a held transaction: the caller's event loop and the writer thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.inbox: queue.Queue[_HeldRequest | _End] = queue.Queue()
        self.begun: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.done: list[_Request] = []
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
            if isinstance(late, _HeldRequest):
                late.error = over
                self.answer(late.answer)


class HeldTransaction:
    """A `Transaction` on SQLite."""

    def __init__(self, held: _Held) -> None:
        self._held = held

    async def execute(self, sql: str, params: dict[str, Any] | None = None) -> list[Row]:
        def unit() -> Work[list[Row]]:
            return (yield Statement(sql, params))

        return await self.run(unit, name="execute")

    async def run[T](self, unit: Callable[[], Work[T]], *, name: str, after: Callable[[T], None] | None = None) -> T:
        if self._held.over is not None:
            raise self._held.over
        future: asyncio.Future[T] = self._held.loop.create_future()
        self._held.inbox.put(_HeldRequest(unit, name, True, after, self._held.loop, future))
        if self._held.over is not None:  # it ended between our look and our request
            self._held.refuse_late_ones(self._held.over)
        return await future


def _prepare_folder(path: Path) -> None:
    migrate.refuse_network_filesystem(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise StoreUnavailable(f"the folder of {path} cannot be made: {reason.strerror}") from None
