"""What an answer of the render service means for a job: classes of errors, never beginnings of texts.

| answer | becomes |
|---|---|
| 4xx but those below | `RenderRefused`: final |
| 408, 425, 429, and 503 with `Retry-After` | `Backpressure`: the job waits, no attempt is charged |
| other 5xx | `RenderServiceFailed`: tried again |
| anything else that is no 200, such as a redirect | `RenderNotPdf`: tried again |

The message is ours. What the service said goes to `detail`, for operators.
"""

import email.utils
import time
from typing import Any

import msgspec

from pressroom.errors import Backpressure, PressroomError, RenderNotPdf, RenderRefused, RenderServiceFailed

SERVICE = "the render service"
ERROR_BODY_LIMIT = 64 * 1024  # bytes that are read of it
BUSY = (408, 425, 429)
RETRY_AFTER = 5.0  # seconds, where the answer does not say
LONGEST_RETRY_AFTER = 300.0

_REFUSALS = {
    400: "did not understand the request",
    401: "wants another token: set render_token as it has it",
    403: "does not allow this",
    404: "has no such route: render_url may name something else",
    413: "finds the document too large",
    422: "cannot render this source",
}


class ProblemPlace(msgspec.Struct, frozen=True):
    """The numbers of a problem (RFC 9457) that are told to callers: where in the source it is."""

    line: int | None = None
    column: int | None = None


def error_of(status: int, retry_after: str | None, body: bytes) -> PressroomError:
    """The error of an answer that is no 200."""
    error = _error_of(status, retry_after, body)
    error.detail = printable(body) or None
    return error


def _error_of(status: int, retry_after: str | None, body: bytes) -> PressroomError:
    if status in BUSY or (status == 503 and retry_after is not None):
        return Backpressure(f"{SERVICE} has no room at the moment ({status})", retry_after=seconds_of(retry_after))
    if 400 <= status < 500:
        place = _place_of(body)
        where = "" if place.line is None else f", line {place.line}"
        return RenderRefused(
            f"{SERVICE} {_REFUSALS.get(status, 'refused this')} ({status}){where}", line=place.line, column=place.column
        )
    if status >= 500:
        return RenderServiceFailed(f"{SERVICE} failed ({status})")
    return RenderNotPdf(f"{SERVICE} answered with status {status} instead of a PDF")


def seconds_of(retry_after: str | None) -> float:
    """`Retry-After` as seconds, within bounds: a number, or a date."""
    seconds: float = RETRY_AFTER
    text = (retry_after or "").strip()
    if text.isdecimal():
        seconds = float(text[:9])
    elif text:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError):
            seconds = RETRY_AFTER
    return min(LONGEST_RETRY_AFTER, max(1.0, seconds))


def _place_of(body: bytes) -> ProblemPlace:
    try:
        told: Any = msgspec.json.decode(body, type=ProblemPlace)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ProblemPlace()
    return ProblemPlace(*(number if number is not None and 0 < number < 10**9 else None for number in (told.line, told.column)))


def printable(body: bytes) -> str:
    text = body.decode(errors="replace")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text)
