"""Numbered migrations, each applied once and whole. A database newer than the code is refused, never guessed at."""

import re
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import apsw

from pressroom import failpoints
from pressroom.errors import DatabaseTooNew, NotADatabase, UnsafeFilesystem
from pressroom.store import promoted

_LEDGER = """
CREATE TABLE IF NOT EXISTS pressroom_migration (
    number       INTEGER PRIMARY KEY,
    name         TEXT    NOT NULL,
    date_applied INTEGER NOT NULL
) STRICT
"""

_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "fuse.s3fs", "fuse.glusterfs", "ceph", "lustre"}
)


class Migration(NamedTuple):
    number: int
    name: str
    sql: str


def migrations(dialect: str) -> list[Migration]:
    found = []
    for file in (files("pressroom.store") / "migrations" / dialect).iterdir():
        if match := re.fullmatch(r"(\d{4})_(\w+)\.sql", file.name):
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return sorted(found)


def bring_up_to_date(connection: apsw.Connection, path: str) -> list[Migration]:
    """Apply what is missing, in one transaction; a crash half way leaves the database as it was. Returns what was applied."""
    if not pending(connection, path):
        return []
    connection.execute("BEGIN IMMEDIATE")
    try:
        missing = pending(connection, path)  # somebody else may have been quicker
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


def pending(connection: apsw.Connection, path: str) -> list[Migration]:
    promoted.refuse(connection, path)
    return missing_of("sqlite", applied(connection), path)


def missing_of(dialect: str, applied: set[int], path: str) -> list[Migration]:
    """The migrations that this database has not had. Raises DatabaseTooNew."""
    known = migrations(dialect)
    newest = known[-1].number
    if applied and max(applied) > newest:
        raise DatabaseTooNew(
            f"{path} was written by a newer Pressroom (schema {max(applied)}; this one knows {newest}); upgrade Pressroom"
        )
    return [migration for migration in known if migration.number not in applied]


def applied(connection: apsw.Connection) -> set[int]:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'pressroom_migration'").fetchall():
        return set()
    return {number for (number,) in connection.execute("SELECT number FROM pressroom_migration")}


def _apply(connection: apsw.Connection, migration: Migration, path: str) -> None:
    try:
        connection.execute(migration.sql)
    except apsw.SQLError as reason:
        raise NotADatabase(f"{path} cannot take Pressroom's tables: {reason}") from reason
    connection.execute("INSERT INTO pressroom_migration VALUES (?, ?, unixepoch() * 1000)", (migration.number, migration.name))


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
