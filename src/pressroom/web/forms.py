"""What a form sent: text fields, few and short."""

import asyncio
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from starlette.requests import Request

from pressroom.api.problems import HttpError

MEDIA_TYPE = "application/x-www-form-urlencoded"
MAX_FIELDS = 1_000
DECODE_CHUNK = 64 * 1024  # bytes that are decoded at a time
MAX_INLINE_BYTES = (
    64 * 1024
)  # bytes that are read at once; a longer form is read in a thread, at a megabyte in a sixth of a second


class Form:
    """The fields of a form. A name may come several times; `get` takes the last."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields

    def get(self, name: str, default: str = "") -> str:
        return next((value for key, value in reversed(self._fields) if key == name), default)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self._fields if key == name]

    def items(self) -> list[tuple[str, str]]:
        return self._fields


async def read_form(request: Request) -> Form:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != MEDIA_TYPE:
        raise HttpError(415, "unsupported_media_type", f"a form is sent as {MEDIA_TYPE}")
    body = await request.body()
    try:
        fields = _parse_fields(body) if len(body) <= MAX_INLINE_BYTES else await asyncio.to_thread(_parse_fields, body)
    except (UnicodeDecodeError, ValueError):
        raise HttpError(400, "malformed_request", f"this is no form of up to {MAX_FIELDS:,} fields in UTF-8") from None
    return Form(fields)


def _parse_fields(body: bytes) -> list[tuple[str, str]]:
    """As `urllib.parse.parse_qsl` reads them. Raises ValueError for too many, and for what is not UTF-8."""
    if not body.isascii() or body.count(b"&") >= MAX_FIELDS:
        raise ValueError
    parts = [part.partition(b"=") for part in body.split(b"&") if part]
    # Browsers send the lines of a text area as CR LF, whatever was typed.
    return [(_decode(name), _decode(value).replace("\r\n", "\n")) for name, _, value in parts]


def _decode(text: bytes) -> str:
    return b"".join(map(unquote_to_bytes, _split_between_escapes(text.replace(b"+", b" ")))).decode()


def _split_between_escapes(text: bytes) -> Iterator[bytes]:
    """To decode an escape takes a hundred bytes of memory for a while, and a body may hold four million of them.

    No piece ends within an escape.
    """
    start = 0
    while start < len(text):
        end = start + DECODE_CHUNK
        escape = text.rfind(b"%", max(start + 1, end - 2), end)  # the last two bytes may begin one
        end = escape if escape != -1 else end
        yield text[start:end]
        start = end
