"""The article service: the pages, the commands and other programs write, read and render articles through it (W3)."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from pressroom.apps.wiki import rerender_requests, store
from pressroom.apps.wiki.model import Article, ArticleDraft, RenderStatus, Revision
from pressroom.apps.wiki.renders import NAME, ArticleRenders, RenderPayload
from pressroom.apps.wiki.rerender_requests import RerenderRequest
from pressroom.apps.wiki.store import RenderedPage, RevisionSummary, SaveResult
from pressroom.base.excerpts import ExcerptPart, make_excerpt
from pressroom.base.search_terms import query_terms
from pressroom.errors import Ended, QueueClosed, WaitTimeout
from pressroom.model import Job, Status, Submitted, Tier
from pressroom.queue import Queue
from pressroom.store import Database, Transaction
from pressroom.submission.fair_slots import FairSlots
from pressroom.submission.request import Request

HISTORY_SHOWN = 50
BATCHES_SHOWN = 5
PREVIEWS_WAITING = 8  # for each that is rendered; an author who types on gives up before these are done
RESULTS_SHOWN = 20  # on a page of what was searched for
LISTED = 200

type ArticlePage = tuple[list[Article], int | None]  # inside Articles, `list` is a method


class PostResult(msgspec.Struct, frozen=True):
    """`rendering`: the caller stopped waiting before the render ended; the page completes itself."""

    saved: SaveResult
    revision: Revision
    rendering: bool


class BatchView(msgspec.Struct, frozen=True):
    """A job that queued renders, and how many of those wait, are done and failed."""

    job: Job
    waiting: int
    rendered: int
    failed: int


class ArticleSearchResult(msgspec.Struct, frozen=True):
    article: Article
    excerpt: list[ExcerptPart]


class ArticleView(msgspec.Struct, frozen=True):
    """An article as it is shown: the newest revision, and the one whose HTML there is, which may be an older one."""

    article: Article
    head: Revision
    shown: Revision | None


class Articles:
    def __init__(self, queue: Queue, database: Database, renders: ArticleRenders) -> None:
        self._queue = queue
        self._database = database
        self._renders = renders
        at_once = os.cpu_count() or 1
        self._previews = FairSlots(at_once, PREVIEWS_WAITING * at_once)

    async def post(self, org_id: str | None, draft: ArticleDraft, *, wait: float, **options: Any) -> PostResult:
        """Keep a text as the newest revision and submit its render, both or neither; then wait for it, not too long.

        Raises EditConflict. The text that is there already is not modified. The worker saves the HTML whether or not the
        caller still waits.
        """
        async with self._queue.transaction() as tx:
            saved = await tx.run(partial(store.save_article, org_id or "", draft), name="article")
            job = None
            if saved.modified:
                job = await self._submit(saved.article, saved.revision, Tier.INTERACTIVE, within=tx, **options)
            if saved.created:
                linking = await tx.run(partial(store.list_linking_articles, org_id or "", draft.url, 0, 1), name="article")
                if linking:  # they say that it is not there
                    await self.rerender_all(org_id, RerenderRequest("linking", draft.url), within=tx)
        rendering = job is not None and not await self._wait_for_end(job, wait)
        revision = await self._database.read(partial(store.get_revision, saved.article, saved.revision))
        return PostResult(saved, revision, rendering and revision.render_status is RenderStatus.QUEUED)

    async def begin_import(self, org_id: str | None, what: str) -> Submitted:
        """The job that stands for an import: the renders are its children."""
        request = RerenderRequest("import", what)
        return await self._queue.submit(
            rerender_requests.NAME,
            msgspec.to_builtins(request),
            tier=Tier.BACKGROUND,
            org_id=org_id or None,
            subject=request.subject,
        )

    async def save_many(self, org_id: str | None, drafts: Sequence[ArticleDraft], *, parent: str) -> "Sequence[SaveResult]":
        """Many texts in one transaction, each as the newest of its article, with its render in the background tier.

        Pages that say of a new one that it is not there become stale: `rerender_all` lets them be rendered.
        """
        async with self._queue.transaction() as tx:
            saved = await tx.run(partial(store.save_articles, org_id or "", drafts), name="article")
            await self._submit_many([one.article for one in saved if one.modified], parent, within=tx)
        return saved

    async def preview(self, org_id: str | None, source: str) -> RenderedPage:
        """W2: no row, no job, no slot of a worker. Some at a time, so that previews cannot starve the jobs, and
        organisations in turn.

        Raises Backpressure when too many wait already.
        """
        async with self._previews.hold_slot(org_id):
            return await self._renders.preview(org_id or "", source)

    async def rerender(
        self,
        org_id: str | None,
        url: str,
        number: int | None = None,
        *,
        tier: Tier = Tier.INTERACTIVE,
        wait: float = 0,
        spaced: bool = False,
        **options: Any,
    ) -> PostResult:
        """W4: the newest revision, or another, is rendered again. Its HTML stays until there is another.

        `spaced`: a revision that was rendered a moment ago is not rendered again (D7). Raises RerenderTooSoon.
        """
        article = await self._database.read(partial(store.get_article, org_id or "", url))
        async with self._queue.transaction() as tx:
            (article,) = await tx.run(partial(store.lock_articles, [article.id]), name="article")
            number = article.head if number is None else number
            await tx.run(
                partial(store.get_renderable_revision if spaced else store.get_revision, article, number), name="article"
            )
            job = await self._submit(article, number, tier, within=tx, **options)
        rendering = not await self._wait_for_end(job, wait)
        article = await self._database.read(partial(store.get_article_by_id, article.id))
        revision = await self._database.read(partial(store.get_revision, article, number))
        return PostResult(SaveResult(article, number, modified=False, created=False), revision, rendering)

    async def rerender_all(
        self, org_id: str | None, request: RerenderRequest, *, within: Transaction | None = None, **options: Any
    ) -> Submitted:
        """W5: a job that queues the renders in the background tier. One with the same key that waits already is returned."""
        return await self._queue.submit(
            rerender_requests.NAME,
            msgspec.to_builtins(request),
            tier=Tier.BACKGROUND,
            key=request.key,
            org_id=org_id or None,
            subject=request.subject,
            within=within,
            **options,
        )

    async def rerender_many(self, ids: Sequence[int], *, parent: str) -> int:
        """The newest revisions of these, in one transaction. They are looked up inside it: an author may save meanwhile."""
        async with self._queue.transaction() as tx:
            locked = await tx.run(partial(store.lock_articles, ids), name="article")
            await self._submit_many(locked, parent, within=tx)
        return len(locked)

    async def _submit_many(self, articles: Sequence[Article], parent: str, *, within: Transaction) -> None:
        common: dict[str, Any] = {"tier": Tier.BACKGROUND, "parent": parent}
        requests = [Request(NAME, **_submit_options(article, article.head), **common) for article in articles]
        answers = await self._queue.submit_many(requests, within=within)
        queued = [(article.id, article.head, answer.uid) for article, answer in zip(articles, answers, strict=True)]
        await within.run(partial(store.set_render_jobs, queued), name="article")

    async def read(self, org_id: str | None, url: str) -> ArticleView:
        """Raises NotFound."""
        return await self._database.read(partial(_read_article, org_id or "", url))

    async def get_revision(self, org_id: str | None, url: str, number: int) -> tuple[Article, Revision]:
        return await self._database.read(partial(_read_revision, org_id or "", url, number))

    async def history(
        self, org_id: str | None, url: str, before: int | None = None
    ) -> "tuple[Article, Sequence[RevisionSummary], int | None]":
        """Revisions, newest first, and the number before which older ones go on."""
        article, lines = await self._database.read(partial(_read_history, org_id or "", url, before))
        more = len(lines) > HISTORY_SHOWN
        return article, lines[:HISTORY_SHOWN], lines[HISTORY_SHOWN - 1].number if more else None

    async def count(self, org_id: str | None) -> int:
        return await self._database.read(partial(store.count_articles, org_id or ""))

    async def batch(self, uid: str) -> BatchView:
        job = await self._queue.get(uid)
        return _batch(job, await self._database.read(partial(store.count_renders, job.uid)))

    async def batches(self, org_id: str | None) -> "Sequence[BatchView]":
        """The last ones, newest first."""
        latest = await self._queue.list(kind=rerender_requests.NAME, org_id=org_id or "", limit=BATCHES_SHOWN)
        return [_batch(job, await self._database.read(partial(store.count_renders, job.uid))) for job in latest.jobs]

    async def last_article(self, org_id: str | None) -> int:
        return await self._database.read(partial(store.last_article_id, org_id or ""))

    async def list_after(self, org_id: str | None, after: int, limit: int) -> "Sequence[Article]":
        return await self._database.read(partial(store.list_articles, org_id or "", after, limit))

    async def sources(self, org_id: str | None, after: int, limit: int) -> "Sequence[tuple[Article, str]]":
        return await self._database.read(partial(store.list_sources, org_id or "", after, limit))

    async def list(self, org_id: str | None, after: int) -> ArticlePage:
        """Articles in the order in which they were made, and the id after which others come."""
        return _make_page(await self._database.read(partial(store.list_articles, org_id or "", after, LISTED + 1)))

    async def list_linking(self, org_id: str | None, url: str, after: int) -> ArticlePage:
        """Articles that link to this URL, whether it exists or not."""
        return _make_page(await self._database.read(partial(store.list_linking_articles, org_id or "", url, after, LISTED + 1)))

    async def search(self, org_id: str | None, text: str, page: int = 1) -> "tuple[Sequence[ArticleSearchResult], bool]":
        """Articles that have all of the words, the best first; and whether there are more."""
        terms = query_terms(text)
        if not terms:
            return [], False
        hits = await self._database.read(
            partial(store.search_articles, org_id or "", terms, RESULTS_SHOWN + 1, (page - 1) * RESULTS_SHOWN)
        )
        found = [ArticleSearchResult(hit.article, make_excerpt(hit.source, terms)) for hit in hits[:RESULTS_SHOWN]]
        return found, len(hits) > RESULTS_SHOWN

    async def _submit(self, article: Article, number: int, tier: Tier, *, within: Transaction, **options: Any) -> Submitted:
        job = await self._queue.submit(NAME, **_submit_options(article, number), tier=tier, within=within, **options)
        await within.run(partial(store.set_render_jobs, [(article.id, number, job.uid)]), name="article")
        return job

    async def _wait_for_end(self, job: Submitted, wait: float) -> bool:
        try:
            await self._queue.wait(job, timeout=wait)
        except (WaitTimeout, QueueClosed):  # the text is saved; another process renders it
            return False
        except Ended:
            return True
        return True


def _submit_options(article: Article, number: int) -> dict[str, Any]:
    """The newest revision has the key of its article; an older one must not take the place of a newer one that waits."""
    return {
        "payload": msgspec.to_builtins(RenderPayload(article.id, number, article.url)),
        "key": article.key if number == article.head else f"{article.key}@{number}",
        "org_id": article.org_id or None,
        "subject": f"wiki {article.url}@{number}",
    }


def _batch(job: Job, renders: dict[Status, int]) -> BatchView:
    waiting = sum(count for status, count in renders.items() if not status.ended)
    rendered = renders.get(Status.COMPLETED, 0)
    return BatchView(job, waiting, rendered, sum(renders.values()) - waiting - rendered)


def _make_page(articles: list[Article]) -> ArticlePage:
    return articles[:LISTED], articles[LISTED - 1].id if len(articles) > LISTED else None


def _read_article(org_id: str, url: str) -> Any:
    article = yield from store.get_article(org_id, url)
    head = yield from store.get_revision(article, article.head)
    if head.html is not None or article.shown is None:
        return ArticleView(article, head, head if head.html is not None else None)
    return ArticleView(article, head, (yield from store.get_revision(article, article.shown)))


def _read_revision(org_id: str, url: str, number: int) -> Any:
    article = yield from store.get_article(org_id, url)
    return article, (yield from store.get_revision(article, number))


def _read_history(org_id: str, url: str, before: int | None) -> Any:
    article = yield from store.get_article(org_id, url)
    return article, (yield from store.list_revisions(article, before, HISTORY_SHOWN + 1))
