"""Errors in the form that a client of Kroki understands: a text unless it asks for JSON, for a problem or for a picture."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.problems import MEDIA_TYPE, Problem, describe, problem
from pressroom.api.schema import answers, reference
from pressroom.apps.diagrams import trouble
from pressroom.apps.diagrams.accept import preferred
from pressroom.apps.diagrams.answers import STATUSES
from pressroom.errors import PressroomError

JSON = "application/json"


class KrokiError(msgspec.Struct, frozen=True):
    code: int
    message: str


class KrokiFailure(msgspec.Struct, frozen=True):
    """As Kroki tells an error to those who accept JSON."""

    error: KrokiError


def answer(request: Request, error: PressroomError) -> Response:
    status = _status_of(error)
    response = problem(request, error, status=status)
    if trouble.wants_picture(request):
        response = trouble.answer(request, error, status=status)
        response.headers.update(getattr(error, "headers", {}))
    elif (form := _form_of(request)) != MEDIA_TYPE:
        headers = {name: value for name, value in response.headers.items() if name not in ("content-length", "content-type")}
        told = describe(request, error, status=status)
        response = Response(_json(told) if form == JSON else _text(told), status, headers, form)
    response.headers["Vary"] = "Accept"
    return response


def _status_of(error: PressroomError) -> int:
    status = STATUSES.get(error.code, error.status)
    return 400 if status == 422 else status  # Kroki's clients show the reason of a 400 and of no other


def _form_of(request: Request) -> str:
    for media_type in preferred(request.headers.get("accept", "")):
        if media_type in (MEDIA_TYPE, JSON):
            return media_type
        if media_type.startswith("text/") or media_type == "*/*":
            break
    return "text/plain"


def _json(told: Problem) -> bytes:
    return msgspec.json.encode(KrokiFailure(KrokiError(told.status, told.detail + _where(told))))


def _text(told: Problem) -> str:
    excerpt = f"\n\n{told.excerpt}" if told.excerpt else ""
    return f"Error {told.status}: {told.detail}{_where(told)}{excerpt}\n"


def _where(told: Problem) -> str:
    place = ", ".join(f"{name} {value}" for name, value in (("line", told.line), ("column", told.column)) if value is not None)
    return f" ({place})" if place else ""


_FAILURE = {"error": {"code": 400, "message": "syntax error near '->' (line 1, column 5)"}}


def documented() -> dict[int | str, dict[str, Any]]:
    """The errors of every route for the OpenAPI document, in all their forms."""
    told = answers({}, 400, 401, 403, 404, 409, 413, 414, 416, 429, 500, 501, 503, 504)
    for response in told.values():
        response["content"] |= {
            "text/plain": {"schema": {"type": "string"}, "example": "Error 400: syntax error near '->' (line 1, column 5)"},
            "image/svg+xml": {"schema": {"type": "string"}},
            JSON: {"schema": reference(KrokiFailure), "example": _FAILURE},
        }
    return told
