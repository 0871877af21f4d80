"""The kind `wiki.render`: a revision of an article becomes HTML, kept by the worker in the transaction that ends the job."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom.apps.wiki import diagrams, links, renderers, store
from pressroom.apps.wiki.model import RenderStatus
from pressroom.apps.wiki.postprocess import heading_id, postprocess_html
from pressroom.apps.wiki.store import RenderedPage
from pressroom.definitions import Backoff, Kind
from pressroom.errors import NotFound, PressroomError
from pressroom.kinds.rendering import Rendering
from pressroom.model import Ending, Result, Status, Work
from pressroom.queue import Queue
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.store import Database

NAME = "wiki.render"
LONG = 100_000  # characters of a page


class RenderPayload(msgspec.Struct, frozen=True):
    """Which revision. Its text is in the database, and never changes."""

    article: int
    revision: int
    url: str


class ArticleRenders:
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
        target = msgspec.convert(payload, RenderPayload)
        org_id = job.org_id or ""
        url, source = await self._database.read(partial(store.get_source, org_id, target.article, target.revision))
        asked = RenderRequest("markdown", "html", source.encode(), renderers.OPTIONS)
        plan = documents.make_plan(asked)
        engines = documents.engines_of(plan)
        try:
            draw = partial(diagrams.draw_diagram, self._queue, self._rendering, job)
            rendered = await documents.render(self._rendering.engine_pools_for(job), plan, draw)
        except PressroomError as error:
            error.engines = engines
            raise
        page = await self.make_page(org_id, rendered, renderers.renderer_name(engines))
        result = {
            "article": url,
            "revision": target.revision,
            "size": len(page.html),
            "warnings": [msgspec.to_builtins(warning) for warning in rendered.warnings[:100]],
            "engines": engines,
        }
        return Result(result, page)

    async def preview(self, org_id: str, source: str) -> RenderedPage:
        """Now, without a job or a row, inside the same limits."""
        asked = RenderRequest("markdown", "html", source.encode(), renderers.OPTIONS)
        return await self.make_page(org_id, await self._rendering.preview(documents.prepare(asked)), "")

    async def make_page(self, org_id: str, rendered: Rendered, renderer: str) -> RenderedPage:
        body = rendered.data.decode()
        # Links without number in a page of megabytes take a second, in which others would be kept waiting.
        long = len(body) > LONG
        targets = await asyncio.to_thread(links.find_targets, body) if long else links.find_targets(body)
        existing = await self._database.read(partial(store.find_existing_urls, org_id, targets)) if targets else set()
        postprocess = partial(_postprocess_page, body, existing, self._prefix)
        html = await asyncio.to_thread(postprocess) if long else postprocess()
        headings = [{**heading, "id": heading_id(heading["id"])} for heading in rendered.details.get("headings", [])]
        return RenderedPage(html, headings, targets, renderer)


def _postprocess_page(body: str, existing: set[str], prefix: str) -> str:
    return links.resolve_links(postprocess_html(body), existing, prefix)


def settle(ending: Ending) -> Work[None]:
    """A payload is the caller's own words, so it may name an article that is not theirs or not there: then nothing is kept."""
    try:
        target = msgspec.convert(ending.payload, RenderPayload)
        article = yield from store.get_article_by_id(target.article)
    except (msgspec.ValidationError, NotFound):
        return
    if article.org_id != (ending.org_id or ""):
        return
    if ending.for_hook is not None:
        yield from store.save_page(article, target.revision, ending.for_hook)
        return
    # A cancelled render is submitted again when the article is opened.
    status = RenderStatus.STALE if ending.status is Status.CANCELLED else RenderStatus.FAILED
    yield from store.mark_revision_failed(article.id, target.revision, ending.uid, status, ending.error)
