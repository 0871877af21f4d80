"""Looking after an SQLite file: what state it is in, without changing it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw

from pressroom.clock import SystemClock
from pressroom.errors import PressroomError
from pressroom.store.engine import fsck, migrations, sqlite_migrate
from pressroom.store.engine.fsck import Violation
from pressroom.store.engine.health import HealthFinding
from pressroom.store.engine.python_health import examine_python
from pressroom.store.engine.schema import Schema
from pressroom.store.engine.sqlite_connection import SqliteConnection, SqliteErrors

OLDEST_SQLITE = (3, 51, 3)  # has the fix of the WAL-reset bug, which could lose commits
LOW_SPACE = 256 * 1024 * 1024


def examine(path: str, schema: Schema) -> list[HealthFinding]:
    findings = [*_version_findings()]
    if path == ":memory:":
        return [*findings, HealthFinding("database", True, "in memory: it ends with the process")]
    return [*findings, *_folder_findings(Path(path)), *_file_findings(path, schema)]


def _version_findings() -> Iterator[HealthFinding]:
    yield examine_python()
    version = apsw.sqlite_lib_version()
    new_enough = tuple(int(part) for part in version.split(".")) >= OLDEST_SQLITE
    yield HealthFinding("sqlite", new_enough, f"{version} (apsw {apsw.apsw_version()})", "upgrade apsw")


def _folder_findings(path: Path) -> Iterator[HealthFinding]:
    folder = path.parent.absolute()
    while not folder.exists():
        folder = folder.parent
    writable = os.access(folder, os.W_OK)
    yield HealthFinding("folder", writable, str(folder), f"let this user write to {folder}")
    try:
        sqlite_migrate.refuse_network_filesystem(path)
        yield HealthFinding("filesystem", True, "local")
    except PressroomError as unsafe:
        yield HealthFinding("filesystem", False, str(unsafe), "move the database to a local disk")
    free = shutil.disk_usage(folder).free
    yield HealthFinding("disk space", free >= LOW_SPACE, f"{free / 1024**2:,.0f} MiB free", "free some space")


def _file_findings(path: str, schema: Schema) -> Iterator[HealthFinding]:
    if not Path(path).exists():
        yield HealthFinding("database", True, f"{path} does not exist yet; it is made at the first start")
        return
    yield HealthFinding("database", os.access(path, os.W_OK), path, f"let this user write to {path}")
    try:
        with SqliteErrors(path), closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            ((mode,),) = connection.execute("PRAGMA journal_mode").fetchall()
            missing = sqlite_migrate.pending(connection, path, schema)
            ((damage,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    except PressroomError as problem:
        yield HealthFinding("schema", False, str(problem), "see docs/errors.md, " + problem.code)
        return
    yield HealthFinding("journal", mode == "wal", str(mode), "start Pressroom once on it; it switches to WAL")
    names = ", ".join(map(str, missing))
    yield HealthFinding("schema", not missing, f"{names} to apply" if missing else "up to date", "run `pressroom migrate`")
    yield HealthFinding("integrity", damage == "ok", str(damage), "restore a backup; `pressroom fsck` tells more")


def audit(path: str, schema: Schema) -> list[Violation]:
    """Test every invariant, on a connection that cannot write."""
    connection = SqliteConnection(path, SystemClock(), schema, readonly=True)
    with closing(connection.raw), SqliteErrors(path):
        connection.execute("BEGIN")
        return connection.run_work(fsck.audit("sqlite", schema))


def pending_migrations(path: str, schema: Schema) -> list[migrations.Migration]:
    if path == ":memory:" or not Path(path).exists():
        return migrations.migrations("sqlite", schema)
    with SqliteErrors(path), closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return sqlite_migrate.pending(connection, path, schema)
