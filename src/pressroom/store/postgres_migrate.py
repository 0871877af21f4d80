"""Numbered migrations on PostgreSQL, each applied once and whole, by one process at a time."""

from typing import Any, LiteralString, cast

import psycopg
from psycopg import sql

from pressroom import failpoints
from pressroom.config import masked
from pressroom.errors import NotADatabase, PrivilegesMissing
from pressroom.store.migrate import Migration, missing_of
from pressroom.store.postgres_connection import CONNECT_TIMEOUT, SCHEMA, Translated

MIGRATING = 4721004
_LEDGER: LiteralString = """
CREATE TABLE IF NOT EXISTS pressroom_migration (
    number       BIGINT PRIMARY KEY,
    name         TEXT   NOT NULL,
    date_applied BIGINT NOT NULL
)
"""


def bring_up_to_date(url: str) -> list[Migration]:
    """Apply what is missing, in one transaction; a crash half way leaves the database as it was. Returns what was applied."""
    # Nothing is prepared: behind a pooler the session is given to other clients afterwards.
    options: dict[str, Any] = {"autocommit": True, "connect_timeout": CONNECT_TIMEOUT, "prepare_threshold": None}
    with Translated(url), psycopg.connect(url, **options) as connection:
        if not pending(connection, url):
            return []
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
            missing = pending(connection, url)  # somebody else may have been quicker
            try:
                apply_to(SCHEMA, missing, connection, url)
            except psycopg.errors.InsufficientPrivilege as refused:
                raise _privileges_missing(connection, missing, url, refused) from None
            failpoints.hit("migrate.before_commit")
        failpoints.hit("migrate.after_commit")
        return missing


def apply_to(schema: str, missing: list[Migration], connection: "psycopg.Connection[tuple[object, ...]]", url: str) -> None:
    """Within a transaction of the caller's, whose search path is the schema from here on."""
    # IF NOT EXISTS alone asks for CREATE on the database also where the schema is there.
    if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is None:
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
    connection.execute(sql.SQL("SET LOCAL search_path = {}").format(sql.Identifier(schema)))
    connection.execute(_LEDGER)
    for migration in missing:
        _apply(connection, migration, url)


def _privileges_missing(
    connection: "psycopg.Connection[tuple[object, ...]]", missing: list[Migration], url: str, refused: psycopg.Error
) -> PrivilegesMissing:
    """Names roles and databases as they are to be written in SQL."""
    info = connection.info
    role, database = (sql.Identifier(name).as_string(connection) for name in (info.user, info.dbname))
    return PrivilegesMissing(
        f"{masked(url)} has {len(missing)} migrations to apply, and its role may not: {refused.diag.message_primary}; run "
        f"`pressroom migrate` as the role that owns the schema {SCHEMA}, or for a new database "
        f"GRANT CREATE ON DATABASE {database} TO {role} (docs/deployment.md, Roles on PostgreSQL)"
    )


def pending(connection: "psycopg.Connection[tuple[object, ...]]", url: str) -> list[Migration]:
    return missing_of("postgres", _applied(connection), masked(url))


def _applied(connection: "psycopg.Connection[tuple[object, ...]]") -> set[int]:
    ledger = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.pressroom_migration",)).fetchone()
    if ledger is None or ledger[0] is None:
        return set()
    rows = connection.execute(sql.SQL("SELECT number FROM {}.pressroom_migration").format(sql.Identifier(SCHEMA)))
    return {cast(int, number) for (number,) in rows}


def _apply(connection: "psycopg.Connection[tuple[object, ...]]", migration: Migration, url: str) -> None:
    try:
        connection.execute(migration.sql)
    except psycopg.errors.InsufficientPrivilege:
        raise
    except (psycopg.ProgrammingError, psycopg.IntegrityError) as reason:
        raise NotADatabase(f"{masked(url)} cannot take Pressroom's tables: {reason}") from reason
    connection.execute(
        "INSERT INTO pressroom_migration VALUES (%s, %s, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)",
        (migration.number, migration.name),
    )
