"""Applying migrations on PostgreSQL, each once and whole, by one process at a time."""

from typing import Any, LiteralString, cast

import psycopg
from psycopg import sql

from pressroom import failpoints
from pressroom.config import mask_password
from pressroom.errors import NotADatabase, PrivilegesMissing
from pressroom.store.engine.migrations import Applied, Migration, from_shared_sequence, migrations, pending_migrations
from pressroom.store.engine.postgres_connection import CONNECT_TIMEOUT, SCHEMA
from pressroom.store.engine.postgres_errors import PostgresErrors
from pressroom.store.engine.schema import CORE_ONLY, Schema

MIGRATING = 4721004
_LEDGER: LiteralString = """
CREATE TABLE IF NOT EXISTS pressroom_migration (
    app          TEXT   NOT NULL,
    number       BIGINT NOT NULL,
    name         TEXT   NOT NULL,
    sha256       TEXT   NOT NULL,
    date_applied BIGINT NOT NULL,
    PRIMARY KEY (app, number)
)
"""
_RECORD: LiteralString = (
    "INSERT INTO pressroom_migration VALUES (%s, %s, %s, %s, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)"
)

type Raw = "psycopg.Connection[tuple[object, ...]]"


def bring_up_to_date(url: str, schema: Schema = CORE_ONLY) -> list[Migration]:
    """Apply what is missing, in one transaction; a crash half way leaves the database as it was. Returns what was applied."""
    # Nothing is prepared: behind a pooler the session is given to other clients afterwards.
    options: dict[str, Any] = {"autocommit": True, "connect_timeout": CONNECT_TIMEOUT, "prepare_threshold": None}
    with PostgresErrors(url), psycopg.connect(url, **options) as connection:
        if not pending(connection, url, schema) and not _has_old_ledger(connection):
            return []
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
            missing = pending(connection, url, schema)  # another process may have been quicker
            try:
                _replace_old_ledger(connection, schema)
                apply_migrations_in(SCHEMA, missing, connection, url)
            except psycopg.errors.InsufficientPrivilege as refused:
                raise _privileges_missing(connection, missing, url, refused) from None
            failpoints.hit("migrate.before_commit")
        failpoints.hit("migrate.after_commit")
        return missing


def apply_migrations_in(namespace: str, missing: list[Migration], connection: Raw, url: str) -> None:
    """Within a transaction of the caller's, whose search path is this PostgreSQL schema from here on."""
    # IF NOT EXISTS alone asks for CREATE on the database also where the schema is there.
    if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (namespace,)).fetchone() is None:
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(namespace)))
    connection.execute(sql.SQL("SET LOCAL search_path = {}").format(sql.Identifier(namespace)))
    connection.execute(_LEDGER)
    for migration in missing:
        _apply(connection, migration, url)


def _privileges_missing(connection: Raw, missing: list[Migration], url: str, error: psycopg.Error) -> PrivilegesMissing:
    """Names roles and databases as they are to be written in SQL."""
    info = connection.info
    role, database = (sql.Identifier(name).as_string(connection) for name in (info.user, info.dbname))
    what = f"{len(missing)} migrations to apply" if missing else "the ledger of migrations of an older version"
    return PrivilegesMissing(
        f"{mask_password(url)} has {what}, and its role may not: {error.diag.message_primary}; run "
        f"`pressroom migrate` as the role that owns the schema {SCHEMA}, or for a new database "
        f"GRANT CREATE ON DATABASE {database} TO {role} (docs/deployment.md, Roles on PostgreSQL)"
    )


def pending(connection: Raw, url: str, schema: Schema = CORE_ONLY) -> list[Migration]:
    return pending_migrations("postgres", schema, applied(connection), mask_password(url))


def applied(connection: Raw, namespace: str = SCHEMA) -> Applied:
    ledger = sql.Identifier(namespace, "pressroom_migration")
    columns = _ledger_columns(connection, namespace)
    if not columns:
        return {}
    if "app" not in columns:
        numbers = connection.execute(sql.SQL("SELECT number FROM {}").format(ledger)).fetchall()
        return from_shared_sequence("postgres", (cast(int, number) for (number,) in numbers))
    rows = connection.execute(sql.SQL("SELECT app, number, sha256 FROM {}").format(ledger)).fetchall()
    return {(str(app), cast(int, number)): str(sha256) for app, number, sha256 in rows}


def _ledger_columns(connection: Raw, namespace: str = SCHEMA) -> set[str]:
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
        (f"{namespace}.pressroom_migration",),
    )
    return {str(name) for (name,) in rows}


def _has_old_ledger(connection: Raw) -> bool:
    columns = _ledger_columns(connection)
    return bool(columns) and "app" not in columns


def _replace_old_ledger(connection: Raw, schema: Schema) -> None:
    if not _has_old_ledger(connection):
        return
    had = applied(connection)
    connection.execute(sql.SQL("SET LOCAL search_path = {}").format(sql.Identifier(SCHEMA)))
    connection.execute("DROP TABLE pressroom_migration")
    connection.execute(_LEDGER)
    known = {migration.key: migration for migration in migrations("postgres", schema)}
    for app, number in had:
        if migration := known.get((app, number)):
            _record(connection, migration)
        else:  # of an app that is not in use here
            connection.execute(_RECORD, (app, number, "", ""))


def _apply(connection: Raw, migration: Migration, url: str) -> None:
    try:
        connection.execute(migration.sql)
    except psycopg.errors.InsufficientPrivilege:
        raise
    except (psycopg.ProgrammingError, psycopg.IntegrityError) as reason:
        raise NotADatabase(f"{mask_password(url)} cannot take Pressroom's tables: {reason}") from reason
    _record(connection, migration)


def _record(connection: Raw, migration: Migration) -> None:
    connection.execute(_RECORD, (migration.app, migration.number, migration.name, migration.sha256))
