"""Numbered migrations, each app with its own numbers, and the ledger that says which ones a database has had.

The ledger keeps the hash of each. A migration that was edited after it was applied is refused: the database is not as the file
says. A database that is newer than the code is refused too, never guessed at.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import NamedTuple

from pressroom.errors import DatabaseTooNew, InvalidArgument, MigrationEdited
from pressroom.store.engine.schema import CORE, Schema, SqlPackage
from pressroom.store.engine.statements import without_comments

_FILE = re.compile(r"(\d{4})_(\w+)\.sql")

# Until the apps had migrations of their own, all were in one sequence for each database: which ones are whose now.
_SHARED_SEQUENCE: dict[str, dict[int, tuple[str, int]]] = {
    "sqlite": {4: ("diagrams", 1), 14: ("diagrams", 2), 10: ("wiki", 1), 11: ("wiki", 2), 12: ("wiki", 3)},
    "postgres": {4: ("diagrams", 1), 16: ("diagrams", 2), 12: ("wiki", 1), 13: ("wiki", 2), 14: ("wiki", 3)},
}

type Key = tuple[str, int]  # the app's name and the number
type Applied = Mapping[Key, str]  # with the hash, or '' where an older version did not record it


class Migration(NamedTuple):
    app: str
    number: int
    name: str
    sql: str

    @property
    def key(self) -> Key:
        return self.app, self.number

    @property
    def sha256(self) -> str:
        """Of what the database is told: comments and white space may change."""
        return hashlib.sha256(" ".join(without_comments(self.sql).split()).encode()).hexdigest()

    def __str__(self) -> str:
        return f"{'' if self.app == CORE.app else f'{self.app} '}{self.number:04} {self.name}"


def migrations(dialect: str, schema: Schema) -> list[Migration]:
    """In the order in which they are applied: the core's, then each app's."""
    return [migration for package in schema for migration in _migrations_of(package, dialect)]


def _migrations_of(package: SqlPackage, dialect: str) -> list[Migration]:
    folder = files(package.package) / "migrations"
    if not folder.is_dir():
        return []
    if not (folder / dialect).is_dir():
        raise InvalidArgument(
            f"{package.package} has migrations, and none in migrations/{dialect}: each database needs its own"
        )
    found = [(_FILE.fullmatch(file.name), file) for file in (folder / dialect).iterdir() if file.name.endswith(".sql")]
    if unnamed := [file.name for match, file in found if match is None]:
        raise InvalidArgument(f"{unnamed[0]} of {package.package} is no migration: those are named like 0001_stamps.sql")
    return sorted(
        Migration(package.app, int(match[1]), match[2], file.read_text(encoding="utf-8")) for match, file in found if match
    )


def pending_migrations(dialect: str, schema: Schema, applied: Applied, place: str) -> list[Migration]:
    """The migrations that this database has not had. Raises DatabaseTooNew and MigrationEdited."""
    known = migrations(dialect, schema)
    newest = {migration.app: migration.number for migration in known}
    for app, number in sorted(applied):
        if number > newest.get(app, number):
            raise DatabaseTooNew(
                f"{place} was written by a newer Pressroom ({_schema_of(app)} {number}; this one knows {newest[app]}); "
                "upgrade Pressroom"
            )
    for migration in known:
        if applied.get(migration.key) not in (None, "", migration.sha256):
            raise MigrationEdited(
                f"migration {migration} was edited after {place} had it; put the file back, and change tables in a new one"
            )
    return [migration for migration in known if migration.key not in applied]


def _schema_of(app: str) -> str:
    return "schema" if app == CORE.app else f"schema of {app}"


def from_shared_sequence(dialect: str, numbers: Iterable[int]) -> dict[Key, str]:
    """What a ledger says that was written before apps had numbers of their own."""
    moved = _SHARED_SEQUENCE[dialect]
    return {moved.get(number, (CORE.app, number)): "" for number in numbers}
