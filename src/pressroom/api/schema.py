"""The OpenAPI document: made of the very structures that are sent, so that the two cannot drift apart."""

import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from pressroom.api.problems import MEDIA_TYPE, Problem
from pressroom.api.routes import Route
from pressroom.model import VERSION

_REFERENCE = "#/components/schemas/{name}"
_components: dict[str, Any] = {}
_webhooks: dict[str, Any] = {}
_PART = re.compile(r"\{(\w+)(?::\w+)?\}")
_WITHOUT_RATE_LIMIT = ("/livez", "/readyz")


@cache
def reference(*kinds: Any) -> dict[str, Any]:
    """A schema that refers to a component, or to any of several, and adds them to the document. Shared: do not change it."""
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    _components.update(components)
    return dict(schemas[0]) if len(schemas) == 1 else {"anyOf": list(schemas)}


def add_webhooks(requests: Mapping[str, Any]) -> None:
    """What we send to others of our own accord: the `webhooks` of the document."""
    _webhooks.update(requests)


def json_response(
    kind: Any,
    description: str,
    *,
    media_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
    example: Any = None,
) -> dict[str, Any]:
    """A response with a structure, or with any of a tuple of them."""
    content: dict[str, Any] = {"schema": reference(*kind) if isinstance(kind, tuple) else reference(kind)}
    if example is not None:
        content["example"] = example
    answer: dict[str, Any] = {"description": description, "content": {media_type: content}}
    if headers:
        answer["headers"] = {name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()}
    return answer


def binary_response(description: str, *media_types: str, example: str) -> dict[str, Any]:
    """Bytes, of which the schema says nothing more."""
    content = {"schema": {"type": "string", "format": "binary"}, "example": example}
    return {"description": description, "content": dict.fromkeys(media_types, content)}


_PROBLEMS = {
    400: "The request or its source is wrong",
    401: "No valid token",
    403: "The token's scope does not allow it",
    404: "Unknown, expired, or another organisation's",
    409: "Its state does not allow it",
    413: "Too large",
    414: "The source is too long for a URL",
    415: "The body has a type or an encoding that is not understood",
    416: "There are no such bytes",
    422: "The request cannot be carried out as it is",
    429: "Too many requests, or too many who wait; try again",
    431: "Too many headers, or too long ones",
    500: "An engine failed, or something went wrong here",
    501: "An engine is not installed",
    503: "The queue is full or closed, or its database cannot be reached; try again",
    504: "Not within the time limit",
}
_WHEN_AGAIN = {"Retry-After": "When to try again, in seconds"}
_RESPONSE_HEADERS = {401: {"WWW-Authenticate": "How to say who you are"}, 429: _WHEN_AGAIN, 503: _WHEN_AGAIN}


def responses(given: Mapping[Any, Any], *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route: those that are given, and the problems with these statuses.

    Not those that any request may meet on its way to a route: `document` adds them.
    """
    return {**given, **{status: _problem(status) for status in statuses}}


def _problem(status: int) -> dict[str, Any]:
    return json_response(Problem, _PROBLEMS[status], media_type=MEDIA_TYPE, headers=_RESPONSE_HEADERS.get(status))


def json_body(
    kind: Any,
    description: str,
    *,
    media_types: Sequence[str] = ("application/json",),
    example: Any,
    text: str | None = None,
) -> dict[str, Any]:
    """The request body of a route. `text` is an example for those types that are not JSON. Goes into `openapi`."""
    content = {
        media_type: {"schema": reference(kind), "example": example}
        if media_type == "application/json"
        else {"schema": {"type": "string"}, "example": text}
        for media_type in media_types
    }
    return {"requestBody": {"required": True, "description": description, "content": content}}


def query(name: str, schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": dict(schema), "description": description}


def header(name: str, description: str, **bounds: Any) -> dict[str, Any]:
    schema = {"type": "string", **bounds}
    return {"name": name, "in": "header", "required": False, "schema": schema, "description": description}


IDEMPOTENCY_KEY = header("Idempotency-Key", "The same key and body: the same answer, for a day", minLength=1, maxLength=255)


def path(name: str, example: str, description: str, **bounds: Any) -> dict[str, Any]:
    """A part of the path."""
    return {"name": name, "in": "path", "schema": {"type": "string", **bounds}, "example": example, "description": description}


def document(routes: Iterable[Route]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for route in routes:
        if route.is_documented:
            where = _PART.sub(r"{\1}", route.path)
            paths.setdefault(where, {})[route.methods[0].lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Pressroom", "summary": "Sources into documents, as durable jobs.", "version": VERSION},
        "paths": paths,
        "components": {
            "schemas": dict(sorted(_components.items())),  # not in the order of imports
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "tags": [{"name": name} for name in dict.fromkeys(tag for route in routes for tag in route.tags)],
        "webhooks": dict(_webhooks),
        "security": [{}, {"token": []}],  # without a token on the loopback, and nowhere else
    }


def _operation(route: Route) -> dict[str, Any]:
    operation = {
        "tags": list(route.tags),
        "summary": route.handler.__name__.replace("_", " ").title(),
        "description": inspect.getdoc(route.handler),
        "operationId": route.handler.__name__,
        **route.openapi,
        "parameters": _parameters(route),
    }
    operation = {name: value for name, value in operation.items() if value}
    responses = {str(status): response for status, response in route.responses.items()}
    if "401" not in responses:
        operation.setdefault("security", [])
    for status in _statuses_before_route(route, responses):
        responses.setdefault(str(status), _problem(status))
    return operation | {"responses": dict(sorted(responses.items()))}


def _parameters(route: Route) -> list[dict[str, Any]]:
    """Every part of the path, also those of which the route says nothing; then the rest."""
    declared = {(one["in"], one["name"]): one for one in route.openapi.get("parameters", ())}
    parts = {("path", name): {"name": name, "in": "path", "schema": {"type": "string"}} for name in _PART.findall(route.path)}
    return [{"required": place == "path"} | one for (place, _), one in (parts | declared).items()]


def _statuses_before_route(route: Route, responses: Collection[str]) -> Iterator[int]:
    """What a request may be answered before its route is reached, or instead of it."""
    yield from (415, 431, 500)
    if route.path not in _WITHOUT_RATE_LIMIT:
        yield 429
    if "requestBody" in route.openapi:
        yield 413
    if "{" in route.path:
        yield 404  # a slash in a part makes it a path that leads nowhere
    if "401" in responses:
        yield 503  # tokens are in the database, which may be busy or gone
