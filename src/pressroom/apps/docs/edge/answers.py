"""Answers of the edge, as ASGI sends them."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

type Headers = list[tuple[bytes, bytes]]

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
NO_STORE = "no-store"
# Our own pages bring no scripts, and nothing from elsewhere.
OWN_PAGE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_NOSNIFF = (b"x-content-type-options", b"nosniff")


class EdgeAnswer(NamedTuple):
    status: int
    headers: Headers
    body: bytes | AsyncIterator[bytes] = b""

    async def send(self, scope: Scope, receive: Receive, send: Send) -> None:
        if isinstance(self.body, bytes):
            await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
            await send({"type": "http.response.body", "body": self.body})
            return
        response = StreamingResponse(self.body, self.status)  # which ends when the reader goes away
        response.raw_headers = self.headers
        await response(scope, receive, send)


class RequestHeaders(NamedTuple):
    """Those of a request that count at the edge."""

    hosts: list[str]
    accept_encoding: str
    authorization: str
    cookie_headers: list[str]
    if_none_match: str | None
    if_range: str | None
    range: str | None


_COUNTED = frozenset({b"accept-encoding", b"authorization", b"cookie", b"host", b"if-none-match", b"if-range", b"range"})


def read_headers(scope: Scope) -> RequestHeaders:
    found: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        if name in _COUNTED:
            found.setdefault(name, []).append(value.decode("latin-1"))

    def joined(name: bytes) -> str | None:
        return ", ".join(found[name]) if name in found else None

    return RequestHeaders(
        found.get(b"host", []),
        joined(b"accept-encoding") or "",
        joined(b"authorization") or "",
        found.get(b"cookie", []),
        joined(b"if-none-match"),
        joined(b"if-range"),
        joined(b"range"),
    )


def encode_headers(headers: Mapping[str, str]) -> Headers:
    return [*map(_encode_header, headers.items()), _NOSNIFF]


@lru_cache(maxsize=8192)
def _encode_header(header: tuple[str, str]) -> tuple[bytes, bytes]:
    return header[0].lower().encode("latin-1"), header[1].encode("latin-1")


def whole(status: int, body: bytes, headers: Mapping[str, str]) -> EdgeAnswer:
    return EdgeAnswer(status, encode_headers({**headers, "Content-Length": str(len(body))}), body)


def redirect(status: int, location: str, headers: Mapping[str, str]) -> EdgeAnswer:
    return whole(status, b"", {"Location": location, **headers})


def tag_of(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()}"'
