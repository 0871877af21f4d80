"""Looking after a PostgreSQL database: what state it is in, without changing it."""

from collections.abc import Iterator
from contextlib import closing

import psycopg

from pressroom.clock import SystemClock
from pressroom.config import mask_password
from pressroom.errors import PressroomError
from pressroom.store.engine import fsck, postgres_migrate
from pressroom.store.engine.fsck import Violation
from pressroom.store.engine.health import HealthFinding
from pressroom.store.engine.migrations import Migration
from pressroom.store.engine.postgres_connection import CONNECT_TIMEOUT, PostgresConnection
from pressroom.store.engine.postgres_errors import PostgresErrors
from pressroom.store.engine.python_health import examine_python
from pressroom.store.engine.schema import Schema

OLDEST_SERVER = 140000


def examine(url: str, schema: Schema) -> list[HealthFinding]:
    python = examine_python()
    return [python, *_server_findings(url, schema)]


def _server_findings(url: str, schema: Schema) -> Iterator[HealthFinding]:
    try:
        with PostgresErrors(url), psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_TIMEOUT) as connection:
            missing = postgres_migrate.pending(connection, url, schema)
            version = connection.info.server_version
            fsync = _read_setting(connection, "fsync")
    except PressroomError as problem:
        yield HealthFinding("database", False, str(problem), "see docs/errors.md, " + problem.code, code=problem.code)
        return
    yield HealthFinding("database", True, mask_password(url))
    yield HealthFinding(
        "postgresql", version >= OLDEST_SERVER, f"{version // 10000}.{version % 10000}", "use PostgreSQL 14 or newer"
    )
    yield HealthFinding("fsync", fsync == "on", fsync, "turn fsync on; without it a power failure loses accepted jobs")
    names = ", ".join(map(str, missing))
    yield HealthFinding("schema", not missing, f"{names} to apply" if missing else "up to date", "run `pressroom migrate`")


def _read_setting(connection: "psycopg.Connection[tuple[object, ...]]", name: str) -> str:
    row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
    return str(row[0]) if row else ""


def audit(url: str, schema: Schema) -> list[Violation]:
    """Test every invariant, in a transaction that cannot write."""
    connection = PostgresConnection(url, SystemClock(), schema, readonly=True)
    with closing(connection):
        return connection.read(lambda: fsck.audit("postgres", schema))


def pending_migrations(url: str, schema: Schema) -> list[Migration]:
    with PostgresErrors(url), psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_TIMEOUT) as connection:
        return postgres_migrate.pending(connection, url, schema)
