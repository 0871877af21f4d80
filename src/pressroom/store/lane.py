"""A lane: one thread that owns a writing connection and commits in groups.

Everything that waits joins the next transaction, each unit under a savepoint of its own, and is answered after the
commit. A durable submit or settle so costs a share of a commit instead of one each. Beside the lanes are readers, for those
who only look.
"""

import asyncio
import concurrent.futures
import logging
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from pressroom import failpoints
from pressroom.errors import PressroomError, QueueClosed, TransactionExpired
from pressroom.model import AtOnce, Row, Statement, Work

log = logging.getLogger("pressroom.store")

HOLD_LIMIT = 5.0  # a transaction held open stops every other writer; five seconds is long for a few statements
GROUP_LIMIT = 512  # beyond this a commit is shared so widely that waiting for more gains nothing


@dataclass(slots=True, eq=False)
class Request:
    """A unit of work on its way through a lane, and who hears of it."""

    unit: Callable[[], Work[Any]]
    name: str
    durable: bool
    after: Callable[[Any], None] | None
    loop: asyncio.AbstractEventLoop | None
    future: "asyncio.Future[Any] | concurrent.futures.Future[Any]"
    beside: bool = False
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


class HeldRequest(Request):
    def answer_early(self) -> None:
        """The caller goes on inside its transaction; what follows a commit waits for the commit."""
        after, self.after = self.after, None
        self.answer()
        self.after = after


class End(Enum):
    COMMIT = "commit"
    ROLLBACK = "rollback"


class Writing(Protocol):
    """A connection as a lane needs it. Every method may raise the database's own errors; `translated` turns them into ours."""

    def begin(self, *, durable: bool, beside: bool, held: bool = False) -> None:
        """`held` for a caller who may take time between two statements."""
        ...

    def carry_out[T](self, work: Work[T]) -> T: ...

    @property
    def at_once(self) -> Callable[[AtOnce, bool], list[Row]] | None:
        """Begin, carry out and commit in one go what may run beside others; durably, if the second says so."""
        ...

    def set_mark(self) -> None:
        """Where `back_to_mark` goes back to: what a unit does between the two can be undone alone."""
        ...

    def back_to_mark(self) -> bool:
        """Undo what was done since the mark. False if the whole transaction is gone."""
        ...

    def pass_mark(self) -> None: ...

    def commit(self) -> None: ...

    def roll_back(self) -> None:
        """Whatever state it is in: afterwards there is no transaction."""
        ...

    @property
    def lost(self) -> bool:
        """Whether the database can no longer be asked what became of the transaction."""
        ...

    def translated(self) -> AbstractContextManager[None]: ...


class Reading(Protocol):
    """A connection as a reader needs it."""

    def begin_reading(self) -> None:
        """From here until `roll_back` everything is as it was at one moment."""
        ...

    def carry_out[T](self, work: Work[T]) -> T: ...

    def roll_back(self) -> None: ...

    def translated(self) -> AbstractContextManager[None]: ...


type Inbox = queue.SimpleQueue[Request | Held | None]
type Reads = queue.SimpleQueue[Request | None]


class Lane:
    def __init__(self, connection: Writing, name: str) -> None:
        self.inbox: Inbox = queue.SimpleQueue()
        self._connection = connection
        self._next: Request | Held | None = None
        self._busy = False
        self.thread = threading.Thread(target=self._write_in_groups, name=name, daemon=True)
        self.thread.start()

    @property
    def idle(self) -> bool:
        """Whether somebody who comes now would be served at once, or nearly so: it may change at any moment."""
        return not self._busy and self.inbox.empty()

    def _write_in_groups(self) -> None:
        while (first := self._next or self.inbox.get()) is not None:
            self._busy, self._next = True, None
            group: list[Request] = []
            held: Held | None = None
            following: Request | Held | None = first
            while following is not None:
                if isinstance(following, Held):
                    held = following
                    break
                if group and following.beside != group[0].beside:
                    self._next = following
                    break
                group.append(following)
                if len(group) == GROUP_LIMIT:
                    break
                try:
                    following = self.inbox.get_nowait()
                except queue.Empty:
                    break
                if following is None:  # closing: finish this group, then see the end again
                    self.inbox.put(None)
            if group:
                self._commit_together(group)
                answer(group)
            if held is not None:
                self._hold(held)
            self._busy = False

    def _commit_together(self, group: list[Request]) -> None:
        """One transaction for all. If it cannot be kept, each gets one of its own: a bad neighbour spoils nobody."""
        if len(group) == 1 and group[0].beside and self._commit_at_once(group[0]):
            return
        try:
            with self._connection.translated():
                self._connection.begin(durable=any(request.durable for request in group), beside=group[0].beside)
        except BaseException as refused:  # the same for all: nobody gets in by asking again
            for request in group:
                request.error = refused
            return
        try:
            with self._connection.translated():
                for request in group:
                    self._attempt(request, alone=len(group) == 1)
                self._commit([request.name for request in group if request.error is None])
        except BaseException as error:
            self._connection.roll_back()
            if len(group) == 1 or self._connection.lost:  # it may be committed: to do it again could do it twice
                for request in group:
                    request.error = request.error or error
                return
            for request in group:
                request.error = request.result = None
                self._commit_together([request])

    def _commit_at_once(self, request: Request) -> bool:
        """Whether the unit was but one statement, and is done."""
        at_once = self._connection.at_once
        if at_once is None:
            return False
        work = request.unit()
        first = next(work, None)
        if not isinstance(first, AtOnce):
            return False
        try:
            failpoints.hit(f"{request.name}.before_commit")
            with self._connection.translated():
                rows = at_once(first, request.durable)
            failpoints.hit(f"{request.name}.after_commit")
            work.send(rows)
        except StopIteration as end:
            request.result = end.value
        except BaseException as error:
            self._connection.roll_back()
            request.error = error
        return True

    def _attempt(self, request: Request, *, alone: bool) -> None:
        if alone:
            request.result = self._connection.carry_out(request.unit())
            return
        self._connection.set_mark()
        try:
            with self._connection.translated():
                request.result = self._connection.carry_out(request.unit())
        except BaseException as error:
            if not self._connection.back_to_mark():
                raise
            request.error = error
            return
        self._connection.pass_mark()

    def _commit(self, names: list[str]) -> None:
        for name in names:
            failpoints.hit(f"{name}.before_commit")
        self._connection.commit()
        for name in names:
            failpoints.hit(f"{name}.after_commit")

    def _hold(self, held: "Held") -> None:
        """Serve one caller's transaction until it ends or expires. Everybody else waits."""
        error: BaseException | None = None
        try:
            with self._connection.translated():
                self._connection.begin(durable=True, beside=False, held=True)
        except BaseException as refused:
            held.tell(held.begun, refused)
            return
        held.tell(held.begun)
        failpoints.hit("transaction.held")
        deadline = time.monotonic() + HOLD_LIMIT
        try:
            with self._connection.translated():
                while not isinstance(request := held.inbox.get(timeout=max(0.0, deadline - time.monotonic())), End):
                    self._attempt_held(request, held)
                    if request.error is None:
                        held.done.append(request)
                    held.answer(request.answer_early)
                if request is End.COMMIT:
                    self._commit([request.name for request in held.done])
        except queue.Empty:
            error = TransactionExpired(f"the transaction was held open for {HOLD_LIMIT:g} s and was rolled back")
        except BaseException as failure:
            error = failure
        finally:
            self._connection.roll_back()
        held.end(error)

    def _attempt_held(self, request: "HeldRequest", held: "Held") -> None:
        """If the connection is lost with the transaction, whoever asked hears so: it is no longer in the inbox."""
        try:
            with self._connection.translated():
                self._attempt(request, alone=False)
        except BaseException as lost:
            request.error = lost
            held.answer(request.answer)
            raise


class Reader:
    """A thread that looks things up, each request at a moment of its own. Several may take from the same inbox."""

    def __init__(self, connection: Reading, inbox: Reads) -> None:
        self._connection = connection
        self._inbox = inbox
        self.thread = threading.Thread(target=self._read_in_groups, name="pressroom-reader", daemon=True)
        self.thread.start()

    def _read_in_groups(self) -> None:
        while (first := self._inbox.get()) is not None:
            group = [first]
            with suppress(queue.Empty):
                while len(group) < GROUP_LIMIT:
                    more = self._inbox.get_nowait()
                    if more is None:  # closing: finish these, then see the end again
                        self._inbox.put(None)
                        break
                    group.append(more)
            for request in group:
                self._read(request)
            answer(group)
        self._inbox.put(None)  # for the other readers

    def _read(self, request: Request) -> None:
        try:
            with self._connection.translated():
                self._connection.begin_reading()
                request.result = self._connection.carry_out(request.unit())
        except BaseException as error:
            request.error = error
        finally:
            self._connection.roll_back()


def answer(group: list[Request]) -> None:
    """Tell everybody of a group with one wake-up per event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[Request]] = {}
    for request in group:
        if request.loop is None:
            request.answer()
        else:
            loops.setdefault(request.loop, []).append(request)
    for loop, requests in loops.items():
        with suppress(RuntimeError):  # the loop was closed while its work was under way: nobody is left to tell
            loop.call_soon_threadsafe(_answer_all, requests)


def _answer_all(requests: list[Request]) -> None:
    for request in requests:
        request.answer()


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


class Desk(ABC):
    """What every database does with those who come: it takes their units and holds transactions open for them."""

    def __init__(self) -> None:
        self._reads: Reads = queue.SimpleQueue()
        self._lanes: list[Lane] = []
        self._readers: list[Reader] = []
        self._closed = False

    def _open(self, writers: Sequence[Writing], readers: Sequence[Reading]) -> None:
        self._lanes = [Lane(writer, "pressroom-writer") for writer in writers]
        self._readers = [Reader(reader, self._reads) for reader in readers]

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for lane in self._lanes:
            lane.inbox.put(None)
        self._reads.put(None)
        for thread in [lane.thread for lane in self._lanes] + [reader.thread for reader in self._readers]:
            await asyncio.to_thread(thread.join)
        await self._hang_up()

    @abstractmethod
    async def _hang_up(self) -> None:
        """Close the connections: nobody uses them any more."""

    async def run[T](
        self,
        unit: Callable[[], Work[T]],
        *,
        name: str,
        durable: bool = True,
        beside: bool = False,
        after: Callable[[T], None] | None = None,
    ) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._put(Request(unit, name, durable, after, loop, future, beside))
        return await future

    def run_from_thread[T](self, unit: Callable[[], Work[T]], *, name: str, durable: bool = True, beside: bool = False) -> T:
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._put(Request(unit, name, durable, None, None, future, beside))
        return future.result()

    async def read[T](self, unit: Callable[[], Work[T]]) -> T:
        if self._closed:
            raise QueueClosed("the database is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._reads.put(Request(unit, "read", False, None, loop, future))
        return await future

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[HeldTransaction]:
        held = Held(asyncio.get_running_loop())
        self._put(held)
        try:
            await held.begun
        except asyncio.CancelledError:
            held.inbox.put(End.ROLLBACK)
            raise
        transaction = HeldTransaction(held)
        try:
            yield transaction
        except BaseException:
            held.inbox.put(End.ROLLBACK)
            with suppress(PressroomError):
                await asyncio.shield(held.ended)
            raise
        held.inbox.put(End.COMMIT)
        await held.ended
        for request in held.done:
            if request.after is not None:
                request.after(request.result)

    def _put(self, request: Request | Held) -> None:
        if self._closed:
            raise QueueClosed("the database is closed")
        self._lane_for(request).inbox.put(request)

    def _lane_for(self, request: Request | Held) -> Lane:  # noqa: ARG002
        return self._lanes[0]
