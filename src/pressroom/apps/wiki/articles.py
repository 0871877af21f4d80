"""The article service: whoever writes, reads or renders an article comes through here (W3)."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from pressroom.apps.wiki import orders, store, words
from pressroom.apps.wiki.model import Article, Draft, RenderStatus, Revision
from pressroom.apps.wiki.orders import Order
from pressroom.apps.wiki.renders import NAME, Payload, Renders
from pressroom.apps.wiki.store import Line, Page, Saved
from pressroom.apps.wiki.words import Piece
from pressroom.errors import Ended, QueueClosed, WaitTimeout
from pressroom.fair_slots import Slots
from pressroom.model import Job, Status, Submitted, Tier
from pressroom.queue import Queue
from pressroom.request import Request
from pressroom.store import Database, Transaction

HISTORY_SHOWN = 50
BATCHES_SHOWN = 5
PREVIEWS_WAITING = 8  # for each that is rendered; whoever types on gives up before these are done
FOUND = 20  # on a page of what was searched for
LISTED = 200

type Some = tuple[list[Article], int | None]  # inside Articles, `list` is a method


class Posted(msgspec.Struct, frozen=True):
    """`rendering` says that whoever posted it did not want to wait any longer: the page completes itself."""

    saved: Saved
    revision: Revision
    rendering: bool


class Batch(msgspec.Struct, frozen=True):
    """A job that queued renders, and how those fare."""

    job: Job
    waiting: int
    rendered: int
    failed: int


class Found(msgspec.Struct, frozen=True):
    article: Article
    excerpt: list[Piece]


class Reading(msgspec.Struct, frozen=True):
    """An article as it is shown: the newest revision, and the one whose HTML there is, which may be an older one."""

    article: Article
    head: Revision
    shown: Revision | None


class Articles:
    def __init__(self, queue: Queue, database: Database, renders: Renders) -> None:
        self._queue = queue
        self._database = database
        self._renders = renders
        at_once = os.cpu_count() or 1
        self._previews = Slots(at_once, PREVIEWS_WAITING * at_once)

    async def post(self, org_id: str | None, draft: Draft, *, wait: float, **how: Any) -> Posted:
        """Keep a text as the newest revision and submit its render, both or neither; then wait for it, not too long.

        Raises EditConflict. The text that is there already is not modified. What is waited for and what is kept have nothing to
        do with each other: the worker keeps the HTML, also when nobody waits any more.
        """
        async with self._queue.transaction() as tx:
            saved = await tx.run(partial(store.save, org_id or "", draft), name="article")
            job = None
            if saved.modified:
                job = await self._submit(saved.article, saved.revision, Tier.INTERACTIVE, within=tx, **how)
            if saved.created:
                linking = await tx.run(partial(store.linking, org_id or "", draft.url, 0, 1), name="article")
                if linking:  # they say that it is not there
                    await self.rerender_all(org_id, Order("linking", draft.url), within=tx)
        rendering = job is not None and not await self._is_over(job, wait)
        revision = await self._database.read(partial(store.revision, saved.article, saved.revision))
        return Posted(saved, revision, rendering and revision.render_status is RenderStatus.QUEUED)

    async def begin_import(self, org_id: str | None, what: str) -> Submitted:
        """The job that stands for an import: the renders are its children."""
        order = Order("import", what)
        return await self._queue.submit(
            orders.NAME, msgspec.to_builtins(order), tier=Tier.BACKGROUND, org_id=org_id or None, subject=order.subject
        )

    async def save_many(self, org_id: str | None, drafts: Sequence[Draft], *, parent: str) -> "Sequence[Saved]":
        """Many texts in one transaction, each as the newest of its article, and its render behind whoever waits.

        Pages that say of a new one that it is not there become stale: `rerender_all` lets them be rendered.
        """
        async with self._queue.transaction() as tx:
            saved = await tx.run(partial(store.save_many, org_id or "", drafts), name="article")
            await self._submit_many([one.article for one in saved if one.modified], parent, within=tx)
        return saved

    async def preview(self, org_id: str | None, source: str) -> Page:
        """W2: no row, no job, no slot of a worker. Some at a time, so that people who type cannot starve the jobs, and
        organisations in turn.

        Raises Backpressure when too many wait already.
        """
        async with self._previews.slot(org_id):
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
        **how: Any,
    ) -> Posted:
        """W4: the newest revision, or another, is rendered again. Its HTML stays until there is another.

        `spaced` is for whoever only wishes it: what was rendered a moment ago is not rendered again (D7). Raises TooSoon.
        """
        article = await self._database.read(partial(store.get, org_id or "", url))
        async with self._queue.transaction() as tx:
            (article,) = await tx.run(partial(store.lock, [article.id]), name="article")
            number = article.head if number is None else number
            await tx.run(partial(store.may_render if spaced else store.revision, article, number), name="article")
            job = await self._submit(article, number, tier, within=tx, **how)
        rendering = not await self._is_over(job, wait)
        article = await self._database.read(partial(store.by_id, article.id))
        revision = await self._database.read(partial(store.revision, article, number))
        return Posted(Saved(article, number, modified=False, created=False), revision, rendering)

    async def rerender_all(
        self, org_id: str | None, order: Order, *, within: Transaction | None = None, **how: Any
    ) -> Submitted:
        """W5: a job that queues the renders, behind whoever waits. One that waits and would do the same is the answer."""
        return await self._queue.submit(
            orders.NAME,
            msgspec.to_builtins(order),
            tier=Tier.BACKGROUND,
            key=order.key,
            org_id=org_id or None,
            subject=order.subject,
            within=within,
            **how,
        )

    async def rerender_many(self, ids: Sequence[int], *, parent: str) -> int:
        """The newest revisions of these, in one transaction. Which those are is looked up there: somebody may save just now."""
        async with self._queue.transaction() as tx:
            some = await tx.run(partial(store.lock, ids), name="article")
            await self._submit_many(some, parent, within=tx)
        return len(some)

    async def _submit_many(self, some: Sequence[Article], parent: str, *, within: Transaction) -> None:
        how: dict[str, Any] = {"tier": Tier.BACKGROUND, "parent": parent}
        requests = [Request(NAME, **_asked(article, article.head), **how) for article in some]
        answers = await self._queue.submit_many(requests, within=within)
        queued = [(article.id, article.head, answer.uid) for article, answer in zip(some, answers, strict=True)]
        await within.run(partial(store.queue_many, queued), name="article")

    async def read(self, org_id: str | None, url: str) -> Reading:
        """Raises NotFound."""
        return await self._database.read(partial(_reading, org_id or "", url))

    async def revision(self, org_id: str | None, url: str, number: int) -> tuple[Article, Revision]:
        return await self._database.read(partial(_one, org_id or "", url, number))

    async def history(
        self, org_id: str | None, url: str, before: int | None = None
    ) -> "tuple[Article, Sequence[Line], int | None]":
        """Revisions, newest first, and the number before which older ones go on."""
        article, lines = await self._database.read(partial(_history, org_id or "", url, before))
        more = len(lines) > HISTORY_SHOWN
        return article, lines[:HISTORY_SHOWN], lines[HISTORY_SHOWN - 1].number if more else None

    async def count(self, org_id: str | None) -> int:
        return await self._database.read(partial(store.count, org_id or ""))

    async def batch(self, uid: str) -> Batch:
        job = await self._queue.get(uid)
        return _batch(job, await self._database.read(partial(store.count_renders, job.uid)))

    async def batches(self, org_id: str | None) -> "Sequence[Batch]":
        """The last ones, newest first."""
        latest = await self._queue.list(kind=orders.NAME, org_id=org_id or "", limit=BATCHES_SHOWN)
        return [_batch(job, await self._database.read(partial(store.count_renders, job.uid))) for job in latest.jobs]

    async def last_article(self, org_id: str | None) -> int:
        return await self._database.read(partial(store.last_article, org_id or ""))

    async def some(self, org_id: str | None, after: int, limit: int) -> "Sequence[Article]":
        return await self._database.read(partial(store.articles, org_id or "", after, limit))

    async def sources(self, org_id: str | None, after: int, limit: int) -> "Sequence[tuple[Article, str]]":
        return await self._database.read(partial(store.sources, org_id or "", after, limit))

    async def list(self, org_id: str | None, after: int) -> Some:
        """Articles in the order in which they were made, and the id after which others come."""
        return _some(await self._database.read(partial(store.articles, org_id or "", after, LISTED + 1)))

    async def linking(self, org_id: str | None, url: str, after: int) -> Some:
        """Those that refer to this one, whether it is there or not."""
        return _some(await self._database.read(partial(store.linking, org_id or "", url, after, LISTED + 1)))

    async def search(self, org_id: str | None, text: str, page: int = 1) -> "tuple[Sequence[Found], bool]":
        """Articles that have all of the words, the best first; and whether there are more."""
        sought = words.sought(text)
        if not sought:
            return [], False
        hits = await self._database.read(partial(store.search, org_id or "", sought, FOUND + 1, (page - 1) * FOUND))
        found = [Found(hit.article, words.excerpt(hit.source, sought)) for hit in hits[:FOUND]]
        return found, len(hits) > FOUND

    async def _submit(self, article: Article, number: int, tier: Tier, *, within: Transaction, **how: Any) -> Submitted:
        job = await self._queue.submit(NAME, **_asked(article, number), tier=tier, within=within, **how)
        await within.run(partial(store.queue_many, [(article.id, number, job.uid)]), name="article")
        return job

    async def _is_over(self, job: Submitted, wait: float) -> bool:
        try:
            await self._queue.wait(job, timeout=wait)
        except (WaitTimeout, QueueClosed):  # whoever stops has kept the text, and somebody else renders it
            return False
        except Ended:
            return True
        return True


def _asked(article: Article, number: int) -> dict[str, Any]:
    """The newest revision has the key of its article; an older one must not take the place of a newer one that waits."""
    return {
        "payload": msgspec.to_builtins(Payload(article.id, number, article.url)),
        "key": article.key if number == article.head else f"{article.key}@{number}",
        "org_id": article.org_id or None,
        "subject": f"wiki {article.url}@{number}",
    }


def _batch(job: Job, renders: dict[Status, int]) -> Batch:
    waiting = sum(count for status, count in renders.items() if not status.ended)
    rendered = renders.get(Status.COMPLETED, 0)
    return Batch(job, waiting, rendered, sum(renders.values()) - waiting - rendered)


def _some(found: list[Article]) -> Some:
    return found[:LISTED], found[LISTED - 1].id if len(found) > LISTED else None


def _reading(org_id: str, url: str) -> Any:
    article = yield from store.get(org_id, url)
    head = yield from store.revision(article, article.head)
    if head.html is not None or article.shown is None:
        return Reading(article, head, head if head.html is not None else None)
    return Reading(article, head, (yield from store.revision(article, article.shown)))


def _one(org_id: str, url: str, number: int) -> Any:
    article = yield from store.get(org_id, url)
    return article, (yield from store.revision(article, number))


def _history(org_id: str, url: str, before: int | None) -> Any:
    article = yield from store.get(org_id, url)
    return article, (yield from store.history(article, before, HISTORY_SHOWN + 1))
