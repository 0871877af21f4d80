"""Cookies: reading our own from a request, and text that fits into one.

Python's `http.cookies` (and with it `request.cookies`) removes quotes and escapes, which takes quadratic time before 3.12.6
(CVE-2024-7592). Our values need neither, so a cookie is what stands between `=` and `;`.
"""

from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote

from starlette.requests import Request

MAX_HEADER_BYTES = 4096  # bytes of the header that are read; a cookie that begins or ends later does not exist
MAX_TEXT_BYTES = 2000  # bytes of an encoded text


def read_cookie(request: Request, name: str) -> str | None:
    """The value of the last cookie of this name, as it was sent."""
    headers = (value for key, value in request.scope["headers"] if key == b"cookie")
    return next(reversed([*read_cookies(headers, name)]), None)


def read_cookies(headers: Iterable[bytes], name: str, limit: int = MAX_HEADER_BYTES) -> Iterator[str]:
    """The values of all cookies of this name: a browser sends one for each path that has it."""
    header = b";".join(value[: limit + 1] for value in headers)
    if len(header) > limit:
        header = header[: limit + 1].rpartition(b";")[0]  # the last one is cut, and half a value is none
    for part in header.decode("latin-1").split(";"):
        key, separator, text = part.partition("=")
        if separator and key.strip() == name:
            yield text.strip()


def encode_text(text: str) -> str:
    """Percent-encoded, so that it needs no quotes; what does not fit is left out."""
    encoded = ""
    for letter in text:
        part = quote(letter, safe="", errors="replace")
        if len(encoded) + len(part) > MAX_TEXT_BYTES:
            break
        encoded += part
    return encoded


def decode_text(value: str | None) -> str:
    return unquote(value or "")
