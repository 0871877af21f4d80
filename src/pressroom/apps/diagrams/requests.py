"""The render that a request describes: JSON, or the source itself with the rest in the query."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request

from pressroom.api.json_body import decode_json
from pressroom.api.problems import HttpError
from pressroom.apps.diagrams.accept import media_types_by_weight
from pressroom.errors import InvalidArgument
from pressroom.renderers import MEDIA_TYPES, catalogue, documents
from pressroom.renderers.documents import PreparedRender, RenderRequest

type Word = Annotated[str, Meta(min_length=1, max_length=64)]

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"  # what curl -d sends, whatever the data is
PLAIN = ("text/plain", "application/octet-stream", FORM, "")
RESERVED = frozenset({"format", "outputType", "engine", "mode", "wait"})


class NewRender(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to render. `format` is the language of the source, `outputType` what it becomes."""

    source: Annotated[str, Meta(min_length=1)]
    format: Word | None = None
    outputType: Word | None = None  # noqa: N815
    options: dict[str, Any] = {}
    engine: Word | None = None


def read_render_request(request: Request, body: bytes) -> PreparedRender:
    """The render of a request, planned and checked. Raises HttpError 400 that lists what there is."""
    query = request.query_params
    if not is_json(request, body):
        output = _requested_output(request, query.get("format"), query.get("outputType"))
        return prepare_from(query, body, output=output)
    new = decode_body(body, NewRender)
    output = _requested_output(request, new.format or query.get("format"), new.outputType or query.get("outputType"))
    return prepare_from(query, new.source.encode(), new.format, output, new.options, new.engine)


def _requested_output(request: Request, format: str | None, output: str | None) -> str | None:
    """The output that is named, or else the output of the language that the Accept header prefers."""
    if output:
        return output
    made = _supported_outputs(check_language(format))
    media_types = {MEDIA_TYPES[one].partition(";")[0]: one for one in made}
    return next(
        (media_types[name] for name in media_types_by_weight(request.headers.get("accept", "")) if name in media_types), None
    )


def prepare_from(
    query: Mapping[str, str],
    source: bytes,
    format: str | None = None,
    output: str | None = None,
    options: Mapping[str, Any] | None = None,
    engine: str | None = None,
    *,
    reserved: frozenset[str] = RESERVED,
) -> PreparedRender:
    """What the body left out is taken from the query. What is not `reserved` there is an option of the engine."""
    language = check_language(format or query.get("format"))
    output = (output or query.get("outputType") or "svg").lower()
    wanted = RenderRequest(language, output, source, options or {}, engine or query.get("engine"))
    return prepare_render(_add_query_options(wanted, {name: value for name, value in query.items() if name not in reserved}))


def is_json(request: Request, body: bytes) -> bool:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == JSON or media_type.endswith("+json"):
        return True
    if media_type not in PLAIN and not media_type.startswith("text/"):
        raise HttpError(415, "unsupported_media_type", f"send {JSON}, or the source as text/plain; not {media_type[:100]!r}")
    # A JSON body that curl called a form: without a format in the query it can be nothing else.
    return media_type in (FORM, "") and "format" not in request.query_params and body.lstrip()[:1] == b"{"


def decode_body[T](body: bytes, kind: type[T]) -> T:
    try:
        return decode_json(body, kind)
    except msgspec.ValidationError as reason:
        raise HttpError(400, "invalid_argument", str(reason)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as reason:
        raise HttpError(400, "invalid_json", f"the body is not JSON: {reason}") from None


def prepare_render(render_request: RenderRequest) -> PreparedRender:
    """As documents.prepare, with HttpError 400 for what is wrong with the request."""
    if not render_request.source.strip():
        raise HttpError(400, "source_invalid", "the source is empty")
    try:
        return documents.prepare(render_request)
    except InvalidArgument as reason:
        code = (
            "invalid_argument" if render_request.output in _supported_outputs(render_request.language) else "unsupported_output"
        )
        raise HttpError(400, code, str(reason)) from None


def _supported_outputs(language: str) -> set[str]:
    return {output for engine in catalogue.engines() if engine.takes == language for output in engine.makes}


def check_language(given: str | None) -> str:
    known = catalogue.languages()
    if not given:
        raise HttpError(400, "format_missing", f"say which format the source is in: {', '.join(known)}")
    language = catalogue.ALIASES.get(given.lower(), given.lower())
    if language not in known:
        raise HttpError(400, "unsupported_format", f"there is no format {given[:64]!r}; there are {', '.join(known)}")
    return language


def _add_query_options(render_request: RenderRequest, given: Mapping[str, str]) -> RenderRequest:
    """Options that came as text: `?theme=dark&scale=3`."""
    if not given:
        return render_request
    typed: Mapping[str, Any] = given
    with suppress(InvalidArgument, msgspec.ValidationError):  # the check that follows says what is wrong with them
        typed = msgspec.to_builtins(msgspec.convert(given, documents.make_plan(render_request).reader.Options, strict=False))
    return msgspec.structs.replace(render_request, options={**render_request.options, **{name: typed[name] for name in given}})
