"""Whether oban's tables and our triggers are there, and whether the tables have the columns that the installed oban uses."""

import re
from functools import cache
from importlib.metadata import version

import psycopg
from oban.schema import install_sql

from pressroom.base.dependencies import DependencyFailed
from pressroom.config import mask_password
from pressroom.delivery.oban import hooks
from pressroom.delivery.oban.reconciler import compare_schemas
from pressroom.errors import ObanSchemaMismatch

CONNECT_TIMEOUT = 4  # seconds
TABLES = ("oban_jobs", "oban_leaders", "oban_producers")
TRIGGERS = ("oban_number", "oban_enlist_added", "oban_enlist_again")


async def probe(url: str, schema: str = "public") -> str:
    """Raises DependencyFailed."""
    try:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=CONNECT_TIMEOUT) as connection:
            columns = await (await connection.execute(hooks.load_statement("list_columns"), {"schema": schema})).fetchall()
            triggers = await (await connection.execute(hooks.load_statement("list_triggers"))).fetchall()
            of_triggers = await (await connection.execute(hooks.load_statement("find_schema"))).fetchall()
    except psycopg.Error:
        raise DependencyFailed(
            "store_unavailable", f"oban's tables at {mask_password(url)}: the database cannot be read"
        ) from None
    try:
        compare_schemas(of_triggers, schema)
    except ObanSchemaMismatch as mismatch:
        raise DependencyFailed(mismatch.code, str(mismatch)) from None
    _require_tables(schema, {(table, column) for table, column in columns})
    if missing := sorted(set(TRIGGERS) - {name for (name,) in triggers}):
        raise DependencyFailed("oban_triggers_missing", f"pressroom.job lacks the triggers {', '.join(missing)}")
    return f"oban {version('oban')}, tables in the schema {schema}"


def _require_tables(schema: str, columns: set[tuple[str, str]]) -> None:
    present = {table for table, _ in columns}
    if missing := [f"{schema}.{table}" for table in TABLES if table not in present]:
        raise DependencyFailed("oban_tables_missing", f"there is no table {', '.join(missing)}")
    if older := sorted(f"{schema}.{table}.{column}" for table, column in expected_columns() - columns):
        raise DependencyFailed("oban_schema_outdated", f"oban {version('oban')} needs the columns {', '.join(older)}")


@cache
def expected_columns() -> frozenset[tuple[str, str]]:
    """Of each table, as the installed version of oban makes it. Oban keeps no number of its schema's version."""
    found = set()
    for table, body in re.findall(
        r"CREATE (?:UNLOGGED )?TABLE IF NOT EXISTS \w+\.(\w+) \((.*?)\n\);", install_sql(), re.DOTALL
    ):
        found |= {(table, column) for column in re.findall(r"^\s+([a-z_]+) ", body, re.MULTILINE)}
    return frozenset(found)
