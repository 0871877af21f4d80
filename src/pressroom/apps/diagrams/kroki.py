"""A drop-in for Kroki: its URLs, its words and its errors, with durable jobs and a cache beneath.

A client works when its base URL is changed to `/kroki` of this service.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated, Any, NamedTuple

import msgspec
from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Caller, Scope
from pressroom.api.artifacts import send
from pressroom.api.problems import HttpError, request_id_of
from pressroom.api.schema import header, query, says, takes
from pressroom.api.service import Service
from pressroom.apps.diagrams import kroki_errors
from pressroom.apps.diagrams.answers import RenderFailed, note_of, note_of_hit
from pressroom.apps.diagrams.asking import decode
from pressroom.apps.diagrams.kroki_source import ENCODED_LIMIT, unpacked
from pressroom.apps.diagrams.kroki_types import LANGUAGES, Chosen, engine_of, format_of, translate
from pressroom.apps.diagrams.renders import Diagrams
from pressroom.apps.diagrams.slots import no_room
from pressroom.errors import InvalidArgument, PressroomError
from pressroom.model import VERSION, Answer, Job
from pressroom.renderers import Engine
from pressroom.renderers.documents import Asked

PATIENCE = 25.0  # seconds; clients give up after 30, and should hear from us before
MAX_AGE = 5 * 24 * 3600  # as Kroki has it

_OPTION = "kroki-diagram-options-"
_OPTION_NAME = re.compile(r"[a-z0-9_.-]{1,64}")
_START = re.compile(rb"\A\s*@start\w+[^\n]*\n")
_OUTCOMES = {Answer.HIT: "hit", Answer.JOINED: "joined"}
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


_PICTURE: dict[str, Any] = {
    "description": "The picture",
    "headers": {
        name: {"description": text, "schema": {"type": "string"}}
        for name, text in {
            "ETag": "Strong: the hash of the bytes",
            "Cache-Status": "Whether it was kept, and if not, why",
            "Pressroom-Ignored-Options": "Options that had no effect",
        }.items()
    },
    "content": {
        media_type: {"schema": {"type": "string", "format": "binary"}}
        for media_type in ("image/svg+xml", "image/png", "application/pdf")
    },
}
_RESPONSES = {
    200: _PICTURE,
    206: _PICTURE | {"description": "Some of its bytes"},
    304: {"description": "You have it"},
    **kroki_errors.documented(),
}
_PARAMETERS = [
    query(
        "theme", {"type": "string"}, "An option, as are all others of this type; `Kroki-Diagram-Options-Theme` says the same"
    ),
    header("Accept", "The format, if nothing else names it; and how an error is told"),
]
_EXAMPLE = {"diagram_source": "digraph G {Hello->World}", "diagram_type": "graphviz", "output_format": "svg"}

# Told in the document alone: a type that is not there is refused in Kroki's words.
type _Type = Annotated[str, Path(json_schema_extra={"enum": list(LANGUAGES)})]
type _Format = Annotated[str, Path(json_schema_extra={"enum": ["svg", "png", "pdf"]})]
type _Encoded = Annotated[str, Path(json_schema_extra={"pattern": "^[A-Za-z0-9_-]+=*$"})]


def router(service: Service, diagrams: Diagrams) -> APIRouter:
    routes = APIRouter(tags=["kroki"])
    draw = partial(_answered, service, diagrams)
    body = takes(KrokiDiagram, "A diagram", media_types=("application/json", "text/plain"), example=_EXAMPLE)

    @routes.get(
        "/kroki/health",
        operation_id="kroki_health",
        responses={200: says(KrokiHealth, "All is well", media_type="application/health+json")},
    )
    @routes.get("/kroki/healthz", operation_id="kroki_healthz", include_in_schema=False)
    @routes.get("/kroki/v1/health", operation_id="kroki_v1_health", include_in_schema=False)
    async def kroki_health() -> Response:
        return Response(msgspec.json.encode(_health()), media_type="application/health+json")

    @routes.post("/kroki/health", operation_id="kroki_post_health", include_in_schema=False)
    async def kroki_post_health() -> Response:
        """Or it would be taken for a type of diagram."""
        raise HttpError(405, "method_not_allowed", "not with this method", {"Allow": "GET"})

    @routes.head("/kroki/{type}/{format}/{encoded:path}", operation_id="kroki_head", include_in_schema=False)
    @routes.get(
        "/kroki/{type}/{format}/{encoded:path}",
        operation_id="kroki_get",
        responses=_RESPONSES,
        openapi_extra={"parameters": _PARAMETERS},
    )
    async def kroki_get(request: Request, type: _Type, format: _Format, encoded: _Encoded) -> Response:
        """`encoded` is the source, deflated and in URL-safe base64."""
        return await draw(request, partial(_from_url, request, type, format, encoded))

    @routes.post(
        "/kroki/",
        operation_id="kroki_post",
        responses=_RESPONSES,
        openapi_extra=takes(KrokiDiagram, "A diagram", example=_EXAMPLE) | {"parameters": _PARAMETERS},
    )
    @routes.post("/kroki", operation_id="kroki_post_bare", include_in_schema=False)
    async def kroki_post(request: Request) -> Response:
        return await draw(request, partial(_from_body, request, None, None))

    @routes.post(
        "/kroki/{type}",
        operation_id="kroki_post_type",
        responses=_RESPONSES,
        openapi_extra=body | {"parameters": _PARAMETERS},
    )
    async def kroki_post_type(request: Request, type: _Type) -> Response:
        return await draw(request, partial(_from_body, request, type, None))

    @routes.post(
        "/kroki/{type}/{format}",
        operation_id="kroki_post_format",
        responses=_RESPONSES,
        openapi_extra=body | {"parameters": _PARAMETERS},
    )
    async def kroki_post_format(request: Request, type: _Type, format: _Format) -> Response:
        return await draw(request, partial(_from_body, request, type, format))

    return routes


async def _answered(service: Service, diagrams: Diagrams, request: Request, read: Callable[[], Awaitable[Wanted]]) -> Response:
    try:
        caller = await service.gate.caller(request, Scope.SUBMITTER)
        return await _draw(service, diagrams, request, caller, await read())
    except PressroomError as error:
        return kroki_errors.answer(request, error)


async def _from_url(request: Request, type: str, format: str, encoded: str) -> Wanted:
    if len(encoded) > ENCODED_LIMIT:
        raise HttpError(414, "uri_too_long", f"the source has {len(encoded):,} characters in the URL; post it instead")
    engine = engine_of(type)
    wanted = format_of(engine, type, format)
    source = unpacked(encoded, limit=engine.limits.source, plantuml=type == "plantuml")
    return _wanted(request, engine, wanted, source, {})


async def _from_body(request: Request, type: str | None, format: str | None) -> Wanted:
    """JSON, or the source itself. `POST /` is JSON whatever its header says."""
    body = await request.body()
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if type is None or media_type == "application/json":
        posted = decode(body, KrokiDiagram)
        source = (posted.diagram_source or "").encode()
    else:
        posted, source = KrokiDiagram(), body
    type = type or posted.diagram_type
    if not type:
        raise InvalidArgument("Field diagram_type must not be empty.")
    engine = engine_of(type)
    format = format_of(engine, type, format or posted.output_format or _accepted_format(request, engine))
    return _wanted(request, engine, format, source, posted.diagram_options or {})


def _accepted_format(request: Request, engine: type[Engine]) -> str:
    """The best format that the caller accepts. Kroki wants it to be named; a caller that takes anything gets an SVG here."""
    accepted = kroki_errors.accepted(request.headers.get("accept", "*/*"))
    for media_type in accepted:
        if _FORMATS.get(media_type) in engine.makes:
            return _FORMATS[media_type]
    raise InvalidArgument(
        f"Unsupported media type: {', '.join(accepted)[:200] or 'none'}. Accept one of: {', '.join(_FORMATS)}."
    )


def _wanted(request: Request, engine: type[Engine], format: str, source: bytes, posted: Mapping[str, Any]) -> Wanted:
    if not source.strip():
        raise InvalidArgument("the source is empty")
    in_url = {name.lower(): value for name, value in request.query_params.items()}
    in_headers = {
        name.removeprefix(_OPTION): value
        for name, value in request.headers.items()
        if name.startswith(_OPTION) and name != _OPTION
    }
    # In this order a later one wins, as it does in Kroki.
    given = in_url | in_headers | {name.lower(): value for name, value in posted.items()}
    return Wanted(engine, format, source, translate(engine, given), shared=request.method != "POST" and given == in_url)


async def _draw(service: Service, diagrams: Diagrams, request: Request, caller: Caller, wanted: Wanted) -> Response:
    source, inserted = _with_line(wanted.source, wanted.chosen.line)
    asked = Asked(wanted.engine.takes, wanted.format, source, wanted.chosen.options)
    try:
        uid, cache_status = await _drawn(service, diagrams, request, caller, asked)
    except RenderFailed as failed:
        raise _relocated(failed, inserted) from None
    artifact = await service.rendering.artifact(uid)
    response = await send(service, request, artifact, cache=_cache_control(caller, wanted))
    response.headers["Cache-Status"] = cache_status
    if ignored := [name for name in wanted.chosen.ignored if _OPTION_NAME.fullmatch(name)]:
        response.headers["Pressroom-Ignored-Options"] = ", ".join(ignored[:20])
    return response


def _with_line(source: bytes, line: str | None) -> tuple[bytes, int | None]:
    """The source with a line that must stand within it, and the number that this line has."""
    if line is None:
        return source, None
    start = _START.match(source)
    place = start.end() if start else 0
    return source[:place] + line.encode() + b"\n" + source[place:], source[:place].count(b"\n") + 1


async def _drawn(service: Service, diagrams: Diagrams, request: Request, caller: Caller, asked: Asked) -> tuple[str, str]:
    """The artifact's uid, and what the cache had to do with it."""
    found = await diagrams.find(service.queue, asked, caller.org_id, waits=True)
    if found.hit is not None:
        service.metrics.cache.labels("hit").inc()
        return found.hit.artifact, note_of_hit(found.hit)[1]
    if diagrams.is_full(found):
        raise no_room(found.in_line)
    with diagrams.door.place(found.fingerprint):
        trace = {"request_id": request_id_of(request)}
        submitted = await diagrams.submit(service.queue, asked, org_id=caller.org_id, trace=trace)
        service.metrics.submitted.labels(submitted.kind, submitted.answer.value).inc()
        service.metrics.cache.labels(_OUTCOMES.get(submitted.answer, "miss")).inc()
        job = await service.queue.settled(submitted, timeout=PATIENCE)
    return _artifact_of(job), note_of(submitted)[1]


def _artifact_of(job: Job) -> str:
    if not isinstance(job.result, dict):
        raise RenderFailed(job)
    return str(job.result["artifact"])


def _relocated(failed: RenderFailed, inserted: int | None) -> RenderFailed:
    """The failure with its line as the author counts, who knows nothing of the one that was put in."""
    line = failed.error.get("line")
    if inserted is not None and line is not None and line > inserted:
        failed.error["line"] = line - 1
    return failed


def _cache_control(caller: Caller, wanted: Wanted) -> str:
    if not wanted.shared:  # the same URL with other headers, or with another body, is another picture
        return "private, no-cache"
    return f"{'public' if caller.org_id is None else 'private'}, max-age={MAX_AGE}"


def _health() -> KrokiHealth:
    versions: dict[str, Any] = {"kroki": {"number": VERSION, "build_hash": "pressroom"}}
    for type in LANGUAGES:
        engine = engine_of(type)
        if engine.missing() is None:
            versions[type] = engine.version().partition(",")[0]
    return KrokiHealth("pass", versions)
