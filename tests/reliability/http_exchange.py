"""One HTTP exchange over a real socket. What is returned was read to its last byte; whatever else happens is `Unheard`."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

LIMIT = 120.0  # far more than the longest pause of a server, or its start beside busy neighbours


class Unheard(Exception):
    """The connection ended before the answer did: what was asked for may have been done, or not."""


class Unreachable(Unheard):
    """Nobody listened, so nothing was asked."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


async def exchange(
    port: int,
    method: str,
    path: str,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    *,
    limit: float = LIMIT,
) -> Answer:
    """Each on a connection of its own: one that a killed server left behind would tell nothing."""
    try:
        async with asyncio.timeout(limit):
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError as reason:
                raise Unreachable(str(reason)) from None
            try:
                writer.write(_head(method, path, body, headers or {}) + body)
                return await _answer(reader)
            finally:
                writer.close()
    except (OSError, EOFError, TimeoutError) as reason:
        raise Unheard(repr(reason)) from None


def _head(method: str, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    fields = {"Host": "127.0.0.1", "Connection": "close", "Content-Length": str(len(body)), **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode()


async def _answer(reader: asyncio.StreamReader) -> Answer:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    if headers.get("transfer-encoding") == "chunked":
        return Answer(int(first.split()[1]), headers, await _chunks(reader))
    return Answer(int(first.split()[1]), headers, await reader.readexactly(int(headers.get("content-length", "0"))))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    return bytes(body)
