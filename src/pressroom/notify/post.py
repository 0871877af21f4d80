"""One POST to an address that was checked: the checked address is dialled, the certificate must be for the name."""

import asyncio
import socket
import ssl
from collections.abc import Collection, Mapping
from contextlib import suppress

import msgspec

from pressroom.errors import Transient
from pressroom.notify.addresses import Address, AddressRefused, Resolver, Target, ask_the_system, examine, reach

TIMEOUT = 15.0
EXCERPT = 1024  # bytes of the answer that are kept
EXCERPT_WAIT = 1.0  # seconds; the status has been told by then, and a body that dawdles is not waited for
HEAD_LIMIT = 16 * 1024
TRIED = 3  # addresses of one name


class NoAnswer(Transient):
    """Nobody answered in a way that can be understood. The message is for the owner of the address and names no address."""

    code = "no_answer"


class Silence(NoAnswer):
    """It took all the time there was."""


class Answer(msgspec.Struct, frozen=True):
    status: int
    retry_after: str | None
    excerpt: str


class Poster:
    """`allow` names hosts that may be private; `tls` and `resolve` are the machine's own unless a test brings others."""

    def __init__(
        self, allow: Collection[str] = (), *, tls: ssl.SSLContext | None = None, resolve: Resolver = ask_the_system
    ) -> None:
        self.allow = allow
        self._tls = tls
        self._resolve = resolve

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send, and return what was answered, whatever its status. Raises NoAnswer. Follows no redirect."""
        try:
            async with asyncio.timeout(TIMEOUT):
                target = examine(url, self.allow)
                addresses = await reach(target, self._resolve)
                reader, writer = await self._dial(target, addresses)
                try:
                    writer.write(_request(target, headers, body))
                    return await _answer(reader)
                finally:
                    writer.transport.abort()
        except AddressRefused as reason:
            raise NoAnswer(str(reason)) from None
        except TimeoutError:
            raise Silence(f"no answer within {TIMEOUT:g} s") from None
        except ssl.SSLCertVerificationError as reason:
            raise NoAnswer(f"the certificate is not valid: {reason.verify_message}") from None
        except ssl.SSLError as reason:
            raise NoAnswer(f"TLS failed: {reason.reason}") from None
        except socket.gaierror:
            raise NoAnswer("the name of the host was not found") from None
        except (OSError, EOFError, ValueError) as reason:
            raise NoAnswer(f"no connection, or no answer over it: {type(reason).__name__}") from None

    async def _dial(self, target: Target, addresses: list[Address]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        tls = self._context() if target.scheme == "https" else None
        name = target.host if tls else None
        failure: OSError = OSError()
        for address in addresses[:TRIED]:
            try:
                return await asyncio.open_connection(str(address), target.port, ssl=tls, server_hostname=name, limit=HEAD_LIMIT)
            except OSError as reason:
                failure = reason
        raise failure

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls


def _request(target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = [
        f"POST {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        f"Content-Length: {len(body)}",
        "Accept: */*",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


async def _answer(reader: asyncio.StreamReader) -> Answer:
    status, headers = await _head(reader)
    while 100 <= status < 200:  # provisional; the real one follows
        status, headers = await _head(reader)
    excerpt = b""
    with suppress(OSError, EOFError, ValueError):  # the status counts, with or without a body
        async with asyncio.timeout(EXCERPT_WAIT):
            excerpt = await _body(reader, chunked="chunked" in headers.get("transfer-encoding", "").lower())
    return Answer(status, headers.get("retry-after"), _readable(excerpt))


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
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


async def _body(reader: asyncio.StreamReader, *, chunked: bool) -> bytes:
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


def _readable(excerpt: bytes) -> str:
    text = excerpt.decode(errors="replace")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in text)
