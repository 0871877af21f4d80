"""A drop-in for Kroki: its URLs, its words and its errors, with durable jobs and a cache beneath.

A client works when its base URL is changed to `/kroki` of this service.
"""

import base64
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Caller, Scope, cache_visibility
from pressroom.api.artifacts import send
from pressroom.api.problems import HttpError
from pressroom.api.replies import matches
from pressroom.api.routes import Routes
from pressroom.api.schema import header, path, query, says, sends, takes
from pressroom.api.service import Service
from pressroom.apps.diagrams import kroki_errors, kroki_lines
from pressroom.apps.diagrams.accept import preferred
from pressroom.apps.diagrams.answers import RenderFailed
from pressroom.apps.diagrams.asking import decode
from pressroom.apps.diagrams.front import Front
from pressroom.apps.diagrams.kroki_lines import Written
from pressroom.apps.diagrams.kroki_source import ENCODED_LIMIT, unpacked
from pressroom.apps.diagrams.kroki_types import BASE64, LANGUAGES, Chosen, engine_of, format_of, formats_of, translate
from pressroom.apps.diagrams.renders import Diagrams
from pressroom.errors import InvalidArgument, PressroomError
from pressroom.model import VERSION
from pressroom.renderers import Engine
from pressroom.renderers.documents import Asked
from pressroom.store.artifacts.artifacts import Artifact

PATIENCE = 25.0  # seconds; clients give up after 30, and should hear from us before
MAX_AGE = 5 * 24 * 3600  # as Kroki has it

_OPTION = "kroki-diagram-options-"
_OPTION_NAME = re.compile(r"[a-z0-9_.-]{1,64}")
_FORMATS = {"image/svg+xml": "svg", "image/png": "png", "application/pdf": "pdf", "image/*": "svg", "*/*": "svg"}


class KrokiDiagram(msgspec.Struct, frozen=True):
    """A diagram as Kroki takes it. What the URL says need not be said here."""

    diagram_source: str | None = None
    diagram_type: str | None = None
    output_format: str | None = None
    diagram_options: dict[str, Any] | None = None


class KrokiHealth(msgspec.Struct, frozen=True):
    """The version of each service that is installed, and of this one under `kroki`."""

    status: str
    version: dict[str, Any]


class Wanted(NamedTuple):
    """One request, wherever its parts stood. `shared` if its URL says it all, so that anybody's cache may keep the answer."""

    engine: type[Engine]
    format: str
    source: bytes
    chosen: Chosen
    shared: bool


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
    200: sends("The picture", *_KINDS, example=examples.SVG) | _HEADERS,
    206: sends("Some of its bytes", *_KINDS, example=examples.SVG[:4]) | _HEADERS,
    304: {"description": "You have it"},
    **kroki_errors.documented(),
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


def router(service: Service, diagrams: Diagrams) -> Routes:
    routes = Routes("kroki")
    draw = partial(_answered, service, Front(service, diagrams))
    kinds, text = ("application/json", "text/plain"), _EXAMPLE["diagram_source"]
    body = takes(KrokiDiagram, "A diagram", media_types=kinds, example=_EXAMPLE, text=text)

    @routes.head("/kroki/")
    @routes.get(
        "/kroki/",
        operation_id="kroki_start",
        responses={200: sends("What can be drawn", "text/plain", example="  graphviz: svg, png, pdf\n")},
    )
    @routes.get("/kroki")
    async def kroki_start(_: Request) -> Response:
        """For whoever looks whether somebody is here."""
        return Response(_offer(), media_type="text/plain")

    @routes.get(
        "/kroki/health",
        operation_id="kroki_health",
        responses={
            200: says(
                KrokiHealth,
                "All is well",
                media_type="application/health+json",
                example={"status": "pass", "version": {"kroki": {"number": VERSION, "build_hash": "pressroom"}}},
            )
        },
    )
    @routes.get("/kroki/healthz")
    @routes.get("/kroki/v1/health")
    async def kroki_health(_: Request) -> Response:
        return Response(msgspec.json.encode(_health()), media_type="application/health+json")

    @routes.on("HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", path="/kroki/health")
    async def kroki_post_health(_: Request) -> Response:
        """Or it would be taken for a type of diagram."""
        raise HttpError(405, "method_not_allowed", "not with this method", {"Allow": "GET"})

    @routes.head("/kroki/{type}/{format}/{encoded:path}")
    @routes.get(
        "/kroki/{type}/{format}/{encoded:path}",
        operation_id="kroki_get",
        responses=_RESPONSES,
        asks={"parameters": [_TYPE, _FORMAT, _SOURCE, *_PARAMETERS]},
    )
    async def kroki_get(request: Request, type: str, format: str, encoded: str) -> Response:
        """`encoded` is the source, deflated and in URL-safe base64."""
        return await draw(request, partial(_from_url, request, type, format, encoded))

    @routes.post(
        "/kroki/",
        operation_id="kroki_post",
        responses=_RESPONSES,
        asks=takes(KrokiDiagram, "A diagram", example=_EXAMPLE) | {"parameters": _PARAMETERS},
    )
    @routes.post("/kroki")
    async def kroki_post(request: Request) -> Response:
        return await draw(request, partial(_from_body, request, None, None))

    @routes.post(
        "/kroki/{type}",
        operation_id="kroki_post_type",
        responses=_RESPONSES,
        asks=body | {"parameters": [_TYPE, *_PARAMETERS]},
    )
    async def kroki_post_type(request: Request, type: str) -> Response:
        return await draw(request, partial(_from_body, request, type, None))

    @routes.post(
        "/kroki/{type}/{format}",
        operation_id="kroki_post_format",
        responses=_RESPONSES,
        asks=body | {"parameters": [_TYPE, _FORMAT, *_PARAMETERS]},
    )
    async def kroki_post_format(request: Request, type: str, format: str) -> Response:
        return await draw(request, partial(_from_body, request, type, format))

    return routes


async def _answered(service: Service, front: Front, request: Request, read: Callable[[], Awaitable[Wanted]]) -> Response:
    try:
        caller = await service.gate.caller(request, Scope.SUBMITTER)
        return await _draw(service, front, request, caller, await read())
    except PressroomError as error:
        return kroki_errors.answer(request, error)


async def _from_url(request: Request, type: str, format: str, encoded: str) -> Wanted:
    if len(encoded) > ENCODED_LIMIT:
        raise HttpError(414, "uri_too_long", f"the source has {len(encoded):,} characters in the URL; post it instead")
    engine = _engine_at(type)
    wanted = format_of(type, format)
    source = unpacked(encoded, limit=engine.limits.source, plantuml=engine.takes == "plantuml")
    if not source.strip():
        raise InvalidArgument("the source is empty")
    return _wanted(request, engine, wanted, source, {})


async def _from_body(request: Request, type: str | None, format: str | None) -> Wanted:
    """JSON, or the source itself. `POST /` is JSON whatever its header says."""
    engine = None if type is None else _engine_at(type)
    source = await request.body()
    if not source.strip():
        raise InvalidArgument("Request body must not be empty.")
    posted = KrokiDiagram()
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if engine is None or media_type == "application/json":
        posted = decode(source, KrokiDiagram)
        source = (posted.diagram_source or "").encode()
        if not source.strip():
            raise InvalidArgument("Field diagram_source must not be empty.")
    type = type or posted.diagram_type
    if not type:
        raise InvalidArgument("Field diagram_type must not be empty.")
    engine = engine or engine_of(type)
    format = format_of(type, format or posted.output_format or _accepted_format(request, engine))
    return _wanted(request, engine, format, source, posted.diagram_options or {})


def _engine_at(type: str) -> type[Engine]:
    """As engine_of, for a type that is part of the address: where there is none, there is nothing, as with Kroki."""
    try:
        return engine_of(type)
    except InvalidArgument as unknown:
        raise HttpError(404, "unsupported_format", str(unknown)) from None


def _accepted_format(request: Request, engine: type[Engine]) -> str:
    """The best format that the caller accepts. Kroki wants it to be named; a caller that takes anything gets an SVG here."""
    accepted = preferred(request.headers.get("accept", "*/*"))
    for media_type in accepted:
        if _FORMATS.get(media_type) in engine.makes:
            return _FORMATS[media_type]
    raise InvalidArgument(
        f"Unsupported media type: {', '.join(accepted)[:200] or 'none'}. Accept one of: {', '.join(_FORMATS)}."
    )


def _wanted(request: Request, engine: type[Engine], format: str, source: bytes, posted: Mapping[str, Any]) -> Wanted:
    in_url = {name.lower(): value for name, value in request.query_params.items()}
    in_headers = {
        name.removeprefix(_OPTION): value
        for name, value in request.headers.items()
        if name.startswith(_OPTION) and name != _OPTION
    }
    # In this order a later one wins, as it does in Kroki.
    given = in_url | in_headers | {name.lower(): value for name, value in posted.items()}
    return Wanted(engine, format, source, translate(engine, given), shared=request.method != "POST" and given == in_url)


async def _draw(service: Service, front: Front, request: Request, caller: Caller, wanted: Wanted) -> Response:
    written = _written(wanted)
    output = "png" if wanted.format == BASE64 else wanted.format
    asked = Asked(wanted.engine.takes, output, written.source, wanted.chosen.options)
    try:
        uid, cache_status = await front.artifact(request, caller, asked, PATIENCE)
    except RenderFailed as failed:
        raise _relocated(failed, written) from None
    artifact = await service.rendering.artifact(uid)
    send_it = _send_as_text if wanted.format == BASE64 else send
    response = await send_it(service, request, artifact, cache=_cache_control(caller, wanted))
    response.headers["Cache-Status"] = cache_status
    if ignored := [name for name in wanted.chosen.ignored if _OPTION_NAME.fullmatch(name)]:
        response.headers["Pressroom-Ignored-Options"] = ", ".join(ignored[:20])
    return response


def _written(wanted: Wanted) -> Written:
    if wanted.engine.takes != "plantuml":
        return Written(wanted.source)
    return kroki_lines.plantuml(wanted.source, wanted.chosen.line)


async def _send_as_text(service: Service, request: Request, artifact: Artifact, *, cache: str) -> Response:
    """A picture as a `data:` address."""
    headers = {"ETag": f'"sha256-{artifact.sha256}-base64"', "Cache-Control": cache, "X-Content-Type-Options": "nosniff"}
    if matches(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    data = base64.b64encode(await service.rendering.whole(artifact))
    return Response(f"data:{artifact.media_type};base64,".encode() + data, 200, headers, "text/plain")


def _relocated(failed: RenderFailed, written: Written) -> RenderFailed:
    """The failure with its line as the author counts, who knows nothing of those that were put in."""
    if failed.error.get("line") is not None:
        failed.error["line"] = written.line_of(failed.error["line"])
    return failed


def _cache_control(caller: Caller, wanted: Wanted) -> str:
    if not wanted.shared:  # the same URL with other headers, or with another body, is another picture
        return "private, no-cache"
    return f"{cache_visibility(caller, caller.org_id)}, max-age={MAX_AGE}"


def _offer() -> str:
    types = "".join(f"  {type}: {', '.join(formats_of(type))}\n" for type in LANGUAGES)
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
