"""A request in Kroki's form: the type, format, options and source, from the URL, the headers and the body."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request

from pressroom.api.problems import HttpError
from pressroom.apps.diagrams.accept import media_types_by_weight
from pressroom.apps.diagrams.kroki.options import KrokiOptions, translate_options
from pressroom.apps.diagrams.kroki.types import check_format, engine_of
from pressroom.apps.diagrams.kroki.url_encoding import ENCODED_LIMIT, decode_source
from pressroom.apps.diagrams.requests import decode_body
from pressroom.errors import InvalidArgument
from pressroom.renderers import Engine

_OPTION = "kroki-diagram-options-"
_FORMATS = {"image/svg+xml": "svg", "image/png": "png", "application/pdf": "pdf", "image/*": "svg", "*/*": "svg"}


class KrokiDiagram(msgspec.Struct, frozen=True):
    """A diagram as Kroki takes it. What the URL says need not be said here."""

    diagram_source: str | None = None
    diagram_type: str | None = None
    output_format: str | None = None
    diagram_options: dict[str, Any] | None = None


class KrokiRequest(NamedTuple):
    """`is_shared`: the URL says it all, so that a public cache may keep the response."""

    engine: type[Engine]
    format: str
    source: bytes
    options: KrokiOptions
    is_shared: bool


async def read_url(request: Request, type: str, format: str, encoded: str) -> KrokiRequest:
    if len(encoded) > ENCODED_LIMIT:
        raise HttpError(414, "uri_too_long", f"the source has {len(encoded):,} characters in the URL; post it instead")
    engine = _engine_in_path(type)
    wanted = check_format(type, format)
    source = decode_source(encoded, limit=engine.limits.source, plantuml=engine.takes == "plantuml")
    if not source.strip():
        raise InvalidArgument("the source is empty")
    return _make_request(request, engine, wanted, source, {})


async def read_body(request: Request, type: str | None, format: str | None) -> KrokiRequest:
    """JSON, or the source itself. `POST /` is JSON whatever its header says."""
    engine = None if type is None else _engine_in_path(type)
    source = await request.body()
    if not source.strip():
        raise InvalidArgument("Request body must not be empty.")
    posted = KrokiDiagram()
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if engine is None or media_type == "application/json":
        posted = decode_body(source, KrokiDiagram)
        source = (posted.diagram_source or "").encode()
        if not source.strip():
            raise InvalidArgument("Field diagram_source must not be empty.")
    type = type or posted.diagram_type
    if not type:
        raise InvalidArgument("Field diagram_type must not be empty.")
    engine = engine or engine_of(type)
    format = check_format(type, format or posted.output_format or _accepted_format(request, engine))
    return _make_request(request, engine, format, source, posted.diagram_options or {})


def _engine_in_path(type: str) -> type[Engine]:
    """As engine_of, for a type in the path: an unknown one is a 404, as with Kroki."""
    try:
        return engine_of(type)
    except InvalidArgument as unknown:
        raise HttpError(404, "unsupported_format", str(unknown)) from None


def _accepted_format(request: Request, engine: type[Engine]) -> str:
    """The best format that the caller accepts. Kroki wants it to be named; a caller that takes anything gets an SVG here."""
    accepted = media_types_by_weight(request.headers.get("accept", "*/*"))
    for media_type in accepted:
        if _FORMATS.get(media_type) in engine.makes:
            return _FORMATS[media_type]
    raise InvalidArgument(
        f"Unsupported media type: {', '.join(accepted)[:200] or 'none'}. Accept one of: {', '.join(_FORMATS)}."
    )


def _make_request(
    request: Request, engine: type[Engine], format: str, source: bytes, posted: Mapping[str, Any]
) -> KrokiRequest:
    in_url = {name.lower(): value for name, value in request.query_params.items()}
    in_headers = {
        name.removeprefix(_OPTION): value
        for name, value in request.headers.items()
        if name.startswith(_OPTION) and name != _OPTION
    }
    # In this order a later one wins, as it does in Kroki.
    given = in_url | in_headers | {name.lower(): value for name, value in posted.items()}
    is_shared = request.method != "POST" and given == in_url
    return KrokiRequest(engine, format, source, translate_options(engine, given), is_shared)
