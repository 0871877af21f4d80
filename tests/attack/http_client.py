"""Requests to one port of 127.0.0.1, byte by byte where an attack needs it. Every call is bounded in time."""

import asyncio
import contextlib
import hmac
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

HOST = "127.0.0.1"
BROWSER_SECRET = "a" * 43  # of the cookie that the form token is made from
SHORT, LONG = 20.0, 120.0  # seconds for one exchange; long ones wait for renders, or for a deadline of the service


@dataclass(frozen=True)
class Answer:
    """`status` 0 is a connection that was closed without an answer."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)


class HttpClient:
    def __init__(self, port: int) -> None:
        self.port = port

    @contextlib.asynccontextmanager
    async def connect(self, source: str = HOST) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """One connection, from any address of the loopback. It is reset at the end if it is still open."""
        reader, writer = await asyncio.open_connection(HOST, self.port, local_addr=(source, 0), limit=2**20)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()

    async def exchange(self, *parts: bytes, source: str = HOST, within: float = LONG) -> Answer:
        """Send these bytes, reading meanwhile, until the service closes the connection."""
        async with asyncio.timeout(within), self.connect(source) as (reader, writer):
            sending = asyncio.create_task(_send(writer, parts))
            try:
                return await read_answer(reader)
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)

    async def request(
        self,
        method: str,
        target: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        source: str = HOST,
        within: float = LONG,
    ) -> Answer:
        head = self.head(method, target, token=token, headers=headers, length=len(body) if body or method != "GET" else None)
        return await self.exchange(head, body, source=source, within=within)

    async def submit(self, token: str, job: Any, path: str = "/jobs", **options: Any) -> Answer:
        headers = {"Content-Type": "application/json"} | options.pop("headers", {})
        body = job if isinstance(job, bytes) else json.dumps(job).encode()
        return await self.request("POST", path, token=token, headers=headers, body=body, **options)

    async def form(self, token: str | None, path: str, fields: Mapping[str, str], **options: Any) -> Answer:
        return await self.request("POST", path, token=token, headers=FORM_HEADERS, body=form_body(fields), **options)

    def head(
        self,
        method: str,
        target: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        length: int | None = None,
    ) -> bytes:
        lines = {"Host": f"{HOST}:{self.port}", "Connection": "close"}
        lines |= {} if token is None else {"Authorization": f"Bearer {token}"}
        lines |= {} if length is None else {"Content-Length": str(length)}
        lines |= headers or {}
        return f"{method} {target} HTTP/1.1\r\n{''.join(f'{k}: {v}\r\n' for k, v in lines.items())}\r\n".encode("latin-1")


FORM_HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"pressroom={BROWSER_SECRET}"}


def form_body(fields: Mapping[str, str]) -> bytes:
    """With the form token of the browser whose cookie is in FORM_HEADERS."""
    form_token = hmac.digest(BROWSER_SECRET.encode(), b"pressroom form", "sha256").hex()
    return urlencode({"form_token": form_token} | dict(fields)).encode()


async def _send(writer: asyncio.StreamWriter, parts: Iterable[bytes]) -> None:
    with contextlib.suppress(OSError):  # the service may close before it has read all
        for part in parts:
            for start in range(0, len(part), 2**18):
                writer.write(part[start : start + 2**18])
                await writer.drain()


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    """One answer, whose connection is closed after it unless it has a length."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        status = int(first.split()[1])
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        if "content-length" in headers:
            body = await reader.readexactly(int(headers["content-length"]))
        else:
            body = await reader.read()
            if headers.get("transfer-encoding") == "chunked":
                body = _without_chunks(body)
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return Answer(0)
    return Answer(status, headers, body)


def _without_chunks(body: bytes) -> bytes:
    parts = []
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            break
        parts.append(rest[:length])
        body = rest[length + 2 :]
    return b"".join(parts)
