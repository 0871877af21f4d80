"""SQLite: one writer thread, because SQLite has one writer at a time, and one reader thread.

Several processes may share the file: a writer takes the lock at once (BEGIN IMMEDIATE), and the others wait for it.
"""

from contextlib import suppress
from pathlib import Path

from pressroom.clock import Clock
from pressroom.errors import StoreUnavailable
from pressroom.model import Statement, Work
from pressroom.store.engine import sqlite_migrate
from pressroom.store.engine.private_files import make_private_file, make_private_folder
from pressroom.store.engine.schema import CORE_ONLY, Schema
from pressroom.store.engine.sqlite_connection import SqliteConnection, SqliteErrors
from pressroom.store.engine.writer import ThreadedDatabase


class SQLite(ThreadedDatabase):
    """A `Database` in one file, or in memory."""

    has_concurrent_writers = False

    def __init__(self, path: str, clock: Clock, schema: Schema = CORE_ONLY) -> None:
        super().__init__()
        self.path = path
        self.volatile = path == ":memory:"
        if not self.volatile:
            _prepare_folder(Path(path))
        self._writer = SqliteConnection(path, clock, schema)
        try:
            with SqliteErrors(path):
                sqlite_migrate.bring_up_to_date(self._writer.raw, path, schema)
            self._reader = self._writer if self.volatile else SqliteConnection(path, clock, schema, readonly=True)
        except BaseException:
            self._writer.raw.close()
            raise
        self._seen_version = 0
        self._open([self._writer], [] if self.volatile else [self._reader])

    async def changed_elsewhere(self) -> bool:
        if self.volatile:
            return False
        version = await self.read(_read_data_version)
        changed, self._seen_version = version != self._seen_version, version
        return changed

    async def _close_connections(self) -> None:
        if self._reader is not self._writer:
            self._reader.raw.close()
        self._writer.raw.close()


def _read_data_version() -> Work[int]:
    ((version,),) = yield Statement("PRAGMA data_version")
    return int(version)


def _prepare_folder(path: Path) -> None:
    sqlite_migrate.refuse_network_filesystem(path)
    try:
        make_private_folder(path.parent)
    except OSError as reason:
        raise StoreUnavailable(f"the folder of {path} cannot be made: {reason.strerror}") from None
    with suppress(OSError):  # SQLite says better what is wrong with it
        make_private_file(path)
