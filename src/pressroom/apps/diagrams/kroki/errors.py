"""Errors in the form that a client of Kroki understands: a text unless it asks for JSON, for a problem or for a picture."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.problems import MEDIA_TYPE, Problem, describe
from pressroom.api.problems import problem as problem_response
from pressroom.api.schema import reference, responses
from pressroom.apps.diagrams import error_images
from pressroom.apps.diagrams.accept import media_types_by_weight
from pressroom.apps.diagrams.responses import STATUSES
from pressroom.errors import PressroomError

JSON = "application/json"


class KrokiError(msgspec.Struct, frozen=True):
    code: int
    message: str


class KrokiFailure(msgspec.Struct, frozen=True):
    """As Kroki tells an error to those who accept JSON."""

    error: KrokiError


def error_response(request: Request, error: PressroomError) -> Response:
    status = _status_of(error)
    response = problem_response(request, error, status=status)
    if error_images.wants_picture(request):
        response = error_images.error_response(request, error, status=status)
        response.headers.update(getattr(error, "headers", {}))
    elif (media_type := _media_type_of(request)) != MEDIA_TYPE:
        headers = {name: value for name, value in response.headers.items() if name not in ("content-length", "content-type")}
        problem = describe(request, error, status=status)
        response = Response(_json(problem) if media_type == JSON else _text(problem), status, headers, media_type)
    response.headers["Vary"] = "Accept"
    return response


def _status_of(error: PressroomError) -> int:
    status = STATUSES.get(error.code, error.status)
    return 400 if status == 422 else status  # Kroki's clients show the reason of a 400 and of no other


def _media_type_of(request: Request) -> str:
    for media_type in media_types_by_weight(request.headers.get("accept", "")):
        if media_type in (MEDIA_TYPE, JSON):
            return media_type
        if media_type.startswith("text/") or media_type == "*/*":
            break
    return "text/plain"


def _json(problem: Problem) -> bytes:
    return msgspec.json.encode(KrokiFailure(KrokiError(problem.status, problem.detail + _location_suffix(problem))))


def _text(problem: Problem) -> str:
    excerpt = f"\n\n{problem.excerpt}" if problem.excerpt else ""
    return f"Error {problem.status}: {problem.detail}{_location_suffix(problem)}{excerpt}\n"


def _location_suffix(problem: Problem) -> str:
    numbers = (("line", problem.line), ("column", problem.column))
    place = ", ".join(f"{name} {value}" for name, value in numbers if value is not None)
    return f" ({place})" if place else ""


_FAILURE = {"error": {"code": 400, "message": "syntax error near '->' (line 1, column 5)"}}


def documented_errors() -> dict[int | str, dict[str, Any]]:
    """The errors of every route for the OpenAPI document, in all their forms."""
    documented = responses({}, 400, 401, 403, 404, 409, 413, 414, 416, 429, 500, 501, 503, 504)
    for response in documented.values():
        response["content"] |= {
            "text/plain": {"schema": {"type": "string"}, "example": "Error 400: syntax error near '->' (line 1, column 5)"},
            "image/svg+xml": {"schema": {"type": "string"}},
            JSON: {"schema": reference(KrokiFailure), "example": _FAILURE},
        }
    return documented
