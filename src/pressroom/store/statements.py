"""The .sql files, loaded once. One statement, one file, one verb; the comment on top says what it promises.

What several statements say in the same words stands in sql/parts, and `/* its_name */` takes its place in each of them.
"""

import re
from functools import cache
from importlib.resources import files

_PART = re.compile(r"/\* (\w+) \*/")


@cache
def load(dialect: str) -> dict[str, str]:
    """Every statement by its file's name: those both databases understand, then the dialect's own."""
    parts, own = _texts("parts"), _texts("both") | _texts(dialect)
    return {name: _PART.sub(lambda found: parts.get(found[1], found[0]), text) for name, text in own.items()}


def _texts(folder: str) -> dict[str, str]:
    found = (file for file in (files("pressroom.store") / "sql" / folder).iterdir() if file.name.endswith(".sql"))
    return {file.name.removesuffix(".sql"): without_comments(file.read_text(encoding="utf-8")) for file in found}


def without_comments(text: str) -> str:
    """The comments are for readers of the file; the database would parse them on every first use."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--")).strip()
