"""An error for somebody who asked for a picture: a picture that says what is wrong and where."""

import re
import unicodedata
from collections.abc import Mapping
from textwrap import wrap
from typing import Any
from xml.sax.saxutils import escape

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.problems import Problem, describe, retry_after
from pressroom.api.schema import answers
from pressroom.apps.diagrams.accept import weights
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


def wants_picture(request: Request, *, otherwise: bool = False) -> bool:
    """Whether a picture, or a PDF, is preferred to JSON. `otherwise` is for those who say nothing about either."""
    if request.headers.get("sec-fetch-dest") == "image":
        return True
    weighed = weights(request.headers.get("accept", ""))
    pictures = [weight for name, weight in weighed.items() if name.startswith("image/") or name == "application/pdf"]
    others = [weight for name, weight in weighed.items() if name.startswith("application/") and name != "application/pdf"]
    anything = weighed.get("*/*", 0.0)
    if not pictures and not others:
        return otherwise
    return max(pictures, default=anything) > max(others, default=anything)


def answer(request: Request, error: PressroomError, *, status: int | None = None) -> Response:
    told = describe(request, error, status=status)
    headers = {**getattr(error, "headers", {}), **_HEADERS}
    if told.retryable:
        headers["Retry-After"] = str(retry_after(error))
    return Response(picture(told), told.status, headers, "image/svg+xml")


def or_picture(given: Mapping[Any, Any], *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route that tells its problems as pictures to those who want pictures."""
    described = answers(given, *statuses)
    for status in (410, *statuses) if 410 in given else statuses:
        described[status]["content"]["image/svg+xml"] = {"schema": {"type": "string"}}
    return described


def placeholder(name: str) -> Response:
    """Before the first rendering is there. Never kept: the next look may find the picture."""
    body = _drawn(f"{name} is being rendered", ["look again in a moment"], "#57606a")
    return Response(body, 200, _HEADERS | {"Retry-After": "2"}, "image/svg+xml")


def picture(problem: Problem) -> str:
    place = f"line {problem.line}" + (f", column {problem.column}" if problem.column else "") if problem.line else ""
    lines = [*([place] if place else []), *_wrapped(problem.detail)]
    if problem.excerpt:
        lines += ["", *(line[:WIDTH] for line in problem.excerpt.splitlines()[:8])]
    return _drawn(f"{problem.status} {problem.code}", lines, "#cf222e")


def _wrapped(text: str) -> list[str]:
    lines = [line for part in text.splitlines() for line in wrap(part, WIDTH) or [""]]
    return [*lines[:12], "…"] if len(lines) > 12 else lines


def _drawn(head: str, lines: list[str], colour: str) -> str:
    width = round(max(map(_columns, [head, *lines])) * LETTER) + 32
    height = (len(lines) + 1) * LINE + 28
    rows = "".join(
        f'<text x="16" y="{26 + LINE * (number + 1)}" xml:space="preserve" fill="#24292f">{_text(line)}</text>'
        for number, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img"'
        f' font-family="ui-monospace, monospace" font-size="13"><title>{_text(head)}: {_text(" ".join(lines))}</title>'
        f'<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="6" fill="#fff" stroke="{colour}" stroke-width="2"/>'
        f'<text x="16" y="24" font-weight="bold" fill="{colour}">{_text(head)}</text>{rows}</svg>'
    )


def _columns(text: str) -> int:
    """The letters of Chinese, Japanese and Korean take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _text(text: str) -> str:
    return escape(_UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text))
