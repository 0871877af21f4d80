"""The kind `wiki.render`: a revision of an article becomes HTML, kept by the worker in the transaction that ends the job."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom.apps.wiki import drawing, links, renderers, store
from pressroom.apps.wiki.finish import finished, id_of
from pressroom.apps.wiki.model import Article, RenderStatus
from pressroom.apps.wiki.store import Page
from pressroom.errors import NotFound, PressroomError
from pressroom.model import Backoff, Ending, Kind, Result, Status, Work
from pressroom.queue import Queue
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import Asked
from pressroom.rendering import Rendering
from pressroom.store import Database

NAME = "wiki.render"
LONG = 100_000  # characters of a page


class Payload(msgspec.Struct, frozen=True):
    """Which revision. Its text is in the database, and never changes."""

    article: int
    revision: int
    url: str


class Renders:
    """`prefix` is what stands before `/wiki` in the addresses of the service."""

    def __init__(self, rendering: Rendering, prefix: str) -> None:
        self._rendering = rendering
        self._prefix = prefix
        self.kind = Kind(
            NAME,
            self.handle,
            max_attempts=3,
            backoff=Backoff(base=1, cap=30),
            timeout=120,
            retention=timedelta(days=1),
            settling=settle,
            pool="render",
            preempt=True,  # a corrected article does not wait for the render of the wrong one
        )

    def open(self, database: Database, queue: Queue) -> None:
        self._database = database
        self._queue = queue

    async def handle(self, job: Any, payload: Any) -> Result:
        wanted = msgspec.convert(payload, Payload)
        article, source = await self._database.read(partial(_text_of, wanted, job.org_id))
        asked = Asked("markdown", "html", source.encode(), renderers.OPTIONS)
        engines = documents.engines_of(asked)
        try:
            draw = drawing.through(self._queue, self._rendering, job)
            rendered = await documents.render(self._rendering.presses_for(job), asked, draw)
        except PressroomError as error:
            error.engines = engines
            raise
        page = await self.page(article.org_id, rendered, renderers.name(engines))
        told = {
            "article": article.url,
            "revision": wanted.revision,
            "size": len(page.html),
            "warnings": [msgspec.to_builtins(warning) for warning in rendered.warnings[:100]],
            "engines": engines,
        }
        return Result(told, page)

    async def preview(self, org_id: str, source: str) -> Page:
        """Now, without a job or a row, inside the same limits."""
        asked = Asked("markdown", "html", source.encode(), renderers.OPTIONS)
        return await self.page(org_id, await self._rendering.preview(asked), "")

    async def page(self, org_id: str, rendered: Rendered, renderer: str) -> Page:
        body = rendered.data.decode()
        # Links without number in a page of megabytes take a second, in which others would be kept waiting.
        long = len(body) > LONG
        targets = await asyncio.to_thread(links.targets_in, body) if long else links.targets_in(body)
        existing = await self._database.read(partial(store.existing, org_id, targets)) if targets else set()
        finish = partial(_finished, body, existing, self._prefix)
        html = await asyncio.to_thread(finish) if long else finish()
        headings = [{**heading, "id": id_of(heading["id"])} for heading in rendered.details.get("headings", [])]
        return Page(html, headings, targets, renderer)


def _finished(body: str, existing: set[str], prefix: str) -> str:
    return links.resolved(finished(body), existing, prefix)


def settle(ending: Ending) -> Work[None]:
    """A payload is the caller's own words, so it may name an article that is not theirs or not there: then nothing is kept."""
    try:
        wanted = msgspec.convert(ending.payload, Payload)
        article = yield from store.by_id(wanted.article)
    except (msgspec.ValidationError, NotFound):
        return
    if article.org_id != (ending.org_id or ""):
        return
    if ending.for_hook is not None:
        yield from store.keep_page(article, wanted.revision, ending.for_hook)
        return
    # One that was stopped can still be rendered, by whoever opens it.
    status = RenderStatus.STALE if ending.status is Status.CANCELLED else RenderStatus.FAILED
    yield from store.give_up(article.id, wanted.revision, ending.uid, status, ending.error)


def _text_of(wanted: Payload, org_id: str | None) -> Work[tuple[Article, str]]:
    article = yield from store.by_id(wanted.article)
    if article.org_id != (org_id or ""):
        raise NotFound("there is no such article")
    return article, (yield from store.revision(article, wanted.revision)).source
