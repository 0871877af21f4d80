"""Search over the editions of a project, and the index that it reads."""

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from itertools import batched
from pathlib import Path

import msgspec

from pressroom.app import Core
from pressroom.apps.docs.model import MAIN, Build
from pressroom.apps.docs.search import store
from pressroom.apps.docs.search.page_text import LONGEST_TEXT, PageText, is_searched
from pressroom.apps.docs.store.builds import get_build_by_uid, list_editions_showing
from pressroom.apps.docs.store.editions import get_edition
from pressroom.apps.docs.store.orgs import get_org
from pressroom.apps.docs.store.projects import get_project
from pressroom.apps.docs.uploads.build_files import list_files, read_file
from pressroom.apps.docs.uploads.page_stream import pages_of, send_pages
from pressroom.base.excerpts import ExcerptPart, make_excerpt
from pressroom.base.search_terms import query_terms
from pressroom.errors import EngineCrashed, Timeout, TooLarge
from pressroom.ids import new_uid
from pressroom.model import Row, Work
from pressroom.renderers.sandbox.confined_run import run_confined
from pressroom.store.artifacts.artifacts import ArtifactFile

log = logging.getLogger("pressroom.docs")

MOST_PAGES = 10_000  # of a build; the first by path
MOST_HITS = 100
PAGES_AT_ONCE = 500  # that one process reads
PAGES_SAVED_AT_ONCE = 50
CHARACTERS_SAVED_AT_ONCE = 300_000  # about 40 ms of the one writer; pages differ a hundredfold
CHARACTERS = 24_000_000  # of so many pages
MEMORY = 768 * 1024 * 1024  # bytes
SECONDS = 120.0  # for so many pages
ANSWER = 128 * 1024 * 1024  # bytes; a character may take several
ABANDONED = 3600 * 1000  # milliseconds after which an attempt to index is not expected to go on

_MODULE = "pressroom.apps.docs.search.reading_process"


class PageHit(msgspec.Struct, frozen=True):
    """`path` is that of the file in the site. `snippet` is the text around what was found, in parts."""

    title: str
    path: str
    snippet: list[ExcerptPart]

    @property
    def snippet_text(self) -> str:
        return "".join(part.text for part in self.snippet)


class Search:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def find(self, org: str, project: str, edition: str = MAIN, text: str = "", limit: int = 20) -> Sequence[PageHit]:
        """Pages of an edition that have all words, the best first; the last word may be only begun. Raises OrgNotFound and the
        like."""
        terms = query_terms(text)
        unit = partial(_search, org, project, edition, terms, max(1, min(limit, MOST_HITS)))
        rows = await self._core.database.read(unit)
        return [PageHit(heading, path, make_excerpt(excerpt, terms)) for path, heading, excerpt in rows]

    async def index_build(self, build: Build) -> bool:
        """Make the pages of a build searchable, if an edition shows it; and forget those builds of its project that no edition
        shows any more. Called again it does nothing; an attempt that ended early is begun anew."""
        shown = await self._core.database.read(partial(list_editions_showing, build.uid))
        is_new = bool(shown) and await self._index(build)
        await self._forget_unshown(build.project)
        return is_new

    async def catch_up(self) -> int:
        """Index what editions show and search does not know, and forget what none shows: for editions that were restored or
        deleted, and after a crash. Returns how many builds were indexed."""
        waiting = await self._core.database.read(partial(store.list_unindexed, ABANDONED))
        for uid in waiting:
            await self._index(await self._core.database.read(partial(get_build_by_uid, uid)))
        await self._forget_unshown("")
        return len(waiting)

    async def _index(self, build: Build) -> bool:
        attempt, database = new_uid(), self._core.database
        if not await database.run(partial(store.begin_indexing, build.uid, attempt), name="docs-search"):
            return False
        await self._delete_texts(build.uid, attempt)
        pages = [page for page in pages_of(await list_files(database, build)) if is_searched(page.path)][:MOST_PAGES]
        copied = await self._copy_texts(build, attempt, pages)
        for some in batched([page for page in pages if page.path not in copied], PAGES_AT_ONCE):
            for texts in _in_pieces(await self._read_texts(build, some), lambda text: len(text.words)):
                await database.run(partial(store.save_texts, build.uid, attempt, texts), name="docs-search", durable=False)
        return await database.run(partial(store.finish_indexing, build.uid, attempt), name="docs-search")

    async def _copy_texts(self, build: Build, attempt: str, pages: Sequence[ArtifactFile]) -> set[str]:
        """Of the pages that have not changed since another build of the project was indexed, where that is as good as reading
        them: the text of a page depends on its path and its bytes. Returns their paths."""
        database = self._core.database
        source = await database.read(partial(store.find_indexed_build, build))
        if source is None:
            return set()
        files = await list_files(database, await database.read(partial(get_build_by_uid, source)))
        known = {file.path: file.sha256 for file in files}
        unchanged = [page for page in pages if known.get(page.path) == page.sha256]
        copied: set[str] = set()
        for some in _in_pieces(unchanged, lambda page: min(page.size, LONGEST_TEXT)):
            copy = partial(store.copy_texts, build.uid, attempt, source, [page.path for page in some])
            copied.update(await database.run(copy, name="docs-search", durable=False))
        return copied

    async def _read_texts(self, build: Build, pages: Sequence[ArtifactFile]) -> list[PageText]:
        """None, if they are more than the process can take: a site is not refused for that."""
        read = partial(read_file, self._core.rendering.blobs)
        with tempfile.TemporaryDirectory(prefix="pressroom-search-") as folder:
            async with aclosing(send_pages([], pages, read)) as stream:
                try:
                    answer = await run_confined(
                        _MODULE,
                        {"memory": MEMORY, "characters": CHARACTERS},
                        stream,
                        folder=Path(folder),
                        seconds=SECONDS,
                        output=ANSWER,
                    )
                except (Timeout, TooLarge, EngineCrashed) as failure:
                    log.warning("%d pages of the build %s cannot be searched: %s", len(pages), build.uid, failure)
                    return []
        return msgspec.json.decode(answer, type=list[PageText])

    async def _forget_unshown(self, project: str) -> None:
        attempt, database = new_uid(), self._core.database
        for build in await database.run(partial(store.leave_search, project, attempt), name="docs-search"):
            await self._delete_texts(build, attempt)
            await database.run(partial(store.end_search, build, attempt), name="docs-search")

    async def _delete_texts(self, build: str, attempt: str) -> None:
        """In pieces, so that other writers do not wait for all of them."""
        while await self._core.database.run(partial(store.delete_texts, build, attempt), name="docs-search", durable=False):
            pass


def _in_pieces[T](items: Iterable[T], characters_of: Callable[[T], int]) -> Iterator[list[T]]:
    """For one transaction each."""
    piece: list[T] = []
    characters = 0
    for item in items:
        if len(piece) == PAGES_SAVED_AT_ONCE or (piece and characters + characters_of(item) > CHARACTERS_SAVED_AT_ONCE):
            yield piece
            piece, characters = [], 0
        piece.append(item)
        characters += characters_of(item)
    if piece:
        yield piece


def _search(org: str, project: str, edition: str, terms: Sequence[str], limit: int) -> Work[list[Row]]:
    yield from get_org(org)
    shown = (yield from get_edition((yield from get_project(org, project)).id, edition)).build
    return [] if shown is None or not terms else (yield from store.search_pages(shown, terms, limit))
