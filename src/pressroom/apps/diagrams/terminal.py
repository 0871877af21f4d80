"""`POST /render/terminal`: a diagram for those who look at a terminal, drawn by chafa where it is installed."""

import asyncio
import os
import shutil
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.problems import HttpError
from pressroom.api.routes import Routes
from pressroom.api.schema import binary_response, json_body, query, responses
from pressroom.api.service import Service
from pressroom.api.waiting import SYNC_WAIT
from pressroom.apps.diagrams import requests
from pressroom.apps.diagrams.render_endpoint import RenderEndpoint
from pressroom.apps.diagrams.requests import Word
from pressroom.errors import EngineCrashed, EngineMissing, Timeout
from pressroom.renderers import documents
from pressroom.renderers.documents import PreparedRender
from pressroom.renderers.sandbox.process_tree import kill_process_tree

SECONDS = 20.0
INSTALL = "apt install chafa (or brew install chafa)"

# chafa's word for each way to draw. Nothing of a request reaches its command line but this word and a number.
FORMATS = {"symbols": "symbols", "sixel": "sixels", "sixels": "sixels", "kitty": "kitty", "iterm": "iterm"}


type Output = Literal["symbols", "sixel", "sixels", "kitty", "iterm"]
type Width = Annotated[int, Meta(ge=1, le=500)]
type Scale = Annotated[int, Meta(ge=1, le=4)]


class TerminalOptions(msgspec.Struct, frozen=True):
    """How to draw: `width` is in columns, `scale` how finely the diagram is drawn before it is turned into characters."""

    output: Output = "symbols"
    width: Width = 80
    scale: Scale = 2


class NewDrawing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to draw, and how; what is left out of the latter is taken from the query."""

    output: Output | UnsetType = UNSET
    width: Width | UnsetType = UNSET
    scale: Scale | UnsetType = UNSET
    source: Annotated[str, Meta(min_length=1)]
    format: Word | None = None
    options: dict[str, Any] = {}
    engine: Word | None = None


_PARAMETERS = [
    query("format", {"type": "string"}, "The language of a source that is sent as plain text"),
    query("output", {"enum": list(FORMATS), "default": "symbols"}, "What the terminal understands"),
    query("width", {"type": "integer", "minimum": 1, "maximum": 500, "default": 80}, "Columns"),
    query("scale", {"type": "integer", "minimum": 1, "maximum": 4, "default": 2}, "How finely it is drawn first"),
]
_OPTION_NAMES = frozenset(TerminalOptions.__struct_fields__)
_RENDER: dict[str, Any] = {
    "responses": responses(
        {200: binary_response("What to print", "text/plain", example="┌──────┐\n│source│\n└──────┘\n")},
        *(400, 401, 403, 409, 413, 422, 501, 504),
    ),
    "openapi": json_body(
        NewDrawing,
        "What to draw",
        media_types=(requests.JSON, "text/plain"),
        example={"source": "digraph { source -> press }", "format": "dot", "output": "symbols", "width": 80},
        text="digraph { source -> press }",
    )
    | {"parameters": _PARAMETERS},
}


def router(service: Service, render_endpoint: RenderEndpoint) -> Routes:
    routes = Routes()
    routes.add("/render/terminal", TerminalApi(service, render_endpoint).render_for_terminal, "POST", **_RENDER)
    return routes


class TerminalApi:
    def __init__(self, service: Service, render_endpoint: RenderEndpoint) -> None:
        self._service = service
        self._render_endpoint = render_endpoint
        self._turns = asyncio.Semaphore(os.cpu_count() or 1)

    async def render_for_terminal(self, request: Request) -> Response:
        """`curl -d 'digraph { a -> b }' '…/render/terminal?format=dot'` shows the diagram where you are."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        chafa = _find_chafa()
        options, prepared = _read_request(request, await request.body())
        uid, _ = await self._render_endpoint.render_to_link(request, caller, prepared, SYNC_WAIT)
        picture = await self._service.rendering.read(await self._service.rendering.artifact(uid))
        data = b"".join([chunk async for chunk in picture])
        async with self._turns:
            drawn = await _run_chafa(chafa, options, data)
        return Response(drawn, media_type="text/plain; charset=utf-8", headers={"Cache-Control": "no-store"})


def _read_request(request: Request, body: bytes) -> tuple[TerminalOptions, PreparedRender]:
    given = request.query_params
    reserved = requests.RESERVED | _OPTION_NAMES
    options = _parse_options({name: given[name] for name in _OPTION_NAMES if name in given})
    if requests.is_json(request, body):
        new = requests.decode_body(body, NewDrawing)
        prepared = requests.prepare_from(
            given, new.source.encode(), new.format, "png", new.options, new.engine, reserved=reserved
        )
        posted = {name: value for name in _OPTION_NAMES if (value := getattr(new, name)) is not UNSET}
        options = msgspec.structs.replace(options, **posted)
    else:
        prepared = requests.prepare_from(given, body, output="png", reserved=reserved)
    render_options = {"scale": float(options.scale), **prepared.request.options}
    return options, documents.prepare(msgspec.structs.replace(prepared.request, options=render_options))


def _parse_options(given: dict[str, str]) -> TerminalOptions:
    try:
        return msgspec.convert(given, TerminalOptions, strict=False)
    except msgspec.ValidationError as reason:
        raise HttpError(400, "invalid_argument", str(reason)) from None


def _find_chafa() -> str:
    found = shutil.which("chafa")
    if found is None:
        raise EngineMissing(f"drawing for terminals needs chafa, which is not installed here; to mend it: {INSTALL}")
    return found


async def _run_chafa(chafa: str, options: TerminalOptions, picture: bytes) -> bytes:
    size = f"{options.width}x{options.width}"  # characters are twice as high as wide: the width is what limits
    process = await asyncio.create_subprocess_exec(
        *(chafa, "--format", FORMATS[options.output], "--size", size, "--colors", "full", "--animate", "off", "-"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(SECONDS):
            drawn, _ = await process.communicate(picture)
    except TimeoutError:
        raise Timeout(f"chafa did not finish within {SECONDS:g} s") from None
    finally:
        if process.returncode is None:
            kill_process_tree(process.pid)
            await process.wait()
    if process.returncode:
        raise EngineCrashed("chafa could not draw this picture")
    return drawn
