"""One POST to a checked address: the connection is pinned to it, and the certificate must be valid for the host name."""

import asyncio
import socket
import ssl
from collections.abc import Collection, Mapping
from contextlib import suppress

import msgspec

from pressroom.errors import Transient
from pressroom.notify.addresses import (
    Address,
    AddressRefused,
    Resolver,
    WebhookTarget,
    parse_target,
    resolve_by_system,
    resolve_public,
)

TIMEOUT = 15.0
EXCERPT = 1024  # bytes of the body that are kept
EXCERPT_WAIT = 1.0  # seconds for the body; the status is known by then
HEAD_LIMIT = 16 * 1024
MAX_ADDRESSES = 3  # of one name that are tried


class NoResponse(Transient):
    """No valid HTTP response. The message is shown to the owner of the webhook and names no address."""

    code = "no_answer"


class ResponseTimeout(NoResponse):
    """No response within TIMEOUT."""


class WebhookResponse(msgspec.Struct, frozen=True):
    status: int
    retry_after: str | None
    excerpt: str


class WebhookClient:
    """`allow` names hosts that may be private; `tls` and `resolve` are the machine's own unless a test brings others."""

    def __init__(
        self, allow: Collection[str] = (), *, tls: ssl.SSLContext | None = None, resolve: Resolver = resolve_by_system
    ) -> None:
        self.allow = allow
        self._tls = tls
        self._resolve = resolve

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookResponse:
        """Send, and return the response, whatever its status. Raises NoResponse. Follows no redirect."""
        try:
            async with asyncio.timeout(TIMEOUT):
                target = parse_target(url, self.allow)
                addresses = await resolve_public(target, self._resolve)
                reader, writer = await self._connect(target, addresses)
                try:
                    writer.write(_encode_request(target, headers, body))
                    return await _read_response(reader)
                finally:
                    writer.transport.abort()
        except AddressRefused as reason:
            raise NoResponse(str(reason)) from None
        except TimeoutError:
            raise ResponseTimeout(f"no answer within {TIMEOUT:g} s") from None
        except ssl.SSLCertVerificationError as reason:
            raise NoResponse(f"the certificate is not valid: {reason.verify_message}") from None
        except ssl.SSLError as reason:
            raise NoResponse(f"TLS failed: {reason.reason}") from None
        except socket.gaierror:
            raise NoResponse("the name of the host was not found") from None
        except (OSError, EOFError, ValueError) as reason:
            raise NoResponse(f"no connection, or no answer over it: {type(reason).__name__}") from None

    async def _connect(
        self, target: WebhookTarget, addresses: list[Address]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        tls = self._tls_context() if target.scheme == "https" else None
        name = target.host if tls else None
        failure: OSError = OSError()
        for address in addresses[:MAX_ADDRESSES]:
            try:
                return await asyncio.open_connection(str(address), target.port, ssl=tls, server_hostname=name, limit=HEAD_LIMIT)
            except OSError as reason:
                failure = reason
        raise failure

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls


def _encode_request(target: WebhookTarget, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = [
        f"POST {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        f"Content-Length: {len(body)}",
        "Accept: */*",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


async def _read_response(reader: asyncio.StreamReader) -> WebhookResponse:
    status, headers = await _read_head(reader)
    while 100 <= status < 200:  # provisional; the real one follows
        status, headers = await _read_head(reader)
    excerpt = b""
    with suppress(OSError, EOFError, ValueError):  # the status counts, with or without a body
        async with asyncio.timeout(EXCERPT_WAIT):
            excerpt = await _read_excerpt(reader, chunked="chunked" in headers.get("transfer-encoding", "").lower())
    return WebhookResponse(status, headers.get("retry-after"), _printable(excerpt))


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.LimitOverrunError:
        raise ValueError("the head of the answer is too long") from None
    first, *lines = text.split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
        raise ValueError("that is not HTTP")
    pairs = (line.partition(":") for line in lines)
    return int(rest[:3]), {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _read_excerpt(reader: asyncio.StreamReader, *, chunked: bool) -> bytes:
    """The beginning of the body."""
    taken = b""
    while len(taken) < EXCERPT:
        size = EXCERPT - len(taken)
        if chunked:
            length = int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16)
            if length <= 0:
                break
            taken += await reader.readexactly(min(size, length))
            if length <= size:
                await reader.readexactly(2)
        else:
            more = await reader.read(size)
            if not more:
                break
            taken += more
    return taken


def _printable(excerpt: bytes) -> str:
    text = excerpt.decode(errors="replace")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text)
