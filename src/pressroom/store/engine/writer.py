"""A lane: one thread that owns a writing connection and commits in groups.

Everything that waits joins the next transaction, each unit under a savepoint of its own, and is answered after the
commit. A durable submit or settle so costs a share of a commit instead of one each. Beside the lanes are readers, for those
who only look.
"""

import asyncio
import concurrent.futures
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from typing import Protocol

from pressroom import failpoints
from pressroom.errors import PressroomError, QueueClosed, TransactionExpired
from pressroom.model import AtOnce, Row, Work
from pressroom.store.engine.reader import Reader, Reading, Reads
from pressroom.store.engine.transactions import End, Held, HeldRequest, HeldTransaction
from pressroom.store.engine.work_requests import GROUP_LIMIT, Request, answer

HOLD_LIMIT = 5.0  # a transaction held open stops every other writer; five seconds is long for a few statements


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


type Inbox = queue.SimpleQueue[Request | Held | None]


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
        try:
            work = request.unit()
            first = next(work, None)
        except BaseException as error:
            request.error = error
            return True
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
