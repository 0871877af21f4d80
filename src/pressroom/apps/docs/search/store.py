"""The texts of pages in the database: units of work."""

from collections.abc import Sequence

from pressroom.apps.docs.model import Build
from pressroom.apps.docs.search.page_text import PageText
from pressroom.model import Row, Statement, Work
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

ROWS_DELETED_AT_ONCE = 50
CHARACTERS_DELETED_AT_ONCE = 300_000  # which costs about as much as to save them
BUILDS_AT_ONCE = 20


def begin_indexing(build: str, attempt: str) -> Work[bool]:
    """False if the build is indexed. What an earlier attempt has left is to be deleted first, with `delete_texts`."""
    moment = yield from now()
    return bool((yield Statement("docs.begin_indexing", {"build": build, "attempt": attempt, "now": moment})))


def save_texts(build: str, attempt: str, texts: Sequence[PageText]) -> Work[None]:
    """Nothing, if another attempt has begun."""
    yield Statement(
        "docs.save_page_texts", {"build": build, "attempt": attempt, "pages": compact([list(text) for text in texts])}
    )


def find_indexed_build(build: Build) -> Work[str | None]:
    """The newest other build of its project whose pages can be searched."""
    rows = yield Statement("docs.find_indexed_build", {"project": build.project, "build": build.uid})
    return rows[0][0] if rows else None


def copy_texts(build: str, attempt: str, source: str, paths: Sequence[str]) -> Work[list[str]]:
    """Of pages that another build has with the same bytes. Returns the paths of those that it has a text of."""
    place = {"build": build, "attempt": attempt, "source": source, "paths": compact(list(paths))}
    return [path for (path,) in (yield Statement("docs.copy_page_texts", place))]


def finish_indexing(build: str, attempt: str) -> Work[bool]:
    moment = yield from now()
    return bool((yield Statement("docs.finish_indexing", {"build": build, "attempt": attempt, "now": moment})))


def leave_search(project: str, attempt: str) -> Work[list[str]]:
    """Builds that no edition shows: their texts are to be deleted, then `end_search`. An empty project means any."""
    moment = yield from now()
    place = {"project": project, "attempt": attempt, "now": moment, "limit": BUILDS_AT_ONCE}
    return [build for (build,) in (yield Statement("docs.leave_search", place))]


def delete_texts(build: str, attempt: str) -> Work[int]:
    """Some of a build: call it until it returns 0."""
    limits = {"limit": ROWS_DELETED_AT_ONCE, "characters": CHARACTERS_DELETED_AT_ONCE}
    place = {"build": build, "attempt": attempt, **limits}
    return len((yield Statement("docs.delete_page_texts", place)))


def end_search(build: str, attempt: str) -> Work[None]:
    yield Statement("docs.delete_search", {"build": build, "attempt": attempt})


def list_unindexed(older_than: int) -> Work[list[str]]:
    """Builds that an edition shows and that are not indexed, nor were begun within so many milliseconds."""
    moment = yield from now()
    rows = yield Statement("docs.list_unindexed_builds", {"since": moment - older_than, "limit": BUILDS_AT_ONCE})
    return [build for (build,) in rows]


def search_pages(build: str, terms: Sequence[str], limit: int) -> Work[list[Row]]:
    """Path, heading and excerpt of the pages that have all words, the best first."""
    return (yield Statement("docs.search_pages", {"build": build, "words": compact(list(terms)), "limit": limit}))
