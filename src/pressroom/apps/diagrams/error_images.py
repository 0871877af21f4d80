"""Errors as SVG images, for requests that prefer an image: the status, the message, and the place in the source."""

import re
import unicodedata
from collections.abc import Mapping
from textwrap import wrap
from typing import Any
from xml.sax.saxutils import escape

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.problems import Problem, describe, retry_after
from pressroom.api.schema import responses
from pressroom.apps.diagrams.accept import media_type_weights
from pressroom.errors import PressroomError

WIDTH = 76  # characters of a line
LINE = 18  # pixels
LETTER = 7.8  # pixels; of 13 px monospace

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def wants_picture(request: Request, *, default: bool = False) -> bool:
    """Whether a picture, or a PDF, is preferred to JSON. `default` is the result when Accept names neither."""
    if request.headers.get("sec-fetch-dest") == "image":
        return True
    weighed = media_type_weights(request.headers.get("accept", ""))
    pictures = [weight for name, weight in weighed.items() if name.startswith("image/") or name == "application/pdf"]
    others = [weight for name, weight in weighed.items() if name.startswith("application/") and name != "application/pdf"]
    anything = weighed.get("*/*", 0.0)
    if not pictures and not others:
        return default
    return max(pictures, default=anything) > max(others, default=anything)


def error_response(request: Request, error: PressroomError, *, status: int | None = None) -> Response:
    problem = describe(request, error, status=status)
    headers = {**getattr(error, "headers", {}), **_HEADERS}
    if problem.retryable:
        headers["Retry-After"] = str(retry_after(error))
    return Response(draw_problem(problem), problem.status, headers, "image/svg+xml")


def responses_with_images(given: Mapping[Any, Any], *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documented responses of a route whose errors may be images."""
    described = responses(given, *statuses)
    for status in (410, *statuses) if 410 in given else statuses:
        described[status]["content"]["image/svg+xml"] = {"schema": {"type": "string"}}
    return described


def placeholder_response(name: str) -> Response:
    """Shown until the first render has ended. Not cached: the next request may find the picture."""
    body = _draw_svg(f"{name} is being rendered", ["look again in a moment"], "#57606a")
    return Response(body, 200, _HEADERS | {"Retry-After": "2"}, "image/svg+xml")


def draw_problem(problem: Problem) -> str:
    place = f"line {problem.line}" + (f", column {problem.column}" if problem.column else "") if problem.line else ""
    lines = [*([place] if place else []), *_wrap(problem.detail)]
    if problem.excerpt:
        lines += ["", *(line[:WIDTH] for line in problem.excerpt.splitlines()[:8])]
    return _draw_svg(f"{problem.status} {problem.code}", lines, "#cf222e")


def _wrap(text: str) -> list[str]:
    lines = [line for part in text.splitlines() for line in wrap(part, WIDTH) or [""]]
    return [*lines[:12], "…"] if len(lines) > 12 else lines


def _draw_svg(head: str, lines: list[str], colour: str) -> str:
    width = round(max(map(_display_width, [head, *lines])) * LETTER) + 32
    height = (len(lines) + 1) * LINE + 28
    rows = "".join(
        f'<text x="16" y="{26 + LINE * (number + 1)}" xml:space="preserve" fill="#24292f">{_escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img"'
        f' font-family="ui-monospace, monospace" font-size="13"><title>{_escape(head)}: {_escape(" ".join(lines))}</title>'
        f'<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="6" fill="#fff" stroke="{colour}" stroke-width="2"/>'
        f'<text x="16" y="24" font-weight="bold" fill="{colour}">{_escape(head)}</text>{rows}</svg>'
    )


def _display_width(text: str) -> int:
    """In columns: wide characters (Chinese, Japanese, Korean) take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _escape(text: str) -> str:
    return escape(_UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text))
