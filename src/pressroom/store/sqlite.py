"""SQLite: one lane, because SQLite has one writer, and a reader beside it.

Several processes may share the file: whoever writes takes the lock at once (BEGIN IMMEDIATE) and the others wait for it.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pressroom.clock import Clock
from pressroom.errors import QueueClosed, StoreUnavailable
from pressroom.model import Statement, Work
from pressroom.store import migrate
from pressroom.store.lane import GROUP_LIMIT, Desk, Lane, Request, answer
from pressroom.store.sqlite_connection import Connection, Translated


class SQLite(Desk):
    """A `Database` in one file, or in memory."""

    crowded = False

    def __init__(self, path: str, clock: Clock) -> None:
        super().__init__()
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
        self._reads: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._seen_version = 0
        self._threads = [Lane(self._writer, self._inbox, "pressroom-writer").thread]
        if not self.volatile:
            reader = threading.Thread(target=self._read_in_groups, name="pressroom-reader", daemon=True)
            reader.start()
            self._threads.append(reader)

    async def read[T](self, unit: Callable[[], Work[T]]) -> T:
        if self.volatile:
            return await self.run(unit, name="read", durable=False)
        if self._closed:
            raise QueueClosed("the database is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._reads.put(Request(unit, "read", False, None, loop, future))
        return await future

    async def changed_elsewhere(self) -> bool:
        if self.volatile:
            return False
        version = await self.read(_read_data_version)
        changed, self._seen_version = version != self._seen_version, version
        return changed

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
            answer(group)

    def _read_together(self, group: list[Request]) -> None:
        for request in group:
            try:
                with Translated(self.path):
                    self._reader.execute("BEGIN")
                    request.result = self._reader.carry_out(request.unit())
            except BaseException as error:
                request.error = error
            finally:
                self._reader.roll_back()


def _read_data_version() -> Work[int]:
    ((version,),) = yield Statement("PRAGMA data_version")
    return int(version)


def _prepare_folder(path: Path) -> None:
    migrate.refuse_network_filesystem(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise StoreUnavailable(f"the folder of {path} cannot be made: {reason.strerror}") from None
