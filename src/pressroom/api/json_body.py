"""JSON that a caller sent. Millions of small values take long to decode and are refused; a long text is not."""

from typing import Any

import msgspec
from starlette.requests import Request

from pressroom.api.problems import HttpError
from pressroom.errors import InvalidArgument

MOST_VALUES = 200_000
FEW_BYTES = 2 * MOST_VALUES  # a value takes two at least


def decode_body[T](request: Request, body: bytes, kind: type[T]) -> T:
    """A JSON body as a structure, or the refusal that says where it is wrong."""
    media_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise HttpError(415, "unsupported_media_type", f"send application/json, not {media_type[:100]!r}")
    try:
        return decode_json(body, kind)
    except msgspec.ValidationError as reason:
        raise HttpError(422, "invalid_argument", str(reason)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as reason:
        raise HttpError(422, "invalid_json", f"the body is not JSON: {reason}") from None


def decode_json[T](body: bytes, kind: type[T]) -> T:
    """Raises what msgspec raises, and InvalidArgument for too many values."""
    if len(body) > FEW_BYTES and _separators(body) > MOST_VALUES:
        # Most of them may stand in a text. Texts are at most two objects deep in what we are sent: `payload.source`.
        values = _values(msgspec.Raw(body.lstrip()), depth=2)
        if values > MOST_VALUES:
            raise InvalidArgument(f"the body has more than {MOST_VALUES:,} values")
    return msgspec.json.decode(body, type=kind)


def _values(raw: msgspec.Raw, depth: int) -> int:
    """At least as many as there are, without those inside texts that are found easily."""
    text = memoryview(raw)
    first = bytes(text[:1])
    if first == b'"':
        return 1
    if first != b"{" or depth == 0 or _keys(bytes(text)) > MOST_VALUES:
        return _separators(bytes(text))
    members: dict[str, Any] = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    return len(members) + sum(_values(member, depth - 1) for member in members.values())


def _keys(text: bytes) -> int:
    """About as many; those in a text have their quotes escaped."""
    return text.count(b'":') - text.count(b'\\":')


def _separators(text: bytes) -> int:
    return sum(text.count(mark) for mark in (b",", b"[", b"{"))
