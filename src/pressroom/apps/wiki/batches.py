"""The kind `wiki.rerender`: many articles go through the queue once more, behind whoever waits for one.

All of them, those that are stale, or those that refer to an article that has just been written. After a crash it begins anew:
an article whose render waits already is asked for once.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from itertools import batched
from typing import Any

from pressroom.apps.wiki import orders, renderers, store
from pressroom.apps.wiki.articles import Articles
from pressroom.apps.wiki.model import Article
from pressroom.apps.wiki.orders import Order
from pressroom.errors import Backpressure, QueueClosed, QueueFull
from pressroom.model import Kind, OnKey, Work
from pressroom.store import Database

FOUND_AT_ONCE = 500
ROOM_AGAIN = 0.5  # seconds before a queue that was full is asked again
QUEUED_AT_ONCE = 4  # in one transaction, during which other writers wait: somebody may wait to save


class Batches:
    """`open` hands it what it works on."""

    def __init__(self) -> None:
        self.kind = Kind(orders.NAME, self.handle, max_attempts=5, timeout=None, on_key=OnKey.SKIP, retention=timedelta(days=7))

    def open(self, database: Database, articles: Articles) -> None:
        self._database = database
        self._articles = articles

    async def handle(self, job: Any, payload: Any) -> dict[str, int]:
        order = orders.read(payload)
        if order.which == "import":
            return {"queued": 0}
        with job.release_slot():  # it only asks, and what it asks for wants a slot
            try:
                return await self._through(job, order)
            except QueueClosed as reason:  # it costs no attempt: it begins anew
                raise Backpressure(str(reason)) from None

    async def _through(self, job: Any, order: Order) -> dict[str, int]:
        org_id = job.org_id or ""
        total = await self._database.read(partial(store.count, org_id)) if order.which == "all" else None
        await job.phase("queueing renders", total=total)
        queued, after = 0, 0
        while found := await self._database.read(partial(_chooser(order), org_id, after, FOUND_AT_ONCE)):
            for some in batched(found, QUEUED_AT_ONCE):
                queued += await self._queued([article.id for article in some], job)
                await job.progress(queued)
            after = found[-1].id
        return {"queued": queued}

    async def _queued(self, ids: Sequence[int], job: Any) -> int:
        """Where the queue is full it waits for room, and does not begin anew: it would never come to the end."""
        while True:
            try:
                return await self._articles.rerender_many(ids, parent=job.uid)
            except QueueFull as reason:
                await job.message("the queue is full; waiting for room")
                await asyncio.sleep(max(ROOM_AGAIN, reason.retry_after))

    async def find_stale(self) -> int:
        """Pages that would be made differently today are marked, and those of them that are newest are queued.

        For when a worker starts: the template or an engine may be another than the last time, and search may be new.
        """
        # Some at a time, each a transaction of its own, so that others can write between them.
        while await self._database.run(partial(store.index_some, QUEUED_AT_ONCE), name="article"):
            pass
        made_by = await self._database.read(store.renderers)
        outdated = [renderer for renderer in made_by if not renderers.is_current(renderer)]
        for renderer in outdated:
            while await self._database.run(partial(store.mark_stale, renderer, FOUND_AT_ONCE), name="article"):
                pass
        for org_id in await self._database.read(store.stale_orgs):
            await self._articles.rerender_all(org_id, Order("stale"))
        return len(outdated)


def _chooser(order: Order) -> Callable[[str, int, int], Work[list[Article]]]:
    match order.which:
        case "linking":
            return lambda org_id, after, limit: store.linking(org_id, order.url or "", after, limit)
        case "stale":
            return store.stale
        case _:
            return store.articles
