"""One connection to an SQLite file, with our settings, our clock and our errors."""

import random
import time
from collections.abc import Callable
from typing import Any

import apsw

from pressroom.clock import Clock
from pressroom.errors import DatabasePromoted, NotADatabase, StoreBusy, StoreFull, StoreReadOnly, StoreUnavailable
from pressroom.model import Row, Work
from pressroom.store.engine import promoted_mark
from pressroom.store.engine.schema import CORE_ONLY, Schema
from pressroom.store.engine.statements import load, own_sql

BUSY_TIMEOUT = 5.0
WAL_LIMIT = 64 * 1024 * 1024


class SqliteConnection:
    single_round_trip = None  # in process: there is no round trip to save

    def __init__(self, path: str, clock: Clock, schema: Schema = CORE_ONLY, *, readonly: bool = False) -> None:
        flags = apsw.SQLITE_OPEN_URI | (
            apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        )
        self._path = path
        self._synchronous = ""
        self._texts = load("sqlite", schema)
        with SqliteErrors(path):
            self.raw = apsw.Connection(path, flags=flags, statementcachesize=200)
            try:
                self._prepare(clock, readonly=readonly)
            except BaseException:
                self.raw.close()
                raise

    def _prepare(self, clock: Clock, *, readonly: bool) -> None:
        self.raw.set_busy_handler(_BusyHandler())
        # SQLite with STAT4 otherwise plans a statement anew whenever a value is bound: four times the cost of a claim's look.
        self.raw.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self.raw.create_scalar_function("now_ms", lambda *_: clock.now_ms(), 0)
        self._cursor = self.raw.cursor()
        if not readonly:
            self.execute("PRAGMA journal_mode = WAL")
            self.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT}")
            self.execute("PRAGMA wal_autocheckpoint = 4000")
        self.execute("PRAGMA foreign_keys = ON")
        self.execute("PRAGMA cache_size = -8192")  # KiB; more gains little, and a worker should not grow with the queue
        self.execute("PRAGMA temp_store = MEMORY")

    def execute(self, sql: str, params: Any = None) -> list[Row]:
        return self._cursor.execute(sql, params).fetchall()

    def run_work[T](self, work: Work[T]) -> T:
        """Feed a unit of work its statements' rows until it returns."""
        texts, run = self._texts, self._cursor.execute
        try:
            sql, params = next(work)
            while True:
                sql, params = work.send(run(texts.get(sql) or own_sql(sql), params).fetchall())
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def begin(self, *, durable: bool, shared_lock: bool, held: bool = False) -> None:  # noqa: ARG002
        # A claim, a heartbeat or progress that is lost with the power only means that the job runs again.
        level = "FULL" if durable else "NORMAL"
        if level != self._synchronous:
            self.execute(f"PRAGMA synchronous = {level}")
            self._synchronous = level
        self.execute("BEGIN IMMEDIATE")

    def read[T](self, unit: Callable[[], Work[T]]) -> T:
        try:
            with SqliteErrors(self._path):
                self.execute("BEGIN")
                return self.run_work(unit())
        finally:
            self.rollback()

    def savepoint(self) -> None:
        self.execute("SAVEPOINT unit")

    def release_savepoint(self) -> None:
        self.execute("RELEASE unit")

    def rollback_to_savepoint(self) -> bool:
        if not self.raw.in_transaction:  # SQLite ends the whole transaction by itself when the disk is full
            return False
        self.execute("ROLLBACK TO unit")
        self.execute("RELEASE unit")
        return True

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        if self.raw.in_transaction:
            self.execute("ROLLBACK")

    @property
    def lost(self) -> bool:
        return False

    def translating_errors(self) -> "SqliteErrors":
        return SqliteErrors(self._path)


class _BusyHandler:
    """Wait for another process's transaction in small, uneven steps, so that several waiters take turns."""

    def __init__(self) -> None:
        self._since = 0.0

    def __call__(self, tries: int) -> bool:
        if tries == 0:
            self._since = time.monotonic()
        if time.monotonic() - self._since > BUSY_TIMEOUT:
            return False
        time.sleep(random.uniform(0.0002, 0.002))
        return True


class SqliteErrors:
    """Turn SQLite's errors into ours. A plain class: a generator-based context manager costs more than the statement."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, apsw.Error):
            raise translate_error(error, self._path) from error


def translate_error(error: apsw.Error, path: str) -> BaseException:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(f"another process held {path} locked for {BUSY_TIMEOUT:g} s")
        case apsw.FullError():
            return StoreFull(f"the disk that holds {path} is full; nothing was written")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreReadOnly(f"{path} cannot be written to")
        case apsw.NotADBError():
            return NotADatabase(f"{path} is not an SQLite database; name another file, or move this one away")
        case apsw.CantOpenError():
            return StoreUnavailable(f"{path} cannot be opened; does its folder exist, and may this user write there?")
        case apsw.IOError():
            return StoreUnavailable(f"reading or writing {path} failed: {error}")
        case apsw.ConstraintError() if to := promoted_mark.target_in_message(str(error)):
            return DatabasePromoted(path, to)
        case apsw.CorruptError():
            return StoreUnavailable(f"{path} is damaged: {error}; restore a backup, or see `pressroom fsck`")
        case _:
            return error
