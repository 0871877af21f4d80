"""A preview: rendered at once, beside the queue, and kept nowhere. It is a picture, or what is wrong with the source."""

import base64
import os
import time
from collections.abc import Sequence

import msgspec
from starlette.requests import Request

from pressroom.api.disconnects import cancel_on_disconnect
from pressroom.api.problems import HttpError, Problem, describe
from pressroom.apps.diagrams import requests
from pressroom.errors import AttemptError, Backpressure, PressroomError, SourceInvalid
from pressroom.kinds.rendering import Rendering
from pressroom.renderers import MEDIA_TYPES, Notice, Rendered
from pressroom.renderers.documents import PreparedRender, RenderRequest
from pressroom.renderers.source_errors import EXCERPT_LIMIT
from pressroom.submission.fair_slots import FairSlots

WAITING_PER_SLOT = 8  # previews for each that is rendered; an author who types on gives up before these are done
RETRY_AFTER = 1  # seconds
EMBED_LIMIT = 4 * 1024 * 1024  # bytes; a page with more embedded in it is slow


class PreviewResult(msgspec.Struct, frozen=True):
    """A preview or its error. `shown` says how: `picture`, `page`, `pdf`, `text`, or None if it is too big or wrong."""

    problem: Problem | None = None
    is_about_source: bool = False  # and not about how it was asked for
    caret: str | None = None
    shown: str | None = None
    address: str | None = None  # the picture itself
    text: str | None = None
    media_type: str = ""
    size: int = 0
    seconds: float = 0.0
    width: float | None = None
    height: float | None = None
    title: str | None = None
    warnings: Sequence[Notice] = ()


class Previews:
    """Some at a time in this process, so that previews cannot starve the jobs. Organisations take turns."""

    def __init__(self, rendering: Rendering, concurrent: int = 0) -> None:
        concurrent = concurrent or os.cpu_count() or 1
        self._rendering = rendering
        self._slots = FairSlots(concurrent, WAITING_PER_SLOT * concurrent)

    async def render(self, request: Request, org_id: str | None, render_request: RenderRequest) -> Rendered:
        """Raises what is wrong with the request or the source, and 503 when too many previews wait."""
        prepared = requests.prepare_render(render_request)
        try:
            return await cancel_on_disconnect(request, self._render_in_slot(org_id, prepared))
        except Backpressure:
            words = "too many previews are being made just now; this one is tried again in a moment"
            raise HttpError(503, "backpressure", words, {"Retry-After": str(RETRY_AFTER)}) from None

    async def _render_in_slot(self, org_id: str | None, prepared: PreparedRender) -> Rendered:
        async with self._slots.hold_slot(org_id):
            return await self._rendering.preview(prepared)

    async def render_or_explain(self, request: Request, org_id: str | None, render_request: RenderRequest) -> PreviewResult:
        """The preview, or what is wrong with the source or the request."""
        begun = time.monotonic()
        try:
            rendered = await self.render(request, org_id, render_request)
        except PressroomError as wrong:
            return error_result(request, wrong, render_request.source)
        return _good_result(rendered, time.monotonic() - begun)


def error_result(request: Request, error: PressroomError, source: bytes = b"") -> PreviewResult:
    problem = describe(request, error)
    is_about_source = isinstance(error, AttemptError) or error.code == SourceInvalid.code
    return PreviewResult(
        problem=problem, is_about_source=is_about_source, caret=_caret_line(source.decode(errors="replace"), problem)
    )


def _good_result(rendered: Rendered, seconds: float) -> PreviewResult:
    shown = _display_kind(rendered.media_type) if len(rendered.data) <= EMBED_LIMIT else None
    details = rendered.details
    return PreviewResult(
        shown=shown,
        address=_data_address(rendered) if shown == "picture" else None,
        text=rendered.data.decode(errors="replace") if shown == "text" else None,
        media_type=rendered.media_type,
        size=len(rendered.data),
        seconds=seconds,
        width=details.get("width"),
        height=details.get("height"),
        title=details.get("title"),
        warnings=rendered.warnings,
    )


def _display_kind(media_type: str) -> str:
    ways = {
        MEDIA_TYPES["svg"]: "picture",
        MEDIA_TYPES["png"]: "picture",
        MEDIA_TYPES["html"]: "page",
        MEDIA_TYPES["pdf"]: "pdf",
    }
    return ways.get(media_type, "text")


def _data_address(rendered: Rendered) -> str:
    return f"data:{rendered.media_type};base64,{base64.b64encode(rendered.data).decode()}"


def _caret_line(source: str, problem: Problem) -> str | None:
    """A line to stand below the excerpt, with a mark under the column. Tabs stay tabs, so that both lines are as wide."""
    if not problem.excerpt or not problem.column or not problem.line or "\n" in problem.excerpt:
        return None
    lines = source.split("\n")
    length = len(lines[problem.line - 1].rstrip("\r")) if problem.line <= len(lines) else 0
    cut = max(0, problem.column - 1 - EXCERPT_LIMIT // 2) if length > EXCERPT_LIMIT else 0
    before = problem.excerpt[: problem.column - 1 - cut]
    return "".join("\t" if letter == "\t" else " " for letter in before) + "^"
