"""The kind `wiki.rerender`: many articles are rendered again, in the background tier.

All of them, those that are stale, or those that link to an article that has just been written. After a crash it starts over:
an article whose render waits already is not queued twice.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from itertools import batched
from typing import Any

from pressroom.apps.wiki import renderers, rerender_requests, store
from pressroom.apps.wiki.articles import Articles
from pressroom.apps.wiki.model import Article
from pressroom.apps.wiki.rerender_requests import RerenderRequest
from pressroom.definitions import Kind
from pressroom.errors import Backpressure, QueueClosed, QueueFull
from pressroom.model import OnKey, Work
from pressroom.store import Database

READ_BATCH = 500
FULL_RETRY_DELAY = 0.5  # seconds before the next submit to a full queue
SUBMIT_BATCH = 4  # in one transaction, which blocks other writers: an author may wait to save


class Batches:
    """`open` gives it the database and the articles."""

    def __init__(self) -> None:
        self.kind = Kind(
            rerender_requests.NAME, self.handle, max_attempts=5, timeout=None, on_key=OnKey.SKIP, retention=timedelta(days=7)
        )

    def open(self, database: Database, articles: Articles) -> None:
        self._database = database
        self._articles = articles

    async def handle(self, job: Any, payload: Any) -> dict[str, int]:
        request = rerender_requests.parse_request(payload)
        if request.which == "import":
            return {"queued": 0}
        with job.release_slot():  # it only submits, and the renders need a slot
            try:
                return await self._submit_all(job, request)
            except QueueClosed as reason:  # costs no attempt; the job starts over
                raise Backpressure(str(reason)) from None

    async def _submit_all(self, job: Any, request: RerenderRequest) -> dict[str, int]:
        org_id = job.org_id or ""
        total = await self._database.read(partial(store.count_articles, org_id)) if request.which == "all" else None
        await job.phase("queueing renders", total=total)
        queued, after = 0, 0
        while found := await self._database.read(partial(_article_query(request), org_id, after, READ_BATCH)):
            for some in batched(found, SUBMIT_BATCH):
                queued += await self._submit_articles([article.id for article in some], job)
                await job.progress(queued)
            after = found[-1].id
        return {"queued": queued}

    async def _submit_articles(self, ids: Sequence[int], job: Any) -> int:
        """Waits while the queue is full: a job that started over instead would never finish."""
        while True:
            try:
                return await self._articles.rerender_many(ids, parent=job.uid)
            except QueueFull as reason:
                await job.message("the queue is full; waiting for room")
                await asyncio.sleep(max(FULL_RETRY_DELAY, reason.retry_after))

    async def mark_stale_articles(self) -> int:
        """Pages that would be made differently today are marked, and those of them that are newest are queued.

        For when a worker starts: the template or an engine may be another than the last time, and search may be new.
        """
        # Some at a time, each a transaction of its own, so that others can write between them.
        while await self._database.run(partial(store.index_articles, SUBMIT_BATCH), name="article"):
            pass
        made_by = await self._database.read(store.list_renderers)
        outdated = [renderer for renderer in made_by if not renderers.is_current(renderer)]
        for renderer in outdated:
            while await self._database.run(partial(store.mark_stale, renderer, READ_BATCH), name="article"):
                pass
        for org_id in await self._database.read(store.list_stale_orgs):
            await self._articles.rerender_all(org_id, RerenderRequest("stale"))
        return len(outdated)


def _article_query(request: RerenderRequest) -> Callable[[str, int, int], Work[list[Article]]]:
    match request.which:
        case "linking":
            return lambda org_id, after, limit: store.list_linking_articles(org_id, request.url or "", after, limit)
        case "stale":
            return store.list_stale_articles
        case _:
            return store.list_articles
