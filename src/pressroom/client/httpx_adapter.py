"""What both transports know of httpx."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx

from pressroom.client.address import Address
from pressroom.client.exchange import ConnectionLost, HttpAnswer, HttpCall

_CHUNK = 256 * 1024


def httpx_client_options(address: Address, timeout: float) -> dict[str, Any]:
    return {
        "base_url": address.url,
        "headers": address.headers,
        "timeout": httpx.Timeout(timeout),
        "trust_env": not address.is_loopback,
        "follow_redirects": False,  # the token goes to the address that was given, and to no other
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=20),
    }


def build_request(http: httpx.Client | httpx.AsyncClient, call: HttpCall) -> httpx.Request:
    timeout: Any = httpx.USE_CLIENT_DEFAULT
    if call.timeout is not None:
        timeout = httpx.Timeout(http.timeout.connect, read=call.timeout)
    headers: dict[str, str] = dict(call.headers)
    content: Any = call.body
    if isinstance(call.body, Path):
        headers["Content-Length"] = str(call.body.stat().st_size)
        content = _read_later(call.body) if isinstance(http, httpx.AsyncClient) else _read(call.body)
    request = http.build_request(
        call.method, call.path, params=call.params or None, headers=headers, content=content, timeout=timeout
    )
    if not call.with_token:
        request.headers.pop("authorization", None)
    return request


def _read(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            yield chunk


async def _read_later(file: Path) -> AsyncIterator[bytes]:
    """In a thread, chunk by chunk."""
    chunks = _read(file)
    while chunk := await asyncio.to_thread(next, chunks, b""):
        yield chunk


def to_answer(response: httpx.Response, body: bytes) -> HttpAnswer:
    return HttpAnswer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, body)


def to_connection_lost(reason: httpx.TransportError) -> ConnectionLost:
    never_sent = isinstance(reason, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    return ConnectionLost(str(reason) or type(reason).__name__, sent=not never_sent)
