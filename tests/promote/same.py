"""Whether two databases hold the same, looked at without any code that promotes."""

from typing import Any

from tests import looking

APART = {"pressroom_migration", "sequence", "sqlite_sequence", "pressroom_promoted"}


def rows_of(address: str, table: str, columns: list[str]) -> list[tuple[Any, ...]]:
    names = ", ".join(f'"{column}"' for column in columns)
    return sorted(looking.rows(address, f"SELECT {names} FROM {table}"), key=repr)


def columns_of(source: str, table: str) -> list[str]:
    return [name for (name,) in looking.rows(source, f"SELECT name FROM pragma_table_info('{table}') ORDER BY cid")]


def everything(address: str, source: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table that the source has, with what PostgreSQL cannot hold replaced."""
    tables = sorted(set(looking.tables(source)) - APART)
    return {table: [_plain(row) for row in rows_of(address, table, columns_of(source, table))] for table in tables}


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        value.replace("\0", "\ufffd").replace("\\u0000", "\\ufffd") if isinstance(value, str) else value for value in row
    )


def assert_same(source: str, target: str, *, but: tuple[str, ...] = ()) -> None:
    there, here = everything(target, source), everything(source, source)
    for table, rows in here.items():
        if table not in but:
            assert there[table] == rows, table
