"""Problems as clients of documentation services read them: `detail` is a list of `{type, msg, loc}` (X26).

The other members are those of every problem of Pressroom. RFC 9457 has readers ignore a `detail` that is no string.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.problems import MEDIA_TYPE, Problem, describe, problem_response
from pressroom.api.routes import Route
from pressroom.api.schema import json_response, responses
from pressroom.errors import InvalidArgument, NotFound, PressroomError

type Place = list[str | int]

_NAMED = re.compile(r"^(?P<field>[a-z_]+)(?P<rest>(?:\.[a-z_0-9]+|\[\d+\])*): ")  # as checks of values name what is wrong
_WHERE = re.compile(r" - at `\$(?P<path>[^`]*)`$")
_FIELD = re.compile(r"^Object (?:missing required|contains unknown) field `(?P<name>[^`]*)`")
_STEP = re.compile(r"\.(?P<name>[^.\[\]]+)|\[(?P<index>\d+)\]")


class ErrorDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is wrong. `type` is the code, and `loc` leads to it: `["body", "slug"]`."""

    type: str
    msg: str
    loc: list[str | int] | None = None


class DocsProblem(Problem, frozen=True, kw_only=True, omit_defaults=True):
    """A problem whose `detail` is a list."""

    detail: list[ErrorDetail]  # type: ignore[assignment]


def with_error_list(route: Route) -> Route:
    """The route with problems in this form, whatever its handler raises. A NUL, which no database keeps, names nothing."""
    handler = route.handler

    @wraps(handler)
    async def answer(request: Request, **parts: str) -> Response:
        try:
            _refuse_nul(request, parts.values())
            return await handler(request, **parts)
        except PressroomError as error:
            return _list_problem(request, error)

    return replace(route, handler=answer, responses=_documented(route))


def place_in_body(message: str) -> Place:
    """Where in a body something is wrong, by what the decoder says."""
    found, field = _WHERE.search(message), _FIELD.match(message)
    steps = ["body", *_steps(found["path"] if found else "")]
    return [*steps, field["name"]] if field else steps


def _steps(path: str) -> Place:
    """Those of `.rules[0].pattern`. The decoder writes `[...]` for any key of an object."""
    return [int(step["index"]) if step["index"] else step["name"] for step in _STEP.finditer(path)]


def _list_problem(request: Request, error: PressroomError) -> Response:
    described = describe(request, error)
    members: dict[str, Any] = msgspec.structs.asdict(described)
    members["detail"] = [ErrorDetail(described.code, described.detail, _place_of(request, error))]
    return problem_response(error, DocsProblem(**members))


def _place_of(request: Request, error: PressroomError) -> Place | None:
    if isinstance(error, InvalidArgument) and (named := _NAMED.match(str(error))):
        part = "query" if named["field"] in request.query_params else "body"
        return [part, named["field"], *_steps(named["rest"])]
    return getattr(error, "loc", None)


def _refuse_nul(request: Request, parts: Iterable[str]) -> None:
    if any("\0" in part for part in parts):
        raise NotFound("there is nothing here")
    if any("\0" in value for value in request.query_params.values()):
        raise InvalidArgument("a value in the query has a NUL")


def _documented(route: Route) -> Mapping[Any, Any]:
    """Problems of either form: what is refused before the handler is reached has a `detail` that is a text."""
    if not route.is_documented:
        return route.responses
    told = {int(status) for status in route.responses}
    refused = {status for status in told if status >= 400} | {429}
    refused |= {404} if "{" in route.path else set()
    refused |= {413, 415} if "requestBody" in route.openapi else set()
    refused |= {503} if 401 in told else set()
    return {**route.responses, **{status: _either(route, status) for status in refused}}


def _either(route: Route, status: int) -> dict[str, Any]:
    usual = route.responses.get(status) or responses({}, status)[status]
    described = json_response((Problem, DocsProblem), usual["description"], media_type=MEDIA_TYPE)
    return {**usual, "content": described["content"]}
