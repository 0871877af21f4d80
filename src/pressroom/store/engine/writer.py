"""A writer thread owns one connection and commits in groups.

Every unit of work that waits joins the next transaction, under a savepoint of its own, and is answered after the commit. A
durable submit or settle so costs a share of a commit instead of one each. Reads go to reader threads (`reader.py`).
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
from pressroom.model import Row, SingleRoundTrip, Work
from pressroom.store.engine.reader import ReadConnection, ReaderThread, ReadInbox
from pressroom.store.engine.transactions import CallerTransaction, OpenTransaction, TransactionEnd, TransactionRequest
from pressroom.store.engine.work_requests import GROUP_LIMIT, WorkRequest, resolve_group

HOLD_LIMIT = 5.0  # a transaction held open stops every other writer; five seconds is long for a few statements


class WriteConnection(Protocol):
    """A connection as a writer thread needs it. `translating_errors` maps the database's errors to ours."""

    def begin(self, *, durable: bool, shared_lock: bool, held: bool = False) -> None:
        """`held`: a caller may take time between two statements."""
        ...

    def run_work[T](self, work: Work[T]) -> T: ...

    @property
    def single_round_trip(self) -> Callable[[SingleRoundTrip, bool], list[Row]] | None:
        """Begin, execute and commit one statement in one message, under the shared lock; the second argument: durably."""
        ...

    def savepoint(self) -> None:
        """What a unit does from here on can be undone alone."""
        ...

    def rollback_to_savepoint(self) -> bool:
        """False if the whole transaction is gone."""
        ...

    def release_savepoint(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None:
        """In any state: afterwards there is no transaction."""
        ...

    @property
    def lost(self) -> bool:
        """Whether the connection is gone, so that the outcome of the transaction is unknown."""
        ...

    def translating_errors(self) -> AbstractContextManager[None]: ...


type Inbox = queue.SimpleQueue[WorkRequest | OpenTransaction | None]


class WriterThread:
    def __init__(self, connection: WriteConnection, name: str) -> None:
        self.inbox: Inbox = queue.SimpleQueue()
        self._connection = connection
        self._next: WorkRequest | OpenTransaction | None = None
        self._busy = False
        self.thread = threading.Thread(target=self._write_in_groups, name=name, daemon=True)
        self.thread.start()

    @property
    def idle(self) -> bool:
        """Whether a request put into the inbox now would start at once. It may change at any moment."""
        return not self._busy and self.inbox.empty()

    def _write_in_groups(self) -> None:
        while (first := self._next or self.inbox.get()) is not None:
            self._busy, self._next = True, None
            group: list[WorkRequest] = []
            held: OpenTransaction | None = None
            following: WorkRequest | OpenTransaction | None = first
            while following is not None:
                if isinstance(following, OpenTransaction):
                    held = following
                    break
                if group and following.shared_lock != group[0].shared_lock:
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
                resolve_group(group)
            if held is not None:
                self._serve_transaction(held)
            self._busy = False

    def _commit_together(self, group: list[WorkRequest]) -> None:
        """One transaction for all. If it fails, each request gets one of its own: a bad unit must not fail its neighbours."""
        if len(group) == 1 and group[0].shared_lock and self._commit_in_one_round_trip(group[0]):
            return
        try:
            with self._connection.translating_errors():
                self._connection.begin(durable=any(request.durable for request in group), shared_lock=group[0].shared_lock)
        except BaseException as refused:  # the same for all: no request would fare better alone
            for request in group:
                request.error = refused
            return
        try:
            with self._connection.translating_errors():
                for request in group:
                    self._run_request(request, alone=len(group) == 1)
                committed = [request.name for request in group if request.error is None]
                self._commit(committed)
            _hit_after_commit(committed)
        except BaseException as error:
            self._connection.rollback()
            if len(group) == 1 or self._connection.lost:  # it may be committed: to do it again could do it twice
                for request in group:
                    request.error = request.error or error
                return
            for request in group:
                request.error = request.result = None
                self._commit_together([request])

    def _commit_in_one_round_trip(self, request: WorkRequest) -> bool:
        """Whether the unit consisted of one statement, and has been committed."""
        send = self._connection.single_round_trip
        if send is None:
            return False
        try:
            work = request.unit()
            first = next(work, None)
        except BaseException as error:
            request.error = error
            return True
        if not isinstance(first, SingleRoundTrip):
            return False
        try:
            failpoints.hit(f"{request.name}.before_commit")
            with self._connection.translating_errors():
                rows = send(first, request.durable)
            failpoints.hit(f"{request.name}.after_commit")
            work.send(rows)
        except StopIteration as end:
            request.result = end.value
        except BaseException as error:
            self._connection.rollback()
            request.error = error
        return True

    def _run_request(self, request: WorkRequest, *, alone: bool) -> None:
        if alone:
            request.result = self._connection.run_work(request.unit())
            return
        self._connection.savepoint()
        try:
            with self._connection.translating_errors():
                request.result = self._connection.run_work(request.unit())
        except BaseException as error:
            if not self._connection.rollback_to_savepoint():
                raise
            request.error = error
            return
        self._connection.release_savepoint()

    def _commit(self, names: list[str]) -> None:
        for name in names:
            failpoints.hit(f"{name}.before_commit")
        self._connection.commit()

    def _serve_transaction(self, transaction: "OpenTransaction") -> None:
        """Serve one caller's transaction until it ends or expires. Other requests wait."""
        error: BaseException | None = None
        try:
            with self._connection.translating_errors():
                self._connection.begin(durable=True, shared_lock=False, held=True)
        except BaseException as refused:
            transaction.settle_future(transaction.begun, refused)
            return
        transaction.settle_future(transaction.begun)
        failpoints.hit("transaction.held")
        deadline = time.monotonic() + HOLD_LIMIT
        try:
            with self._connection.translating_errors():
                while not isinstance(
                    request := transaction.inbox.get(timeout=max(0.0, deadline - time.monotonic())), TransactionEnd
                ):
                    self._run_in_transaction(request, transaction)
                    if request.error is None:
                        transaction.done.append(request)
                    transaction.call_in_loop(request.resolve_before_commit)
                committed = [request.name for request in transaction.done] if request is TransactionEnd.COMMIT else []
                if request is TransactionEnd.COMMIT:
                    self._commit(committed)
            _hit_after_commit(committed)
        except queue.Empty:
            error = TransactionExpired(f"the transaction was held open for {HOLD_LIMIT:g} s and was rolled back")
        except BaseException as failure:
            error = failure
        finally:
            self._connection.rollback()
        transaction.end(error)

    def _run_in_transaction(self, request: "TransactionRequest", transaction: "OpenTransaction") -> None:
        """If the connection is lost, the request is answered here: it is no longer in the inbox."""
        try:
            with self._connection.translating_errors():
                self._run_request(request, alone=False)
        except BaseException as lost:
            request.error = lost
            transaction.call_in_loop(request.resolve)
            raise


def _hit_after_commit(names: list[str]) -> None:
    for name in names:
        failpoints.hit(f"{name}.after_commit")


class ThreadedDatabase(ABC):
    """A `Database` made of writer and reader threads. Subclasses open the connections."""

    def __init__(self) -> None:
        self._reads: ReadInbox = queue.SimpleQueue()
        self._writers: list[WriterThread] = []
        self._readers: list[ReaderThread] = []
        self._closed = False

    def _open(self, writers: Sequence[WriteConnection], readers: Sequence[ReadConnection]) -> None:
        self._writers = [WriterThread(connection, "pressroom-writer") for connection in writers]
        self._readers = [ReaderThread(connection, self._reads) for connection in readers]

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for writer in self._writers:
            writer.inbox.put(None)
        self._reads.put(None)
        for thread in [writer.thread for writer in self._writers] + [reader.thread for reader in self._readers]:
            await asyncio.to_thread(thread.join)
        await self._close_connections()

    @abstractmethod
    async def _close_connections(self) -> None:
        """Called once the threads have ended."""

    async def run[T](
        self,
        unit: Callable[[], Work[T]],
        *,
        name: str,
        durable: bool = True,
        shared_lock: bool = False,
        after: Callable[[T], None] | None = None,
    ) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._enqueue(WorkRequest(unit, name, durable, after, loop, future, shared_lock))
        return await future

    def run_from_thread[T](
        self, unit: Callable[[], Work[T]], *, name: str, durable: bool = True, shared_lock: bool = False
    ) -> T:
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._enqueue(WorkRequest(unit, name, durable, None, None, future, shared_lock))
        return future.result()

    async def read[T](self, unit: Callable[[], Work[T]]) -> T:
        if not self._readers:  # in memory, where there is one connection
            return await self.run(unit, name="read", durable=False)
        if self._closed:
            raise QueueClosed("the database is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._reads.put(WorkRequest(unit, "read", False, None, loop, future))
        return await future

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[CallerTransaction]:
        held = OpenTransaction(asyncio.get_running_loop())
        self._enqueue(held)
        try:
            await held.begun
        except asyncio.CancelledError:
            held.inbox.put(TransactionEnd.ROLLBACK)
            raise
        transaction = CallerTransaction(held)
        try:
            yield transaction
        except BaseException:
            held.inbox.put(TransactionEnd.ROLLBACK)
            with suppress(PressroomError):
                await asyncio.shield(held.ended)
            raise
        held.inbox.put(TransactionEnd.COMMIT)
        await held.ended
        for request in held.done:
            if request.after is not None:
                request.after(request.result)

    def _enqueue(self, request: WorkRequest | OpenTransaction) -> None:
        if self._closed:
            raise QueueClosed("the database is closed")
        self._writer_for(request).inbox.put(request)

    def _writer_for(self, request: WorkRequest | OpenTransaction) -> WriterThread:  # noqa: ARG002
        return self._writers[0]
