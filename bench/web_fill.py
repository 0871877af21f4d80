"""Databases for the bench of the pages: made in bulk, kept under .cache, and made anew when their tables or rows change."""

import hashlib
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import batched
from pathlib import Path

import apsw
import psycopg
from psycopg import sql

from bench import place, web_rows
from bench.figure import say
from bench.web_rows import Rows, Table
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.clock import SystemClock
from pressroom.store.engine import postgres_migrate, sqlite_migrate
from pressroom.store.engine.postgres_connection import SCHEMA
from pressroom.store.engine.sqlite_connection import SqliteConnection
from tests import postgres

KEPT = place.ROOT / ".cache" / "bench-web"
MIGRATIONS = place.ROOT / "src" / "pressroom" / "store" / "migrations"
BATCH = 20_000


@dataclass(frozen=True)
class Filled:
    """A database, and the moment at which its week ends: whoever serves it sets the clock back to then."""

    url: str
    jobs: int
    now: int
    made: bool = False

    @property
    def rows(self) -> Rows:
        return Rows(self.jobs, self.now)

    @property
    def clock_offset(self) -> float:
        return (self.now - time.time_ns() // 1_000_000) / 1000


def sqlite(jobs: int) -> Filled:
    folder = KEPT / f"sqlite-{jobs}"
    url = f"sqlite:///{folder / 'press.db'}"
    if (now := _kept(folder, _stamp("sqlite"))) is not None:
        return Filled(url, jobs, now)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    now = SystemClock().now_ms()
    with _told(f"{jobs:,} jobs on SQLite"), closing(SqliteConnection(str(folder / "press.db"), SystemClock()).raw) as raw:
        sqlite_migrate.bring_up_to_date(raw, str(folder / "press.db"), BUILT_IN_SCHEMA)
        _fill_sqlite(raw, Rows(jobs, now))
    _keep(folder, _stamp("sqlite"), now)
    return Filled(url, jobs, now, made=True)


@contextmanager
def on_postgres(*sizes: int) -> Iterator[list[Filled]]:
    """One server, whose databases are kept."""
    folder = KEPT / "postgres"
    stamp = _stamp("postgres") + str(sizes)
    now = _kept(folder, stamp)
    if now is None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    # The usual cache of 128 MB holds a fifth of it; a server with a million jobs has more.
    with postgres.server(folder, "shared_buffers=1GB", "max_wal_size=4GB") as server:
        if now is None:
            now = SystemClock().now_ms()
            for jobs in sizes:
                with _told(f"{jobs:,} jobs on PostgreSQL"):
                    _fill_postgres(server, f"jobs_{jobs}", Rows(jobs, now))
            _keep(folder, stamp, now)
        yield [Filled(postgres.address_of(server, f"jobs_{jobs}"), jobs, now) for jobs in sizes]


def _fill_sqlite(raw: apsw.Connection, rows: Rows) -> None:
    """Without triggers and indices, which are made again at the end."""
    raw.execute("PRAGMA foreign_keys = OFF")
    raw.execute("PRAGMA synchronous = OFF")
    raw.execute("PRAGMA cache_size = -400000")
    made = [*raw.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'index') AND sql IS NOT NULL")]
    for type, name, _ in made:
        raw.execute(f'DROP {type} "{name}"')
    for table in rows.tables():
        places = ", ".join("?" * (table.columns.count(",") + 1))
        insert = f"INSERT OR REPLACE INTO {table.name} ({table.columns}) VALUES ({places})"
        for some in batched(table.rows, BATCH):
            with raw:
                raw.executemany(insert, some)
    for _, _, text in made:
        raw.execute(text)
    raw.execute("UPDATE sequence SET value = ?", (rows.jobs,))
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _fill_postgres(server: str, name: str, rows: Rows) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    url = postgres.address_of(server, name)
    postgres_migrate.bring_up_to_date(url, BUILT_IN_SCHEMA)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(SCHEMA)))
        connection.execute("SET session_replication_role = replica")  # neither triggers nor foreign keys
        connection.execute("SET maintenance_work_mem = '512MB'")
        dropped = _drop_indices(connection)
        for table in rows.tables():
            _copy(connection, table)
        for text in dropped:
            connection.execute(text.encode())
        connection.execute("SELECT setval('job_number', %s)", (rows.jobs,))
        connection.execute("VACUUM ANALYZE")


def _drop_indices(connection: "psycopg.Connection[psycopg.rows.TupleRow]") -> list[str]:
    """All but those of a key. Returns how to make them again."""
    dropped = []
    for name, text in connection.execute("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()"):
        with suppress(psycopg.errors.DependentObjectsStillExist):
            connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
            dropped.append(text)
    return dropped


def _copy(connection: "psycopg.Connection[psycopg.rows.TupleRow]", table: Table) -> None:
    statement = f"COPY {table.name} ({table.columns}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for row in table.rows:
            copy.write_row(row)


def _stamp(backend: str) -> str:
    texts = sorted((MIGRATIONS / backend).glob("*.sql"))
    return f"{hashlib.sha256(b''.join(text.read_bytes() for text in texts)).hexdigest()[:16]} {web_rows.EDITION}"


def _kept(folder: Path, stamp: str) -> int | None:
    try:
        kept = json.loads((folder / "stamp.json").read_text())
    except (OSError, ValueError):
        return None
    return int(kept["now"]) if kept["stamp"] == stamp else None


def _keep(folder: Path, stamp: str, now: int) -> None:
    (folder / "stamp.json").write_text(json.dumps({"stamp": stamp, "now": now}))


@contextmanager
def _told(what: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    say(f"made {what} in {time.monotonic() - started:.0f} s; they are kept in {KEPT.relative_to(place.ROOT)}")
