"""Whose tables and statements a database has: the core's, and those of each app.

A package brings `sql/` (statements, and in `sql/fsck/` invariants that can be read off the rows) and `migrations/`. A statement
of an app has the app's name in front (`wiki.find_article`), so that no app can take the place of another's or the core's.
"""

from typing import NamedTuple


class SqlPackage(NamedTuple):
    """`app` is the name in the ledger of migrations; `package` is where the files are."""

    app: str
    package: str


CORE = SqlPackage("core", "pressroom.store")

type Schema = tuple[SqlPackage, ...]

CORE_ONLY: Schema = (CORE,)
