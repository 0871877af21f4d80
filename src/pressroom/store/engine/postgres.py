"""PostgreSQL: lanes that commit in groups, readers beside them, and one connection that listens.

Whoever writes holds a lock of the whole database, but most hold it together: those that touch only rows that they have locked
or made (`beside`). What must look before it writes, so that two of it may not overlap, holds it alone for its few statements.
A process has one lane, so that what it does happens in the order in which it did it; and a second one for the turns of its
worker, which have no order among themselves, so that one is carried out while the other waits for the disk.
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
from pressroom.store.engine.postgres_connection import CHANNEL, CONNECT_TIMEOUT, Connection, is_pooled
from pressroom.store.engine.schema import CORE_ONLY, Schema
from pressroom.store.engine.transactions import Held
from pressroom.store.engine.work_requests import Request
from pressroom.store.engine.writer import Desk, Lane

log = logging.getLogger("pressroom.store")

WRITERS = 2
READERS = 2
AGAIN = 0.5  # seconds before a server that is gone is tried again
ASKED_AT_LEAST_EVERY = 1.0  # seconds; a notice may be lost with its connection


class Postgres(Desk):
    """A `Database` on a server. `heard` is called, from a thread, when another process has committed something."""

    crowded = True
    volatile = False

    def __init__(self, url: str, clock: Clock, heard: Callable[[], None] | None = None, schema: Schema = CORE_ONLY) -> None:
        super().__init__()
        postgres_migrate.bring_up_to_date(url, schema)
        self._connections: list[Connection] = []
        try:
            for number in range(WRITERS + READERS):
                self._connections.append(Connection(url, clock, schema, readonly=number >= WRITERS))
        except BaseException:
            self._close_connections()
            raise
        writers, readers = self._connections[:WRITERS], self._connections[WRITERS:]
        self._ear = Ear(url, heard, lambda: {writer.raw.info.backend_pid for writer in writers if not writer.lost})
        self._asked_at = 0.0
        self._open(writers, readers)

    def _lane_for(self, request: Request | Held) -> Lane:
        first, second = self._lanes
        is_a_turn = isinstance(request, Request) and request.beside and request.name == "turn"
        return second if is_a_turn and second.idle else first

    async def changed_elsewhere(self) -> bool:
        now = time.monotonic()
        if self._ear.has_heard() or now - self._asked_at > ASKED_AT_LEAST_EVERY:
            self._asked_at = now
            return True
        return False

    async def _hang_up(self) -> None:
        await asyncio.to_thread(self._ear.close)
        self._close_connections()

    def _close_connections(self) -> None:
        for connection in self._connections:
            connection.close()


class Ear:
    """Listens for notices of commits, on a connection and a thread of its own. Deaf for a while is no harm: somebody polls.

    `mouths` says which server processes speak for us: what we did ourselves we know already.
    """

    def __init__(self, url: str, heard: Callable[[], None] | None, mouths: Callable[[], set[int]]) -> None:
        self._url = url
        self._tell = heard
        self._mouths = mouths
        self._heard = threading.Event()
        self._closing = threading.Event()
        self._bell, self._rope = os.pipe()  # wakes the thread when it is to end
        self._thread = threading.Thread(target=self._listen, name="pressroom-listener", daemon=True)
        self._thread.start()

    def has_heard(self) -> bool:
        heard = self._heard.is_set()
        self._heard.clear()
        return heard

    def close(self) -> None:
        self._closing.set()
        os.write(self._rope, b"!")
        self._thread.join()
        os.close(self._bell)
        os.close(self._rope)

    def _listen(self) -> None:
        deaf = False
        while not self._closing.is_set():
            try:
                with psycopg.connect(self._url, autocommit=True, connect_timeout=CONNECT_TIMEOUT) as raw:
                    if is_pooled(raw):
                        log.info("behind a pooler, where LISTEN does not work: changes of others are polled for every second")
                        break
                    raw.execute(f"LISTEN {CHANNEL}")
                    deaf = False
                    self._note()  # what happened while we were deaf
                    while not self._closing.is_set():
                        select.select([raw.fileno(), self._bell], [], [])
                        for notice in raw.notifies(timeout=0):
                            if notice.pid not in self._mouths():
                                self._note()
            except psycopg.Error as reason:
                log.log(logging.DEBUG if deaf else logging.WARNING, "listening for news failed, trying again: %s", reason)
                deaf = True
                self._closing.wait(AGAIN)

    def _note(self) -> None:
        self._heard.set()
        if self._tell is not None:
            self._tell()
