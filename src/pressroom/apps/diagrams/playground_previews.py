"""A preview: rendered at once, beside the queue, and kept nowhere. It is a picture, or what is wrong with the source."""

import base64
import os
import time
from collections.abc import Sequence

import msgspec
from starlette.requests import Request

from pressroom.api.disconnects import cancel_on_disconnect
from pressroom.api.problems import HttpError, Problem, describe
from pressroom.apps.diagrams import asking
from pressroom.errors import AttemptError, Backpressure, PressroomError, SourceInvalid
from pressroom.fair_slots import Slots
from pressroom.renderers import MEDIA_TYPES, Notice, Rendered
from pressroom.renderers.documents import Asked
from pressroom.renderers.place import EXCERPT_LIMIT
from pressroom.rendering import Rendering

WAITING = 8  # previews for each that is rendered; whoever types on gives up before these are done
RETRY_AFTER = 1  # seconds
EMBEDDED = 4 * 1024 * 1024  # bytes; a page with more in it is no longer a pleasure


class Verdict(msgspec.Struct, frozen=True):
    """What became of it. `shown` is how to show it: `picture`, `page`, `pdf`, `text`, or nothing if it is too big or wrong."""

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
    """Some at a time in this process, so that people who type cannot starve the jobs. Organisations take turns."""

    def __init__(self, rendering: Rendering, at_once: int = 0) -> None:
        at_once = at_once or os.cpu_count() or 1
        self._rendering = rendering
        self._slots = Slots(at_once, WAITING * at_once)

    async def make(self, request: Request, org_id: str | None, asked: Asked) -> Rendered:
        """Raises what is wrong with the request or the source, and 503 when too many look at once."""
        asking.checked(asked)
        try:
            return await cancel_on_disconnect(request, self._in_turn(org_id, asked))
        except Backpressure:
            words = "too many previews are being made just now; this one is tried again in a moment"
            raise HttpError(503, "backpressure", words, {"Retry-After": str(RETRY_AFTER)}) from None

    async def _in_turn(self, org_id: str | None, asked: Asked) -> Rendered:
        async with self._slots.slot(org_id):
            return await self._rendering.preview(asked)

    async def judge(self, request: Request, org_id: str | None, asked: Asked) -> Verdict:
        """What goes wrong is a verdict too."""
        begun = time.monotonic()
        try:
            made = await self.make(request, org_id, asked)
        except PressroomError as wrong:
            return wrong_with(request, wrong, asked.source)
        return _good(made, time.monotonic() - begun)


def wrong_with(request: Request, error: PressroomError, source: bytes = b"") -> Verdict:
    problem = describe(request, error)
    is_about_source = isinstance(error, AttemptError) or error.code == SourceInvalid.code
    return Verdict(problem=problem, is_about_source=is_about_source, caret=_caret(source.decode(errors="replace"), problem))


def _good(made: Rendered, seconds: float) -> Verdict:
    shown = _way_to_show(made.media_type) if len(made.data) <= EMBEDDED else None
    details = made.details
    return Verdict(
        shown=shown,
        address=_data_address(made) if shown == "picture" else None,
        text=made.data.decode(errors="replace") if shown == "text" else None,
        media_type=made.media_type,
        size=len(made.data),
        seconds=seconds,
        width=details.get("width"),
        height=details.get("height"),
        title=details.get("title"),
        warnings=made.warnings,
    )


def _way_to_show(media_type: str) -> str:
    ways = {
        MEDIA_TYPES["svg"]: "picture",
        MEDIA_TYPES["png"]: "picture",
        MEDIA_TYPES["html"]: "page",
        MEDIA_TYPES["pdf"]: "pdf",
    }
    return ways.get(media_type, "text")


def _data_address(made: Rendered) -> str:
    return f"data:{made.media_type};base64,{base64.b64encode(made.data).decode()}"


def _caret(source: str, problem: Problem) -> str | None:
    """A line to stand below the excerpt, with a mark under the column. Tabs stay tabs, so that both lines are as wide."""
    if not problem.excerpt or not problem.column or not problem.line or "\n" in problem.excerpt:
        return None
    lines = source.split("\n")
    length = len(lines[problem.line - 1].rstrip("\r")) if problem.line <= len(lines) else 0
    cut = max(0, problem.column - 1 - EXCERPT_LIMIT // 2) if length > EXCERPT_LIMIT else 0
    before = problem.excerpt[: problem.column - 1 - cut]
    return "".join("\t" if letter == "\t" else " " for letter in before) + "^"
