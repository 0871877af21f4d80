"""The mark on an SQLite file whose jobs live elsewhere now, and what opening it or writing to it is told.

A table names the place. Triggers on every table refuse what a process that had opened the file before the mark would write:
its jobs would be accepted and never be run.
"""

import re
from typing import NamedTuple

import apsw

from pressroom.errors import DatabasePromoted

_TOLD = re.compile(r"this database was promoted to (\S+)")
_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND substr(name, 1, 7) <> 'sqlite_'"


class PromotedMark(NamedTuple):
    """Which promotion it was, and where it went; the address has no password."""

    promotion: str
    place: str


def refuse_if_promoted(connection: apsw.Connection, path: str) -> None:
    mark = read_mark(connection)
    if mark is not None:
        raise DatabasePromoted(path, mark.place)


def read_mark(connection: apsw.Connection) -> PromotedMark | None:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'pressroom_promoted'").fetchall():
        return None
    ((promotion, place),) = connection.execute("SELECT promotion, place FROM pressroom_promoted").fetchall()
    return PromotedMark(str(promotion), str(place))


def write_mark(connection: apsw.Connection, mark: PromotedMark) -> None:
    """Within a transaction of the caller's."""
    if read_mark(connection) is not None:  # a promotion that was cut short at its end, and its target lost
        connection.execute("UPDATE pressroom_promoted SET promotion = ?, place = ?", mark)
        return
    tables = [name for (name,) in connection.execute(_TABLES)]
    connection.execute("CREATE TABLE pressroom_promoted (promotion TEXT NOT NULL, place TEXT NOT NULL) STRICT")
    connection.execute("INSERT INTO pressroom_promoted VALUES (?, ?)", mark)
    told = apsw.format_sql_value(f"this database was promoted to {mark.place}")
    for table in tables:
        for verb in ("INSERT", "UPDATE", "DELETE"):
            trigger, on = _quote_identifier(f"promoted_{verb.lower()}_{table}"), _quote_identifier(table)
            connection.execute(f"CREATE TRIGGER {trigger} BEFORE {verb} ON {on} BEGIN SELECT RAISE(ABORT, {told}); END")


def target_in_message(message: str) -> str | None:
    """The place that a refused write names."""
    found = _TOLD.search(message)
    return found[1] if found else None


def _quote_identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
