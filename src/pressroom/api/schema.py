"""The OpenAPI document: made of the very structures that are sent, so that the two cannot drift apart."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from pressroom.api.problems import MEDIA_TYPE, Problem
from pressroom.model import VERSION

_REFERENCE = "#/components/schemas/{name}"
_known: dict[str, Any] = {}
_announced: dict[str, Any] = {}


def reference(kind: Any) -> dict[str, Any]:
    """A schema that refers to a structure, which is put among the components."""
    (schema,), components = msgspec.json.schema_components([kind], ref_template=_REFERENCE)
    _known.update(components)
    return dict(schema)


def announces(requests: Mapping[str, Any]) -> None:
    """What we send to others of our own accord: the `webhooks` of the document."""
    _announced.update(requests)


def says(
    kind: Any,
    description: str,
    *,
    media_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
    example: Any = None,
) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": reference(kind)}
    if example is not None:
        content["example"] = example
    answer: dict[str, Any] = {"description": description, "content": {media_type: content}}
    if headers:
        answer["headers"] = {name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()}
    return answer


def sends(description: str, media_type: str) -> dict[str, Any]:
    """Bytes, of which the schema says nothing more."""
    return {"description": description, "content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}


def answers(given: Mapping[Any, Any], *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route: those that are given, and the problems with these statuses."""
    texts = {
        400: "The request or its source is wrong",
        401: "No valid token",
        403: "The token's scope does not allow it",
        404: "Unknown, expired, or somebody else's",
        406: "None of the accepted types can be made",
        409: "Its state does not allow it",
        413: "Too large",
        415: "The body has a type that is not understood",
        422: "The request cannot be carried out as it is",
        429: "Your quota is used up",
        500: "An engine failed",
        501: "An engine is not installed",
        503: "The queue is full or closed; try again",
        504: "Not within the time limit",
    }
    return {**given, **{status: says(Problem, texts[status], media_type=MEDIA_TYPE) for status in statuses}}


def takes(
    kind: Any, description: str, *, media_types: Sequence[str] = ("application/json",), example: Any = None
) -> dict[str, Any]:
    """What a route reads itself. Goes into `openapi_extra`."""
    content = {}
    for media_type in media_types:
        schema = reference(kind) if media_type == "application/json" else {"type": "string"}
        content[media_type] = {"schema": schema} | (
            {"example": example} if example is not None and media_type == "application/json" else {}
        )
    return {"requestBody": {"required": True, "description": description, "content": content}}


def query(name: str, schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": dict(schema), "description": description}


def header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "schema": {"type": "string"}, "description": description}


def document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        made = get_openapi(
            title="Pressroom",
            version=VERSION,
            openapi_version="3.1.0",
            summary="Sources into documents, as durable jobs.",
            routes=app.routes,
            tags=[{"name": name} for name in ("jobs", "events", "artifacts", "operations", "diagrams", "kroki", "webhooks")],
        )
        made["webhooks"] = dict(_announced)
        components = made.setdefault("components", {})
        components.setdefault("schemas", {}).update(_known)
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{}, {"token": []}]
        for unused in ("HTTPValidationError", "ValidationError"):
            components["schemas"].pop(unused, None)
        for item in made["paths"].values():
            for operation in item.values():
                if "HTTPValidationError" in str(operation["responses"].get("422")):
                    del operation["responses"]["422"]  # FastAPI adds it to every path with a parameter; ours cannot be wrong
        app.openapi_schema = made
    return app.openapi_schema
