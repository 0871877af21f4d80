"""Applying migrations to an SQLite file, each once and whole."""

import re
from pathlib import Path

import apsw

from pressroom import failpoints
from pressroom.errors import NotADatabase, UnsafeFilesystem
from pressroom.store.engine import promoted_mark
from pressroom.store.engine.migrations import Applied, Migration, from_shared_sequence, migrations, pending_migrations
from pressroom.store.engine.schema import CORE_ONLY, Schema

_LEDGER = """
CREATE TABLE IF NOT EXISTS pressroom_migration (
    app          TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    sha256       TEXT    NOT NULL,
    date_applied INTEGER NOT NULL,
    PRIMARY KEY (app, number)
) STRICT, WITHOUT ROWID
"""
_RECORD = "INSERT INTO pressroom_migration VALUES (?, ?, ?, ?, unixepoch() * 1000)"

_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "fuse.s3fs", "fuse.glusterfs", "ceph", "lustre"}
)


def bring_up_to_date(connection: apsw.Connection, path: str, schema: Schema = CORE_ONLY) -> list[Migration]:
    """Apply what is missing, in one transaction; a crash half way leaves the database as it was. Returns what was applied."""
    if not pending(connection, path, schema) and not _has_old_ledger(connection):
        return []
    connection.execute("BEGIN IMMEDIATE")
    try:
        missing = pending(connection, path, schema)  # another process may have been quicker
        _replace_old_ledger(connection, schema)
        connection.execute(_LEDGER)
        for migration in missing:
            _apply(connection, migration, path)
        failpoints.hit("migrate.before_commit")
        connection.execute("COMMIT")
        failpoints.hit("migrate.after_commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return missing


def pending(connection: apsw.Connection, path: str, schema: Schema = CORE_ONLY) -> list[Migration]:
    promoted_mark.refuse_if_promoted(connection, path)
    return pending_migrations("sqlite", schema, applied(connection), path)


def applied(connection: apsw.Connection) -> Applied:
    columns = _ledger_columns(connection)
    if not columns:
        return {}
    if "app" not in columns:
        return from_shared_sequence(
            "sqlite", (number for (number,) in connection.execute("SELECT number FROM pressroom_migration"))
        )
    rows = connection.execute("SELECT app, number, sha256 FROM pressroom_migration")
    return {(app, number): sha256 for app, number, sha256 in rows}


def _ledger_columns(connection: apsw.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM pragma_table_info('pressroom_migration')")}


def _has_old_ledger(connection: apsw.Connection) -> bool:
    columns = _ledger_columns(connection)
    return bool(columns) and "app" not in columns


def _replace_old_ledger(connection: apsw.Connection, schema: Schema) -> None:
    if not _has_old_ledger(connection):
        return
    had = applied(connection)
    connection.execute("DROP TABLE pressroom_migration")
    connection.execute(_LEDGER)
    known = {migration.key: migration for migration in migrations("sqlite", schema)}
    for app, number in had:
        if migration := known.get((app, number)):
            _record(connection, migration)
        else:  # of an app that is not in use here
            connection.execute(_RECORD, (app, number, "", ""))


def _apply(connection: apsw.Connection, migration: Migration, path: str) -> None:
    try:
        connection.execute(migration.sql)
    except apsw.SQLError as reason:
        raise NotADatabase(f"{path} cannot take Pressroom's tables: {reason}") from reason
    _record(connection, migration)


def _record(connection: apsw.Connection, migration: Migration) -> None:
    connection.execute(_RECORD, (migration.app, migration.number, migration.name, migration.sha256))


def refuse_network_filesystem(path: Path) -> None:
    """SQLite's locks do not hold across a network filesystem; two machines would spoil the file."""
    kind = _filesystem_of(path)
    if kind in _NETWORK:
        raise UnsafeFilesystem(f"{path} is on {kind}, where SQLite's locks do not hold; use a local disk")


def _filesystem_of(path: Path, mountinfo: Path = Path("/proc/self/mountinfo")) -> str | None:
    try:
        mounts = mountinfo.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return None  # not Linux: nothing to go by
    place = str(path.absolute())
    best, kind = "", None
    for line in filter(None, mounts):
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), left.split(" ")[4])  # a space is written \040
        if (place == point or place.startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, right.split()[0]
    return kind
