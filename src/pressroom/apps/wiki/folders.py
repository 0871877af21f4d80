"""A folder of Markdown becomes articles, and articles become a folder."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import batched
from pathlib import Path, PurePosixPath

import msgspec

from pressroom.apps.wiki import files
from pressroom.apps.wiki.articles import Articles
from pressroom.apps.wiki.files import ListedArticle
from pressroom.apps.wiki.model import ArticleDraft, make_draft
from pressroom.apps.wiki.rerender_requests import RerenderRequest
from pressroom.base.regular_files import NotRegular, write_below
from pressroom.errors import InvalidArgument, PressroomError, SourceInvalid

AT_ONCE = 20  # in one transaction, which blocks other writers
READ_AT_ONCE = 500

type OnProgress = Callable[[str, int, int], None]


class ImportReport(msgspec.Struct, frozen=True):
    """What an import did. `problems` are files that could not be taken, each with the reason; `batch` is the job."""

    files: int
    created: int
    changed: int
    same: int
    problems: dict[str, str]
    batch: str


class Folders:
    def __init__(self, articles: Articles) -> None:
        self._articles = articles

    async def import_folder(
        self, folder: Path, *, org_id: str | None, author: str, comment: str, on_progress: OnProgress
    ) -> ImportReport:
        """Every Markdown file becomes the newest revision of its article, and its render is queued in the background tier.

        What is there already with the same text stays as it is, so that an interrupted import can be repeated.
        """
        found = await asyncio.to_thread(files.find_markdown_files, folder)
        problems: dict[str, str] = {}
        created = changed = same = done = 0
        batch = (await self._articles.begin_import(org_id, f"{folder.name or folder} ({len(found):,} files)")).uid
        async for some in _read_ahead(batched(_read_drafts(folder, found, problems, author, comment), AT_ONCE)):
            saved = await self._articles.save_many(org_id, some, parent=batch)
            created += sum(one.created for one in saved)
            changed += sum(one.modified and not one.created for one in saved)
            same += sum(not one.modified for one in saved)
            done += len(some)
            on_progress("files", done + len(problems), len(found))
        on_progress("files", len(found), len(found))
        if created:  # pages that were there before may say of these that they are not
            await self._articles.rerender_all(org_id, RerenderRequest("stale"))
        return ImportReport(len(found), created, changed, same, problems, batch)

    async def export_folder(self, folder: Path, *, org_id: str | None, on_progress: OnProgress) -> int:
        """The newest source of every article. What lies there under such a name is written over."""
        listed: dict[str, ListedArticle] = {}
        total, after = await self._articles.count(org_id), 0
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        while some := await self._articles.sources(org_id, after, READ_AT_ONCE):
            for article, source in some:
                path = files.article_file(folder, article.url)
                await asyncio.to_thread(_write_file, folder, path, source.encode())
                listed[path.relative_to(folder).as_posix()] = ListedArticle(article.url, article.title)
            after = some[-1][0].id
            on_progress("articles", len(listed), max(total, len(listed)))
        await asyncio.to_thread(_write_file, folder, folder / files.LIST_FILE, msgspec.json.format(msgspec.json.encode(listed)))
        return len(listed)


async def _read_ahead(batches: Iterator[tuple[ArticleDraft, ...]]) -> AsyncIterator[tuple[ArticleDraft, ...]]:
    """Each batch is read and indexed in a thread, while the one before it is written."""
    ahead = asyncio.create_task(asyncio.to_thread(next, batches, None))
    try:
        while (batch := await ahead) is not None:
            ahead = asyncio.create_task(asyncio.to_thread(next, batches, None))
            yield batch
    finally:
        ahead.cancel()


def _read_drafts(
    folder: Path, paths: list[tuple[str, ...]], problems: dict[str, str], author: str, comment: str
) -> Iterator[ArticleDraft]:
    listed, taken = files.read_article_list(folder), dict[str, str]()
    for parts in paths:
        name = "/".join(parts)
        try:
            draft = _read_draft(folder.joinpath(*parts), name, listed.get(name), author, comment)
            if other := taken.get(draft.url):
                raise InvalidArgument(f"it would be the article {draft.url}, which {other} is already")
        except OSError as reason:
            problems[name] = f"it cannot be read: {reason.strerror}"
        except PressroomError as reason:
            problems[name] = _describe_error(reason)
        else:
            taken[draft.url] = name
            yield draft


def _read_draft(path: Path, name: str, listed: ListedArticle | None, author: str, comment: str) -> ArticleDraft:
    source = files.read_source(path)
    url = listed.url if listed else files.article_url(PurePosixPath(name))
    title = listed.title if listed else files.find_title(source, url)
    return make_draft(url, source, title=title, comment=comment or f"from {name}"[:500], author=author, previous=0)


def _describe_error(reason: PressroomError) -> str:
    if isinstance(reason, SourceInvalid) and reason.line is not None:
        return f"{reason} (line {reason.line}, column {reason.column})"
    return str(reason)


def _write_file(folder: Path, path: Path, data: bytes) -> None:
    """A link in the folder may lead anywhere; the export goes through none."""
    try:
        write_below(folder, path.relative_to(folder).parts, data)
    except NotRegular as reason:
        raise InvalidArgument(f"{reason.filename} is {reason.strerror}, which an export does not write through") from None
