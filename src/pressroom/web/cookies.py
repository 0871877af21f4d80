"""Cookies: reading our own from a request, and text that fits into one.

Python's `http.cookies` (and with it `request.cookies`) removes quotes and escapes, which takes quadratic time before 3.12.6
(CVE-2024-7592). Our values need neither, so a cookie is what stands between `=` and `;`.
"""

from urllib.parse import quote, unquote

from starlette.requests import Request

LIMIT = 4096  # bytes of the header that are read; a cookie that begins or ends later does not exist
TEXT_LIMIT = 2000  # bytes of an encoded text


def read_cookie(request: Request, name: str) -> str | None:
    """The value of the last cookie of this name, as it was sent."""
    header = b";".join(value[: LIMIT + 1] for key, value in request.scope["headers"] if key == b"cookie")
    if len(header) > LIMIT:
        header = header[: LIMIT + 1].rpartition(b";")[0]  # the last one is cut, and half a value is none
    value = None
    for one in header.decode("latin-1").split(";"):
        key, found, text = one.partition("=")
        if found and key.strip() == name:
            value = text.strip()
    return value


def encode_text(text: str) -> str:
    """Percent-encoded, so that it needs no quotes; what does not fit is left out."""
    encoded = ""
    for letter in text:
        part = quote(letter, safe="", errors="replace")
        if len(encoded) + len(part) > TEXT_LIMIT:
            break
        encoded += part
    return encoded


def decode_text(value: str | None) -> str:
    return unquote(value or "")
