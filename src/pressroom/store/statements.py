"""The .sql files, loaded once. One statement, one file, one verb; the comment on top says what it promises."""

from functools import cache
from importlib.resources import files


@cache
def load(dialect: str) -> dict[str, str]:
    """Every statement by its file's name: those both databases understand, then the dialect's own."""
    statements: dict[str, str] = {}
    for folder in ("both", dialect):
        for file in (files("pressroom.store") / "sql" / folder).iterdir():
            if file.name.endswith(".sql"):
                statements[file.name.removesuffix(".sql")] = without_comments(file.read_text())
    return statements


def without_comments(text: str) -> str:
    """The comments are for readers of the file; the database would parse them on every first use."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--")).strip()
