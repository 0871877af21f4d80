"""Looking at a database from outside, and standing in its way, whichever it is."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import apsw
import psycopg
import pytest

from pressroom.store.engine import postgres_connection, sqlite_connection


def rows(address: str, sql: str) -> list[tuple[Any, ...]]:
    with _opened(address) as connection:
        return connection.execute(sql).fetchall()


def change(address: str, sql: str) -> None:
    with _opened(address) as connection:
        connection.execute(sql)


def tables(address: str) -> list[str]:
    if address.startswith("sqlite:"):
        return [
            name
            for (name,) in rows(
                address,
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'sqlite_schema'",
            )
        ]
    return [name for (name,) in rows(address, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")]


def empty(address: str) -> None:
    """Take our tables away, which a new database on the tests' server has from the first."""
    change(address, f"DROP SCHEMA {postgres_connection.SCHEMA} CASCADE")


@contextmanager
def held(address: str) -> Iterator[None]:
    """Nobody else may write for as long as the block lasts."""
    with _opened(address) as connection:
        if isinstance(connection, apsw.Connection):
            connection.execute("BEGIN IMMEDIATE")
        else:
            connection.execute("BEGIN")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (postgres_connection.WRITING,))
        yield
        connection.execute("ROLLBACK")


def one_waits_for_a_lock(address: str) -> bool:
    """On PostgreSQL: one connection to this database waits for what another holds."""
    waiting = "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
    return rows(address, f"{waiting} WHERE datname = current_database() AND NOT granted") == [(1,)]


def be_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up on a database that somebody else holds after a moment."""
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT", 0.02)
    monkeypatch.setattr(postgres_connection, "BUSY_TIMEOUT", 0.5)  # here the lanes of one process wait for each other, too


@contextmanager
def _opened(address: str) -> Iterator[Any]:
    if address.startswith("sqlite:"):
        with closing(apsw.Connection(address.removeprefix("sqlite:///"))) as file:
            file.setbusytimeout(60_000)
            yield file
        return
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"SET search_path = {postgres_connection.SCHEMA}, public")
        yield connection
