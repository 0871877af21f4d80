"""What a request asks to be rendered: JSON, or the source itself with the rest in the query."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import msgspec
from msgspec import Meta
from starlette.requests import Request

from pressroom import rendering
from pressroom.api.json_body import decode_json
from pressroom.api.problems import HttpError
from pressroom.apps.diagrams.accept import preferred
from pressroom.errors import InvalidArgument
from pressroom.renderers import MEDIA_TYPES, catalogue, documents
from pressroom.renderers.documents import Asked

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


def read(request: Request, body: bytes) -> Asked:
    """What is asked for, checked. Raises a refusal with status 400 that says what there is."""
    query = request.query_params
    if not is_json(request, body):
        return assembled(query, body, output=_accepted(request, query.get("format"), query.get("outputType")))
    new = decode(body, NewRender)
    output = new.outputType or query.get("outputType")
    accepted = _accepted(request, new.format or query.get("format"), output)
    return assembled(query, new.source.encode(), new.format, accepted, new.options, new.engine)


def _accepted(request: Request, format: str | None, output: str | None) -> str | None:
    """The output that is named, or else the output of the language that the Accept header prefers."""
    if output:
        return output
    made = _outputs_of(language_of(format))
    media_types = {MEDIA_TYPES[one].partition(";")[0]: one for one in made}
    return next((media_types[name] for name in preferred(request.headers.get("accept", "")) if name in media_types), None)


def assembled(
    query: Mapping[str, str],
    source: bytes,
    format: str | None = None,
    output: str | None = None,
    options: Mapping[str, Any] | None = None,
    engine: str | None = None,
    *,
    reserved: frozenset[str] = RESERVED,
) -> Asked:
    """What the body left out is taken from the query. What is not `reserved` there is an option of the engine."""
    language = language_of(format or query.get("format"))
    output = (output or query.get("outputType") or "svg").lower()
    asked = Asked(language, output, source, options or {}, engine or query.get("engine"))
    return checked(_with_options(asked, {name: value for name, value in query.items() if name not in reserved}))


def is_json(request: Request, body: bytes) -> bool:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == JSON or media_type.endswith("+json"):
        return True
    if media_type not in PLAIN and not media_type.startswith("text/"):
        raise HttpError(415, "unsupported_media_type", f"send {JSON}, or the source as text/plain; not {media_type[:100]!r}")
    # A JSON body that curl called a form: without a format in the query it can be nothing else.
    return media_type in (FORM, "") and "format" not in request.query_params and body.lstrip()[:1] == b"{"


def decode[T](body: bytes, kind: type[T]) -> T:
    try:
        return decode_json(body, kind)
    except msgspec.ValidationError as reason:
        raise HttpError(400, "invalid_argument", str(reason)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as reason:
        raise HttpError(400, "invalid_json", f"the body is not JSON: {reason}") from None


def checked(asked: Asked) -> Asked:
    if not asked.source.strip():
        raise HttpError(400, "source_invalid", "the source is empty")
    try:
        rendering.examine(asked)
    except InvalidArgument as reason:
        _refuse(asked, reason)
    return asked


def _refuse(asked: Asked, reason: InvalidArgument) -> NoReturn:
    code = "invalid_argument" if asked.output in _outputs_of(asked.language) else "unsupported_output"
    raise HttpError(400, code, str(reason)) from None


def _outputs_of(language: str) -> set[str]:
    return {output for engine in catalogue.engines() if engine.takes == language for output in engine.makes}


def language_of(given: str | None) -> str:
    known = catalogue.languages()
    if not given:
        raise HttpError(400, "format_missing", f"say which format the source is in: {', '.join(known)}")
    language = catalogue.ALIASES.get(given.lower(), given.lower())
    if language not in known:
        raise HttpError(400, "unsupported_format", f"there is no format {given[:64]!r}; there are {', '.join(known)}")
    return language


def _with_options(asked: Asked, given: Mapping[str, str]) -> Asked:
    """Options that came as text: `?theme=dark&scale=3`."""
    if not given:
        return asked
    typed: Mapping[str, Any] = given
    with suppress(InvalidArgument, msgspec.ValidationError):  # the check that follows says what is wrong with them
        typed = msgspec.to_builtins(msgspec.convert(given, documents.plan(asked).reader.Options, strict=False))
    return msgspec.structs.replace(asked, options={**asked.options, **{name: typed[name] for name in given}})
