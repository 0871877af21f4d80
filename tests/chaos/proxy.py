"""A TCP proxy that breaks connections on purpose: on an event loop and a thread of its own, told what to do from outside.

    with Proxy(5432) as proxy:          # listens at proxy.port
        proxy.refuse()                  # nobody listens, and whoever was connected is reset
        proxy.mend()

Each fault but `reset` and `cut` lasts until another takes its place or `mend`.
"""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Protocol, Self

CHUNK = 65_536
_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: close with RST


class Weather(Enum):
    FAIR = "fair"
    REFUSE = "refuse"
    STALL = "stall"  # connections open, and not a byte passes
    HALF_OPEN = "half open"  # what clients say arrives, what the server says does not


class Watch(Protocol):
    """Reads along what one client sends, from its first byte."""

    def sees(self, piece: bytes) -> bool:
        """Whether what it watches for ends in this piece."""
        ...


class Words:
    """Watches for some bytes, however they are cut into pieces."""

    def __init__(self, words: bytes) -> None:
        self._words = words
        self._tail = b""

    def sees(self, piece: bytes) -> bool:
        text = self._tail + piece
        self._tail = text[1 - len(self._words) :] if len(self._words) > 1 else b""
        return self._words in text


_ANYTHING = partial(Words, b"")


@dataclass(eq=False)
class _Connection:
    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    watch: Watch | None
    until: Watch | None = None  # what the server has to say before its client is cut off; nothing of it is passed on


class Proxy:
    """`watch` makes a reader for each connection; `cut` is what happens when one has seen what it watches for.

    `until` makes one for the server's answer: when it has seen what it watches for, the server has surely acted.
    """

    def __init__(self, upstream: int, watch: Callable[[], Watch] | None = None, until: Callable[[], Watch] = _ANYTHING) -> None:
        self.seen = 0
        self.cuts = 0
        self._upstream = upstream
        self._watch = watch
        self._until = until
        self._cuts_left = 0
        self._delivered = True
        self._latency = 0.0
        self._weather = Weather.FAIR
        self._fair = asyncio.Event()
        self._connections: set[_Connection] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.port = 0
        self._do(self._listen())
        self._fair.set()
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def mend(self) -> None:
        """As if nothing had been. Connections that stalled go on."""
        self._latency = 0.0
        self._cuts_left = 0
        self._do(self._change(Weather.FAIR))

    def delay(self, seconds: float) -> None:
        """Each piece takes so much longer, in either direction."""
        self._latency = seconds

    def refuse(self) -> None:
        self._do(self._change(Weather.REFUSE))

    def stall(self) -> None:
        self._do(self._change(Weather.STALL))

    def half_open(self) -> None:
        self._do(self._change(Weather.HALF_OPEN))

    def reset(self) -> None:
        """Reset whoever is connected. They may come again."""
        self._do(self._reset_all())

    def cut(self, times: int = 1, *, delivered: bool = True) -> None:
        """Cut connections when their client has said what is watched for. If it is `delivered`, the server hears it and acts,
        and only its answer is lost."""
        self._delivered = delivered
        self._cuts_left = times

    def _do(self, doing: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(doing, self._loop).result(120)

    async def _listen(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=100)
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]
        self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        """A callback: asyncio's server, and a cancelled `sock_accept`, leave a connection open that comes while they end."""
        with suppress(BlockingIOError, ConnectionAbortedError):
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            serving = asyncio.create_task(self._serve(connection))
            self._serving.add(serving)
            serving.add_done_callback(self._serving.discard)

    async def _be_gone(self) -> None:
        if self._listener.fileno() >= 0:
            self._loop.remove_reader(self._listener)
            self._listener.close()

    async def _change(self, weather: Weather) -> None:
        before, self._weather = self._weather, weather
        (self._fair.clear if weather is Weather.STALL else self._fair.set)()
        if weather is Weather.REFUSE:
            await self._be_gone()
            await self._reset_all()
        elif before is Weather.REFUSE:
            await self._listen()

    async def _reset_all(self) -> None:
        for connection in self._connections:
            _reset(connection.client)
            _reset(connection.server)

    async def _end(self) -> None:
        await self._be_gone()
        await self._reset_all()
        self._fair.set()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await asyncio.sleep(0)  # transports close in the next round

    async def _serve(self, accepted: socket.socket) -> None:
        reader, client = await asyncio.open_connection(sock=accepted, limit=CHUNK)
        try:
            answers, server = await asyncio.open_connection("127.0.0.1", self._upstream, limit=CHUNK)
        except OSError:
            _reset(client)
            return
        connection = _Connection(client, server, self._watch() if self._watch is not None else None)
        self._connections.add(connection)
        try:
            await asyncio.gather(self._up(reader, connection), self._down(answers, connection))
        except (OSError, EOFError):
            pass
        finally:
            self._connections.discard(connection)
            client.close()
            server.close()

    async def _up(self, reader: asyncio.StreamReader, connection: _Connection) -> None:
        while piece := await reader.read(CHUNK):
            await self._pass_time()
            if self._is_to_be_cut(piece, connection):
                if not self._delivered:
                    _reset(connection.client)
                    break
                connection.until = self._until()
            connection.server.write(piece)
            await connection.server.drain()
        with suppress(OSError):
            connection.server.write_eof()

    async def _down(self, answers: asyncio.StreamReader, connection: _Connection) -> None:
        while piece := await answers.read(CHUNK):
            await self._pass_time()
            if connection.until is not None:
                if connection.until.sees(piece):
                    _reset(connection.client)
            elif self._weather is not Weather.HALF_OPEN:
                connection.client.write(piece)
                await connection.client.drain()
        raise EOFError

    async def _pass_time(self) -> None:
        if self._latency:
            await asyncio.sleep(self._latency)
        await self._fair.wait()

    def _is_to_be_cut(self, piece: bytes, connection: _Connection) -> bool:
        if connection.watch is None or not connection.watch.sees(piece):
            return False
        self.seen += 1
        if not self._cuts_left:
            return False
        self._cuts_left -= 1
        self.cuts += 1
        return True


def _reset(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    writer.transport.abort()
