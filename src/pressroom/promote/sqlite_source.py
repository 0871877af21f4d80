"""The SQLite file that is promoted, read from one snapshot. What it holds is asked of its schema, not of a list."""

from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import apsw

from pressroom.artifacts import key_of
from pressroom.errors import DatabaseTooOld, InvalidSettings, NotADatabase, StoreUnavailable
from pressroom.model import Row
from pressroom.promote.tables import Table, parents_first
from pressroom.store.engine import promoted_mark, sqlite_migrate
from pressroom.store.engine.migrations import pending_migrations
from pressroom.store.engine.schema import Schema
from pressroom.store.engine.sqlite_connection import SqliteErrors

# Not rows to copy: which migrations a side had is its own, and the counter is a sequence there.
_APART = frozenset({"pressroom_migration", "sequence"})
JOB_NUMBER = "job_number"
PATIENCE = 1_000  # milliseconds for a short transaction of another process


class LiveBlob(NamedTuple):
    sha256: str
    generation: int
    size: int


class Source:
    """Holds the write lock from its making to its end, unless it is `readonly`. Raises StoreBusy if another process has it."""

    def __init__(self, path: str, schema: Schema, *, readonly: bool = False) -> None:
        if not Path(path).exists():
            raise StoreUnavailable(f"there is no database {path}")
        self._path = path
        self.known_tables = _tables_in(schema)
        self._schema = schema
        mode = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE
        with SqliteErrors(path):
            self._raw = apsw.Connection(path, flags=mode)
            self._raw.setbusytimeout(PATIENCE)
            try:
                self._raw.execute("BEGIN" if readonly else "BEGIN IMMEDIATE")
                self._check_version()
            except BaseException:
                self._raw.close()
                raise

    def _check_version(self) -> None:
        had = sqlite_migrate.applied(self._raw)
        if not had:
            raise NotADatabase(f"{self._path} holds no Pressroom database")
        apps = {app for app, _ in had}
        self._schema = tuple(package for package in self._schema if package.app in apps)  # others were never used here
        if missing := pending_migrations("sqlite", self._schema, had, self._path):
            names = ", ".join(map(str, missing))
            raise DatabaseTooOld(f"{self._path} has not had {names} yet; run `pressroom migrate` on it first")
        if unknown := sorted(apps - {package.app for package in self._schema}):
            raise InvalidSettings(
                [f"apps: {self._path} has tables of {', '.join(unknown)}; name all of its apps, or they are lost"]
            )

    @cached_property
    def _our_tables(self) -> set[str]:
        return _tables_in(self._schema)

    @cached_property
    def tables(self) -> dict[str, Table]:
        """Ours, with what others refer to before those others."""
        tables = [self._table(name) for name in sorted(self._our_tables - _APART)]
        return parents_first(tables, {table.name: self._referenced_tables(table.name) for table in tables})

    def foreign_tables(self) -> list[str]:
        """Tables in the file that are not ours."""
        return sorted(_tables_of(self._raw) - self._our_tables - {"pressroom_promoted"})

    def counters(self) -> dict[str, int]:
        """The last number that each counter gave, also if the row that had it is gone: none is given twice."""
        ((number,),) = self._rows("SELECT value FROM sequence")
        given = self._rows("SELECT name, seq FROM sqlite_sequence ORDER BY name")
        return {JOB_NUMBER: number} | {name: last for name, last in given if name in self.tables}

    def count_rows(self) -> int:
        return sum(count for name in self.tables for (count,) in self._rows(f"SELECT count(*) FROM {_quote_identifier(name)}"))  # noqa: S608

    def lines(self, table: Table) -> Iterator[bytes]:
        """Every row, in the order of its key."""
        from pressroom.promote.postgres_lines import copy_line

        columns, key = (", ".join(map(_quote_identifier, names)) for names in (table.columns, table.key))
        text = f"SELECT {columns} FROM {_quote_identifier(table.name)} ORDER BY {key}"  # noqa: S608
        with SqliteErrors(self._path):
            yield from map(copy_line, self._raw.execute(text))

    def blobs(self) -> list[LiveBlob]:
        """Those that something refers to: the others get their bytes anew if they are needed again."""
        rows = self._rows("SELECT sha256, generation, size FROM blob WHERE state = 'live' ORDER BY sha256")
        return [LiveBlob(*row) for row in rows]

    def aliases(self) -> list[tuple[str, str]]:
        """Keys of bytes, each with a second name that they have."""
        rows = self._rows("SELECT sha256, generation, path FROM blob_alias WHERE artifact IS NOT NULL ORDER BY path")
        return [(key_of(sha256, generation), path) for sha256, generation, path in rows]

    def read_mark(self) -> promoted_mark.PromotedMark | None:
        return promoted_mark.read_mark(self._raw)

    def write_mark(self, mark: promoted_mark.PromotedMark) -> None:
        """Refuse all writes from now on: the mark keeps other processes out, no longer the lock."""
        with SqliteErrors(self._path):
            promoted_mark.write_mark(self._raw, mark)
            self._raw.execute("COMMIT")
            self._raw.execute("BEGIN")

    def close(self) -> None:
        self._raw.close()

    def _table(self, name: str) -> Table:
        about = self._rows("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", name)
        key = sorted((place, column) for column, place in about if place)
        return Table(name, tuple(column for column, _ in about), tuple(column for _, column in key))

    def _referenced_tables(self, name: str) -> set[str]:
        return {parent for (parent,) in self._rows('SELECT "table" FROM pragma_foreign_key_list(?)', name)}

    def _rows(self, text: str, *params: str) -> list[Row]:
        with SqliteErrors(self._path):
            return self._raw.execute(text, params).fetchall()


def _quote_identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _tables_in(schema: Schema) -> set[str]:
    """Those of a database that was made this moment."""
    with closing(apsw.Connection(":memory:")) as fresh:
        sqlite_migrate.bring_up_to_date(fresh, ":memory:", schema)
        return _tables_of(fresh)


def _tables_of(connection: apsw.Connection) -> set[str]:
    """An index for search is no table of its own, though SQLite keeps it in some: it is made anew from what it indexes."""
    found = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND substr(name, 1, 7) <> 'sqlite_'"
    )
    return {str(name) for (name,) in found}
