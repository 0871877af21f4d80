"""Connections that cost little: bounded heads, deadlines, and caps, whatever is sent or not sent.

| phase | until | then |
|---|---|---|
| head | `head_timeout` after it was opened, or after the first byte of a later request; `head_limit` bytes | 408, 431 |
| body | `body_timeout` after the head; while it comes, a second more for SLOWEST bytes; the route limits its length | 408 |
| answering | for as long as it takes | |
| idle | `keep_alive_timeout` (uvicorn's own) | closed |
| discarding | what was refused: DISCARD_LIMIT bytes, or `body_timeout` | closed |

One sweep a second looks at all deadlines, so that a request costs no timers.
"""

import asyncio
import contextlib
import resource
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pressroom.api import problems
from pressroom.api.access import is_loopback
from pressroom.api.limits import network_of

DISCARD_LIMIT = 64 * 1024 * 1024  # bytes of a refused body that are read, so that its sender can read why
SLOWEST = 32 * 1024  # bytes in a second: a long upload may take its time, as long as it comes
LINGER = 5.0  # seconds in which the sender of something that is no whole request can read why it was refused
SWEEP_INTERVAL = 1.0
OTHER_FILES = 200  # that a process has open besides its connections


class Phase(Enum):
    HEAD = auto()
    BODY = auto()
    ANSWERING = auto()
    DISCARDING = auto()


@dataclass
class Connections:
    """All of a server, and how many there may be; 0 is no limit."""

    head_limit: int = 64 * 1024
    head_timeout: float = 20.0
    body_timeout: float = 60.0
    most: int = 2000
    most_per_address: int = 100
    clock: Callable[[], float] = time.monotonic
    open: set["BoundedProtocol"] = field(default_factory=set)
    by_address: Counter[str] = field(default_factory=Counter)

    def admit(self, connection: "BoundedProtocol") -> str | None:
        """None, or why there may not be one more."""
        network = network_of(connection.client[0]) if connection.client else ""
        # A proxy on this machine connects for all clients.
        counts = self.most_per_address and network and connection.client and not is_loopback(connection.client[0])
        if self.most and len(self.open) >= self.most:
            return "too many connections"
        if counts and self.by_address[network] >= self.most_per_address:
            return "too many connections from this address"
        self.open.add(connection)
        self.by_address[network] += 1
        return None

    def forget(self, connection: "BoundedProtocol") -> None:
        if connection in self.open:
            self.open.remove(connection)
            network = network_of(connection.client[0]) if connection.client else ""
            self.by_address[network] -= 1
            if not self.by_address[network]:
                del self.by_address[network]

    def sweep(self) -> None:
        now = self.clock()
        for connection in [one for one in self.open if one.deadline is not None and one.deadline <= now]:
            connection.time_out()

    @contextlib.asynccontextmanager
    async def sweeping(self) -> AsyncIterator[None]:
        async def sweep_forever() -> None:
            while True:
                await asyncio.sleep(SWEEP_INTERVAL)
                self.sweep()

        sweeping = asyncio.create_task(sweep_forever())
        try:
            yield
        finally:
            sweeping.cancel()


class BoundedProtocol(HttpToolsProtocol):
    """One connection. Subclasses say whose it is."""

    all: Connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.phase = Phase.HEAD
        self.deadline: float | None = self.all.clock() + self.all.head_timeout
        self._head_bytes = 0  # of the request that is being read
        self._raw_bytes = 0  # of its body, with what frames its chunks
        self._body_bytes = 0
        self._body_deadline = 0.0  # of a body that does not come
        self._discarded = 0
        if (refused := self.all.admit(self)) is not None:
            self.refuse(503, "too_many_connections", refused, retry=True)

    def connection_lost(self, exc: Exception | None) -> None:
        self.deadline = None
        self.all.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        match self.phase:
            case Phase.DISCARDING:
                self._discard(len(data))
                return
            case Phase.HEAD:
                if self._head_bytes == 0:
                    self.deadline = self.all.clock() + self.all.head_timeout
                self._head_bytes += len(data)
            case Phase.ANSWERING:  # the head of the next request
                self._head_bytes += len(data)
            case Phase.BODY:
                self._raw_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._head_bytes > self.all.head_limit:
            if self.phase is Phase.ANSWERING:
                self._close_connections_last()
                return
            self.refuse(431, "headers_too_large", f"a request has at most {self.all.head_limit:,} bytes before its body")
        elif self.phase is Phase.BODY and self._raw_bytes - 8 * self._body_bytes > 2 * 256 * 1024 + self.all.head_limit:
            self.refuse(400, "malformed_request", "the chunks of the body are mostly framing")

    def on_headers_complete(self) -> None:
        self.phase, self._head_bytes, self._raw_bytes, self._body_bytes = Phase.BODY, 0, 0, 0
        self.deadline = self._body_deadline = self.all.clock() + self.all.body_timeout
        super().on_headers_complete()
        if any(name in (b"content-length", b"transfer-encoding") for name, _ in self.headers):
            self.cycle.transport = _LingeringTransport(self)  # type: ignore[assignment]

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self.cycle.response_complete:
            self._discard(len(body))
        elif self.phase is Phase.BODY:
            earned = self._body_deadline + self._body_bytes / SLOWEST
            self.deadline = max(self._body_deadline, min(earned, self.all.clock() + self.all.body_timeout))
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self.cycle.response_complete:
            self.phase, self.deadline = Phase.HEAD, self.all.clock() + self.timeout_keep_alive
        else:
            self.phase, self.deadline = Phase.ANSWERING, None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self.phase is Phase.ANSWERING:
            self.phase = Phase.HEAD
            self.deadline = self.all.clock() + self.all.head_timeout if self._head_bytes else None
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """What is not HTTP is refused before there is a request, and in the same form as all else."""
        self.refuse(400, "malformed_request", msg)

    def time_out(self) -> None:
        """The deadline of the phase is over."""
        is_started = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if self.phase is Phase.DISCARDING or is_started or (self.phase is Phase.HEAD and self._head_bytes == 0):
            self._close_connections_last()
        else:
            what = "the head" if self.phase is Phase.HEAD else "the body"
            self.refuse(408, "request_timeout", f"{what} of the request did not come in time")

    def refuse(self, status: int, code: str, detail: str, *, retry: bool = False) -> None:
        """Answer without the application, and hang up."""
        body = problems.without_request(status, code, detail)
        title = problems.title_of(status)
        head = f"HTTP/1.1 {status} {title}\r\ncontent-type: {problems.MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
        head += f"retry-after: {problems.RETRY_AFTER}\r\n" if retry else ""
        self.transport.write(
            f"{head}cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n".encode() + body
        )
        self._forget_request()
        if self in self.all.open:
            self.linger(LINGER)
        else:
            self.transport.close()  # no deadline watches over it

    def linger(self, seconds: float) -> None:
        """Send what is written and then nothing more, but read on: a sender who is cut off cannot read the answer."""
        if self.transport.is_closing():
            return
        self.phase, self.deadline = Phase.DISCARDING, self.all.clock() + seconds
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()

    def close_after_answer(self) -> None:
        """As the server wants to close: at once, unless the request is still being sent."""
        if self.phase is Phase.BODY:
            self.linger(self.all.body_timeout)
        else:
            self.transport.close()

    def shutdown(self) -> None:
        if self.phase is Phase.DISCARDING:
            self.transport.close()
        else:
            super().shutdown()

    def _discard(self, size: int) -> None:
        self._discarded += size
        if self._discarded > DISCARD_LIMIT:
            self._close_connections_last()

    def _close_connections_last(self) -> None:
        self._forget_request()
        self.deadline = None
        self.transport.abort()

    def _forget_request(self) -> None:
        """The application hears that the caller is gone, and what it answers is not sent."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.body.clear()
            self.cycle.message_event.set()
        self.pipeline.clear()


class _LingeringTransport:
    """For the answer to a request with a body."""

    def __init__(self, connection: BoundedProtocol) -> None:
        self._connection = connection

    def close(self) -> None:
        self._connection.close_after_answer()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection.transport, name)


def connections_possible(wanted: int, reserved: int = 0) -> int:
    """As many as wanted, but some open files are left for everything else, `reserved` ones among them."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        wanted
        if files == resource.RLIM_INFINITY or not wanted
        else min(wanted, max(OTHER_FILES, files - OTHER_FILES - reserved))
    )


def protocol_of(connections: Connections) -> type[BoundedProtocol]:
    return type("Protocol", (BoundedProtocol,), {"all": connections})
