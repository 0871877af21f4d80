"""A drop-in for Kroki: its URLs, options and errors, with durable jobs and a cache beneath.

A client works when its base URL is changed to `/kroki` of this service.
"""

import base64
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Caller, Scope, cache_visibility
from pressroom.api.artifacts import send
from pressroom.api.problems import HttpError
from pressroom.api.replies import matches
from pressroom.api.routes import Routes
from pressroom.api.schema import binary_response, header, json_body, json_response, path, query
from pressroom.api.service import Service
from pressroom.apps.diagrams.kroki import errors
from pressroom.apps.diagrams.kroki.expanded_source import ExpandedSource, expand_plantuml
from pressroom.apps.diagrams.kroki.requests import KrokiDiagram, KrokiRequest, read_body, read_url
from pressroom.apps.diagrams.kroki.types import BASE64, LANGUAGES, engine_of, supported_formats
from pressroom.apps.diagrams.render_endpoint import RenderEndpoint
from pressroom.apps.diagrams.renders import Diagrams
from pressroom.apps.diagrams.responses import RenderFailed
from pressroom.errors import PressroomError
from pressroom.model import VERSION
from pressroom.renderers import documents
from pressroom.renderers.documents import RenderRequest
from pressroom.store.artifacts.artifacts import Artifact

PATIENCE = 25.0  # seconds; clients give up after 30, and should hear from us before
MAX_AGE = 5 * 24 * 3600  # as Kroki has it

_OPTION_NAME = re.compile(r"[a-z0-9_.-]{1,64}")


class KrokiHealth(msgspec.Struct, frozen=True):
    """The version of each service that is installed, and of this one under `kroki`."""

    status: str
    version: dict[str, Any]


_KINDS = ("image/svg+xml", "image/png", "application/pdf", "text/plain")
_HEADERS: dict[str, Any] = {
    "headers": {
        name: {"description": text, "schema": {"type": "string"}}
        for name, text in {
            "ETag": "Strong: the hash of the bytes",
            "Cache-Status": "Whether it was kept, and if not, why",
            "Pressroom-Ignored-Options": "Options that had no effect",
        }.items()
    }
}
_RESPONSES = {
    200: binary_response("The picture", *_KINDS, example=examples.SVG) | _HEADERS,
    206: binary_response("Some of its bytes", *_KINDS, example=examples.SVG[:4]) | _HEADERS,
    304: {"description": "You have it"},
    **errors.documented_errors(),
}
_PARAMETERS = [
    query(
        "theme", {"type": "string"}, "An option, as are all others of this type; `Kroki-Diagram-Options-Theme` says the same"
    ),
    header("Accept", "The format, if nothing else names it; and how an error is told"),
]
# The bounds are told in the document alone: a type that is not there is refused in Kroki's words.
_TYPE = path("type", "graphviz", "The type of diagram", enum=list(LANGUAGES))
_FORMAT = path("format", "svg", "What to make of it", enum=["svg", "png", "pdf", BASE64])
_SOURCE = path(
    "encoded",
    "eNpLyUwvSizIUHBXqPZIzcnJ17ULzy_KSakFAGxACMY=",
    "The source, deflated and in URL-safe base64",
    pattern="^[A-Za-z0-9_-]+=*$",
)
_EXAMPLE = {"diagram_source": "digraph G {Hello->World}", "diagram_type": "graphviz", "output_format": "svg"}
_BODY = json_body(
    KrokiDiagram,
    "A diagram",
    media_types=("application/json", "text/plain"),
    example=_EXAMPLE,
    text=_EXAMPLE["diagram_source"],
)
_START: dict[str, Any] = {
    "responses": {200: binary_response("What can be drawn", "text/plain", example="  graphviz: svg, png, pdf\n")},
}
_HEALTH: dict[str, Any] = {
    "responses": {
        200: json_response(
            KrokiHealth,
            "All is well",
            media_type="application/health+json",
            example={"status": "pass", "version": {"kroki": {"number": VERSION, "build_hash": "pressroom"}}},
        )
    },
}
_GET: dict[str, Any] = {
    "responses": _RESPONSES,
    "openapi": {"parameters": [_TYPE, _FORMAT, _SOURCE, *_PARAMETERS]},
}
_POST: dict[str, Any] = {
    "responses": _RESPONSES,
    "openapi": json_body(KrokiDiagram, "A diagram", example=_EXAMPLE) | {"parameters": _PARAMETERS},
}
_POST_TYPE: dict[str, Any] = {
    "responses": _RESPONSES,
    "openapi": _BODY | {"parameters": [_TYPE, *_PARAMETERS]},
}
_POST_FORMAT: dict[str, Any] = {
    "responses": _RESPONSES,
    "openapi": _BODY | {"parameters": [_TYPE, _FORMAT, *_PARAMETERS]},
}


def router(service: Service, diagrams: Diagrams) -> Routes:
    routes = Routes("kroki")
    api = KrokiApi(service, RenderEndpoint(service, diagrams))
    routes.add("/kroki", kroki_start, "GET")
    routes.add("/kroki/", kroki_start, "GET", **_START)
    routes.add("/kroki/", kroki_start, "HEAD")
    routes.add("/kroki/v1/health", kroki_health, "GET")
    routes.add("/kroki/healthz", kroki_health, "GET")
    routes.add("/kroki/health", kroki_health, "GET", **_HEALTH)
    routes.add("/kroki/health", kroki_post_health, "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
    routes.add("/kroki/{type}/{format}/{encoded:path}", api.kroki_get, "GET", **_GET)
    routes.add("/kroki/{type}/{format}/{encoded:path}", api.kroki_get, "HEAD")
    routes.add("/kroki", api.kroki_post, "POST")
    routes.add("/kroki/", api.kroki_post, "POST", **_POST)
    routes.add("/kroki/{type}", api.kroki_post_type, "POST", **_POST_TYPE)
    routes.add("/kroki/{type}/{format}", api.kroki_post_format, "POST", **_POST_FORMAT)
    return routes


async def kroki_start(_: Request) -> Response:
    """For a client that checks whether a service answers at its base URL."""
    return Response(_overview_html(), media_type="text/plain")


async def kroki_health(_: Request) -> Response:
    return Response(msgspec.json.encode(_health()), media_type="application/health+json")


async def kroki_post_health(_: Request) -> Response:
    """Or it would be taken for a type of diagram."""
    raise HttpError(405, "method_not_allowed", "not with this method", {"Allow": "GET"})


class KrokiApi:
    """The routes that draw. The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, render_endpoint: RenderEndpoint) -> None:
        self._service = service
        self._render_endpoint = render_endpoint

    async def kroki_get(self, request: Request, type: str, format: str, encoded: str) -> Response:
        """`encoded` is the source, deflated and in URL-safe base64."""
        return await self._respond(request, partial(read_url, request, type, format, encoded))

    async def kroki_post(self, request: Request) -> Response:
        return await self._respond(request, partial(read_body, request, None, None))

    async def kroki_post_type(self, request: Request, type: str) -> Response:
        return await self._respond(request, partial(read_body, request, type, None))

    async def kroki_post_format(self, request: Request, type: str, format: str) -> Response:
        return await self._respond(request, partial(read_body, request, type, format))

    async def _respond(self, request: Request, read: Callable[[], Awaitable[KrokiRequest]]) -> Response:
        try:
            caller = await self._service.gate.caller(request, Scope.SUBMITTER)
            return await self._render(request, caller, await read())
        except PressroomError as error:
            return errors.error_response(request, error)

    async def _render(self, request: Request, caller: Caller, kroki_request: KrokiRequest) -> Response:
        expanded = _expand_source(kroki_request)
        output = "png" if kroki_request.format == BASE64 else kroki_request.format
        prepared = documents.prepare(
            RenderRequest(kroki_request.engine.takes, output, expanded.source, kroki_request.options.options)
        )
        try:
            uid, cache_status = await self._render_endpoint.render_to_link(request, caller, prepared, PATIENCE)
        except RenderFailed as failed:
            raise _with_author_line(failed, expanded) from None
        artifact = await self._service.rendering.artifact(uid)
        send_it = _send_data_url if kroki_request.format == BASE64 else send
        response = await send_it(self._service, request, artifact, cache=_cache_control(caller, kroki_request))
        response.headers["Cache-Status"] = cache_status
        if ignored := [name for name in kroki_request.options.ignored if _OPTION_NAME.fullmatch(name)]:
            response.headers["Pressroom-Ignored-Options"] = ", ".join(ignored[:20])
        return response


def _expand_source(kroki_request: KrokiRequest) -> ExpandedSource:
    if kroki_request.engine.takes != "plantuml":
        return ExpandedSource(kroki_request.source)
    return expand_plantuml(kroki_request.source, kroki_request.options.line)


async def _send_data_url(service: Service, request: Request, artifact: Artifact, *, cache: str) -> Response:
    """A picture as a `data:` address."""
    headers = {"ETag": f'"sha256-{artifact.sha256}-base64"', "Cache-Control": cache, "X-Content-Type-Options": "nosniff"}
    if matches(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    data = base64.b64encode(await service.rendering.read_all(artifact))
    return Response(f"data:{artifact.media_type};base64,".encode() + data, 200, headers, "text/plain")


def _with_author_line(failed: RenderFailed, expanded: ExpandedSource) -> RenderFailed:
    """The failure with its line as the author counts, who knows nothing of those that were put in."""
    if failed.error.get("line") is not None:
        failed.error["line"] = expanded.author_line(failed.error["line"])
    return failed


def _cache_control(caller: Caller, kroki_request: KrokiRequest) -> str:
    if not kroki_request.is_shared:  # the same URL with other headers, or with another body, is another picture
        return "private, no-cache"
    return f"{cache_visibility(caller, caller.org_id)}, max-age={MAX_AGE}"


def _overview_html() -> str:
    types = "".join(f"  {type}: {', '.join(supported_formats(type))}\n" for type in LANGUAGES)
    return (
        "Pressroom draws here what clients of Kroki ask for.\n\n"
        "  GET  /kroki/{type}/{format}/{the source, deflated and in URL-safe base64}\n"
        f"  POST /kroki/{{type}}/{{format}}\n\n{types}"
    )


def _health() -> KrokiHealth:
    versions: dict[str, Any] = {"kroki": {"number": VERSION, "build_hash": "pressroom"}}
    for type in LANGUAGES:
        engine = engine_of(type)
        if engine.missing() is None:
            versions[type] = engine.version()
    return KrokiHealth("pass", versions)
