"""Does the database keep its promises? Every invariant that can be read off the rows, as one query each (sql/fsck/)."""

from dataclasses import dataclass
from importlib.resources import files

from pressroom.model import Statement, Work
from pressroom.store.statements import without_comments


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


def checks(dialect: str = "sqlite") -> list[Check]:
    found = []
    folder = files("pressroom.store") / "sql" / "fsck"
    for file in folder.iterdir():
        if file.name.endswith(".sql"):
            twin = folder / dialect / file.name
            text = (twin if twin.is_file() else file).read_text(encoding="utf-8")
            meaning = text.splitlines()[0].removeprefix("-- ")
            found.append(Check(file.name.removesuffix(".sql"), meaning, without_comments(text)))
    return sorted(found, key=lambda check: check.name)


def audit(dialect: str = "sqlite") -> Work[list[Violation]]:
    """Look at every row. Reads only; from one snapshot, so workers may go on meanwhile."""
    violations = []
    for (message,) in (yield Statement("find_damage")):
        if message != "ok":
            violations.append(Violation("integrity", "SQLite finds the file damaged.", None, message))
    for table, row, parent, _ in (yield Statement("find_orphans")):
        violations.append(
            Violation("orphan", "A row refers to another that is gone.", None, f"{table} row {row} has no {parent}")
        )
    for check in checks(dialect):
        for job, detail in (yield Statement(check.sql)):
            violations.append(Violation(check.name, check.meaning, job, detail))
    return violations
