"""Whose tables and statements a database has: the core's, and those of each app.

A package brings `sql/` (statements, and in `sql/fsck/` invariants that can be read off the rows) and `migrations/`. Its
sub-packages may have a `sql/` of their own; names are unique in the whole package. A statement of an app has the app's name in
front (`wiki.find_article`), so that no app can take the place of another's or the core's.
"""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple


class SqlPackage(NamedTuple):
    """`app` is the name in the ledger of migrations; `package` is where the files are."""

    app: str
    package: str

    def sql_folders(self) -> Iterator[Traversable]:
        root = files(self.package)
        folders = (folder / "sql" for folder in (root, *root.iterdir()))
        return (folder for folder in folders if folder.is_dir())

    @property
    def prefix(self) -> str:
        """Of the names of its statements and checks."""
        return "" if self is CORE else f"{self.app}."


CORE = SqlPackage("core", "pressroom.store")

type Schema = tuple[SqlPackage, ...]

CORE_ONLY: Schema = (CORE,)
