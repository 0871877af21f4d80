"""The .sql files, loaded once. One statement, one file, one verb; the comment on top says what it promises.

What several statements say in the same words stands in `sql/parts` beside them, and `/* its_name */` takes its place in each.
"""

import re
from functools import cache
from importlib.resources.abc import Traversable

from pressroom.store.engine.schema import CORE_ONLY, Schema, SqlPackage

_PART = re.compile(r"/\* (\w+) \*/")


def load(dialect: str, schema: Schema = CORE_ONLY) -> dict[str, str]:
    """Every statement by its name: those both databases understand, then the dialect's own."""
    return _load(dialect, schema)


@cache  # without a default: a call that leaves the schema out must get the same dictionary, because tests change it
def _load(dialect: str, schema: Schema) -> dict[str, str]:
    return {name: text for package in schema for name, text in _statements(dialect, package).items()}


@cache
def _statements(dialect: str, package: SqlPackage) -> dict[str, str]:
    texts: dict[str, str] = {}
    for folder in package.sql_folders():
        parts = _read_sql_files(folder / "parts")
        for name, text in (_read_sql_files(folder / "both") | _read_sql_files(folder / dialect)).items():
            if name in texts:
                raise AssertionError(f"two statements of {package.package} are named {name}")
            texts[name] = _PART.sub(lambda found, parts=parts: parts.get(found[1], found[0]), text)  # type: ignore[misc]
    return {f"{package.prefix}{name}": text for name, text in texts.items()}


def _read_sql_files(folder: Traversable) -> dict[str, str]:
    found = (file for file in folder.iterdir() if file.name.endswith(".sql")) if folder.is_dir() else ()
    return {file.name.removesuffix(".sql"): without_comments(file.read_text(encoding="utf-8")) for file in found}


def own_sql(text: str) -> str:
    """The text of a statement that is no name of a file. Raises LookupError if it can only have been meant as a name."""
    if not any(map(str.isspace, text)):
        raise LookupError(
            f"there is no statement {text!r}. It is a file in sql/both, sql/sqlite or sql/postgres, named after the statement; "
            'those of an app have its name in front: "wiki.find_article"'
        )
    return text


def without_comments(text: str) -> str:
    """The comments are for readers of the file; the database would parse them on every first use."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--")).strip()
