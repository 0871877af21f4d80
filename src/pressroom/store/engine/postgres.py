"""PostgreSQL: writer threads that commit in groups, reader threads, and one connection that listens for commits.

A writing transaction holds an advisory lock on the whole database. Units that touch only rows which they have locked or made
hold it shared (`shared_lock`). A unit that reads before it writes, so that two must not overlap, holds it alone for its few
statements. A process has one writer thread, so that its writes are committed in the order in which they were requested; and a
second one for the turns of its worker, which have no order among themselves: one is carried out while the other waits for the
disk.
"""

import asyncio
import logging
import os
import select
import threading
import time
from collections.abc import Callable

import psycopg

from pressroom.clock import Clock
from pressroom.store.engine import postgres_migrate
from pressroom.store.engine.postgres_connection import CHANNEL, CONNECT_TIMEOUT, PostgresConnection, is_pooled
from pressroom.store.engine.schema import CORE_ONLY, Schema
from pressroom.store.engine.transactions import OpenTransaction
from pressroom.store.engine.work_requests import WorkRequest
from pressroom.store.engine.writer import ThreadedDatabase, WriterThread

log = logging.getLogger("pressroom.store")

WRITERS = 2
READERS = 2
RECONNECT_AFTER = 0.5  # seconds before a server that is gone is tried again
POLL_INTERVAL = 1.0  # seconds; a notice may be lost with its connection


class Postgres(ThreadedDatabase):
    """A `Database` on a server. `on_commit` is called, from a thread, when another process has committed something."""

    has_concurrent_writers = True
    volatile = False

    def __init__(self, url: str, clock: Clock, on_commit: Callable[[], None] | None = None, schema: Schema = CORE_ONLY) -> None:
        super().__init__()
        postgres_migrate.bring_up_to_date(url, schema)
        self._connections: list[PostgresConnection] = []
        try:
            for number in range(WRITERS + READERS):
                self._connections.append(PostgresConnection(url, clock, schema, readonly=number >= WRITERS))
        except BaseException:
            self._close_all()
            raise
        writers, readers = self._connections[:WRITERS], self._connections[WRITERS:]
        self._listener = CommitListener(
            url, on_commit, lambda: {writer.raw.info.backend_pid for writer in writers if not writer.lost}
        )
        self._polled_at = 0.0
        self._open(writers, readers)

    def _writer_for(self, request: WorkRequest | OpenTransaction) -> WriterThread:
        first, second = self._writers
        is_a_turn = isinstance(request, WorkRequest) and request.shared_lock and request.name == "turn"
        return second if is_a_turn and second.idle else first

    async def changed_elsewhere(self) -> bool:
        now = time.monotonic()
        if self._listener.consume_notification() or now - self._polled_at > POLL_INTERVAL:
            self._polled_at = now
            return True
        return False

    async def _close_connections(self) -> None:
        await asyncio.to_thread(self._listener.close)
        self._close_all()

    def _close_all(self) -> None:
        for connection in self._connections:
            connection.close()


class CommitListener:
    """Listens for notices of commits, on a connection and a thread of its own. A missed notice does no harm: workers poll too.

    `own_backend_pids` are the server processes of our own writers: their commits are known here already.
    """

    def __init__(self, url: str, on_commit: Callable[[], None] | None, own_backend_pids: Callable[[], set[int]]) -> None:
        self._url = url
        self._on_commit = on_commit
        self._own_backend_pids = own_backend_pids
        self._noticed = threading.Event()
        self._closing = threading.Event()
        self._wake_reader, self._wake_writer = os.pipe()  # wakes the thread when it is to end
        self._thread = threading.Thread(target=self._listen, name="pressroom-listener", daemon=True)
        self._thread.start()

    def consume_notification(self) -> bool:
        """Whether a commit was noticed since the last call."""
        noticed = self._noticed.is_set()
        self._noticed.clear()
        return noticed

    def close(self) -> None:
        self._closing.set()
        os.write(self._wake_writer, b"!")
        self._thread.join()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def _listen(self) -> None:
        disconnected = False
        while not self._closing.is_set():
            try:
                with psycopg.connect(self._url, autocommit=True, connect_timeout=CONNECT_TIMEOUT) as raw:
                    if is_pooled(raw):
                        log.info("behind a pooler, where LISTEN does not work: changes of others are polled for every second")
                        break
                    raw.execute(f"LISTEN {CHANNEL}")
                    disconnected = False
                    self._on_notification()  # commits while we were not listening
                    while not self._closing.is_set():
                        select.select([raw.fileno(), self._wake_reader], [], [])
                        for notice in raw.notifies(timeout=0):
                            if notice.pid not in self._own_backend_pids():
                                self._on_notification()
            except psycopg.Error as reason:
                log.log(
                    logging.DEBUG if disconnected else logging.WARNING, "listening for commits failed, trying again: %s", reason
                )
                disconnected = True
                self._closing.wait(RECONNECT_AFTER)

    def _on_notification(self) -> None:
        self._noticed.set()
        if self._on_commit is not None:
            self._on_commit()
