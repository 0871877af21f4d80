"""What a form sent: text fields, few and short."""

import asyncio
from urllib.parse import parse_qsl

from starlette.requests import Request

from pressroom.api.problems import HttpError

MEDIA_TYPE = "application/x-www-form-urlencoded"
MOST_FIELDS = 1_000
SHORT = 64 * 1024  # bytes that are read at once; a longer form is read in a thread, at a megabyte in a sixth of a second


class Form:
    """The fields of a form. A name may come several times; `get` takes the last."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields

    def get(self, name: str, otherwise: str = "") -> str:
        return next((value for key, value in reversed(self._fields) if key == name), otherwise)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self._fields if key == name]

    def items(self) -> list[tuple[str, str]]:
        return self._fields


async def read(request: Request) -> Form:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != MEDIA_TYPE:
        raise HttpError(415, "unsupported_media_type", f"a form is sent as {MEDIA_TYPE}")
    body = await request.body()
    try:
        fields = _fields(body) if len(body) <= SHORT else await asyncio.to_thread(_fields, body)
    except (UnicodeDecodeError, ValueError):
        raise HttpError(400, "malformed_request", f"this is no form of up to {MOST_FIELDS:,} fields in UTF-8") from None
    return Form(fields)


def _fields(body: bytes) -> list[tuple[str, str]]:
    fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    # Browsers send the lines of a text area as CR LF, whatever was typed.
    return [(name, value.replace("\r\n", "\n")) for name, value in fields]
