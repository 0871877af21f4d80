"""Does the database keep its promises? Every invariant that can be read off the rows, as one query each (sql/fsck/)."""

from dataclasses import dataclass
from importlib.resources.abc import Traversable

from pressroom.model import Statement, Work
from pressroom.store.engine.schema import CORE_ONLY, Schema, SqlPackage
from pressroom.store.engine.statements import without_comments


@dataclass(frozen=True)
class Check:
    name: str
    meaning: str
    sql: str


@dataclass(frozen=True)
class Violation:
    check: str
    meaning: str
    job: str | None
    detail: str


def checks(dialect: str = "sqlite", schema: Schema = CORE_ONLY) -> list[Check]:
    """Those of the core, then those of each app. The core's have no prefix."""
    return [check for package in schema for check in _checks_of(package, dialect)]


def _checks_of(package: SqlPackage, dialect: str) -> list[Check]:
    folders = (folder / "fsck" for folder in package.sql_folders())
    return sorted(
        (
            _check(package.prefix, file, folder / dialect / file.name)
            for folder in folders
            if folder.is_dir()
            for file in folder.iterdir()
            if file.name.endswith(".sql")
        ),
        key=lambda check: check.name,
    )


def _check(prefix: str, file: Traversable, twin: Traversable) -> Check:
    text = (twin if twin.is_file() else file).read_text(encoding="utf-8")
    meaning = text.splitlines()[0].removeprefix("-- ")
    return Check(prefix + file.name.removesuffix(".sql"), meaning, without_comments(text))


def audit(dialect: str = "sqlite", schema: Schema = CORE_ONLY) -> Work[list[Violation]]:
    """Look at every row. Reads only; from one snapshot, so workers may go on meanwhile."""
    violations = []
    for (message,) in (yield Statement("find_damage")):
        if message != "ok":
            violations.append(Violation("integrity", "SQLite finds the file damaged.", None, message))
    for table, row, parent, _ in (yield Statement("find_orphans")):
        violations.append(
            Violation("orphan", "A row refers to another that is gone.", None, f"{table} row {row} has no {parent}")
        )
    for check in checks(dialect, schema):
        for job, detail in (yield Statement(check.sql)):
            violations.append(Violation(check.name, check.meaning, job, detail))
    return violations
