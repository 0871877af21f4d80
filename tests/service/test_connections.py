"""What a stranger can do to a connection: endless heads, bodies that never come, many at once. It costs little, and is told."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast

import uvicorn
from uvicorn.server import ServerState

from pressroom.api import connections as module
from pressroom.api.connections import BoundedProtocol, Connections, protocol_of

type App = Callable[[Any, Any, Any], Awaitable[None]]
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while True:
            if condition():
                return
            await asyncio.sleep(0.001)


@dataclass
class Server:
    connections: Connections
    port: int
    now: list[float]
    received: list[Any] = field(default_factory=list)

    def later(self, seconds: float) -> None:
        self.now[0] += seconds
        self.connections.sweep()

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def until(self, condition: Callable[[BoundedProtocol], bool]) -> BoundedProtocol:
        """Until the only connection is so."""
        await until(lambda: len(self.connections.open) == 1 and condition(next(iter(self.connections.open))))
        return next(iter(self.connections.open))


@asynccontextmanager
async def serving(app: App | None = None, **limits: Any) -> AsyncIterator[Server]:
    now = [1000.0]
    server = Server(Connections(clock=lambda: now[0], **limits), 0, now)

    async def read_and_answer(_: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            server.received.append(message)
            more = message.get("more_body", False)
        await answer(send)

    protocol = protocol_of(server.connections)
    config = uvicorn.Config(app or read_and_answer, http=protocol, lifespan="off", log_config=None, access_log=False)
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for connection in list(server.connections.open):
            connection.transport.abort()
        await asyncio.gather(*state.tasks, return_exceptions=True)


async def answer(send: Any, status: int = 200, *headers: tuple[bytes, bytes]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"2"), *headers]})
    await send({"type": "http.response.body", "body": b"ok"})


async def all_of(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(60):
        return await reader.read()


def problem_of(response: bytes) -> tuple[int, str]:
    head, _, body = response.partition(b"\r\n\r\n")
    told = json.loads(body)
    assert told["status"] == int(head.split()[1])
    assert b"connection: close" in head
    return told["status"], told["code"]


async def test_an_ordinary_request_is_answered_and_another_follows() -> None:
    async with serving() as server:
        reader, writer = await server.open()
        for _ in range(3):
            writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc")
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        connection = await server.until(lambda one: one.deadline is None)
        writer.close()

    assert connection.phase is module.Phase.HEAD


async def test_a_head_without_an_end_is_refused_at_64_kb() -> None:
    async with serving() as server:
        reader, writer = await server.open()
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        writer.write(b"X: %s\r\n" % (b"y" * 1000) * 100)
        response = await all_of(reader)
        connection = await server.until(lambda one: one.phase is module.Phase.DISCARDING)
        for _ in range(10):  # what comes after that is not kept
            writer.write(b"X: y\r\n" * 100_000)
            await writer.drain()
        kept = len(connection.headers)
        writer.close()

    assert problem_of(response) == (431, "headers_too_large")
    assert kept <= 400


async def test_the_head_of_the_next_request_is_bounded_too() -> None:
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_: Any, receive: Any, send: Any) -> None:
        waiting.set()
        await go_on.wait()
        await answer(send)

    async with serving(slow) as server:
        reader, writer = await server.open()
        writer.write(GET)
        await waiting.wait()
        writer.write(b"GET / HTTP/1.1\r\n" + b"X: %s\r\n" % (b"y" * 1000) * 400)
        with suppress(ConnectionResetError):
            assert await all_of(reader) == b""
        go_on.set()
        writer.close()


async def test_a_head_that_does_not_come_in_time_is_given_up() -> None:
    async with serving() as server:
        reader, writer = await server.open()
        writer.write(b"GET / HTTP/1.1\r\n")
        await server.until(lambda one: one._head_bytes > 0)
        server.later(19)
        assert len(server.connections.open) == 1

        server.later(2)

        assert problem_of(await all_of(reader)) == (408, "request_timeout")
        writer.close()


async def test_a_connection_on_which_nothing_comes_is_closed() -> None:
    async with serving() as server:
        reader, writer = await server.open()
        await server.until(lambda one: True)
        server.later(21)

        assert await all_of(reader) == b""
        writer.close()


async def test_a_body_that_does_not_come_in_time_is_given_up() -> None:
    async with serving() as server:
        reader, writer = await server.open()
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc")
        await server.until(lambda one: one.phase is module.Phase.BODY and bool(server.received))
        server.later(59)
        writer.write(b"d")  # some of it now and then does not help
        server.later(2)

        assert problem_of(await all_of(reader)) == (408, "request_timeout")
        writer.close()
        await until(lambda: server.received[-1]["type"] == "http.disconnect")


async def test_a_long_body_may_take_its_time_while_it_comes() -> None:
    """An archive of 500 MB does not come within a minute. A second for each 32 KB, and never a minute without any."""
    megabytes = bytes(2 * 1024 * 1024)
    async with serving() as server:
        reader, writer = await server.open()
        writer.write(b"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n" + megabytes)
        await writer.drain()
        connection = await server.until(lambda one: one._body_bytes == len(megabytes))
        server.later(59)
        writer.write(b"x")
        await writer.drain()
        await server.until(lambda one: one._body_bytes == len(megabytes) + 1)
        server.later(59)
        assert not connection.transport.is_closing()
        writer.write(b"x")
        await writer.drain()
        await server.until(lambda one: one._body_bytes == len(megabytes) + 2)
        server.later(5)
        assert not connection.transport.is_closing()
        server.later(3)  # 60 + 64 for what came

        assert problem_of(await all_of(reader)) == (408, "request_timeout")
        writer.close()


async def test_a_body_that_stops_coming_is_given_up_however_much_came() -> None:
    async with serving() as server:
        reader, writer = await server.open()
        writer.write(b"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n" + bytes(8 * 1024 * 1024))
        await writer.drain()
        connection = await server.until(lambda one: one._body_bytes == 8 * 1024 * 1024)
        server.later(59)
        assert not connection.transport.is_closing()
        server.later(2)

        assert problem_of(await all_of(reader)) == (408, "request_timeout")
        writer.close()


async def test_an_answer_may_take_longer_than_any_deadline() -> None:
    go_on = asyncio.Event()

    async def slow(_: Any, receive: Any, send: Any) -> None:
        await go_on.wait()
        await answer(send)

    async with serving(slow) as server:
        reader, writer = await server.open()
        writer.write(GET)
        await server.until(lambda one: one.phase is module.Phase.ANSWERING)
        server.later(3600)
        go_on.set()

        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.close()


async def refuse_unread(_: Any, receive: Any, send: Any) -> None:
    await answer(send, 413)


async def test_who_still_sends_a_refused_body_can_read_the_answer() -> None:
    async with serving(refuse_unread) as server:
        reader, writer = await server.open()
        size = 20_000_000
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(20):
            writer.write(b"x" * (size // 20))
            await writer.drain()

        assert (await all_of(reader)).startswith(b"HTTP/1.1 413")
        writer.close()


async def test_a_refused_body_is_read_up_to_a_bound(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "DISCARD_LIMIT", 1_000_000)
    for close in (b"Connection: close\r\n", b""):
        async with serving(refuse_unread) as server:
            reader, writer = await server.open()
            writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 99999999999\r\n\r\n" % close)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 413")
            try:
                async with asyncio.timeout(60):
                    while True:
                        writer.write(b"x" * 100_000)
                        await writer.drain()
                        await asyncio.sleep(0)
            except ConnectionError:
                pass
            assert not server.connections.open
            writer.close()


async def test_after_a_refused_body_the_connection_serves_the_next_request() -> None:
    async with serving(refuse_unread) as server:
        reader, writer = await server.open()
        for _ in range(2):
            writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 413")
        await server.until(lambda one: one.phase is module.Phase.HEAD and one.deadline is not None)
        server.later(100)

        assert await all_of(reader) == b""
        writer.close()


async def test_a_body_of_framing_or_trailers_is_refused() -> None:
    async with serving() as server:
        reader, writer = await server.open()
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n")
        for _ in range(12):
            writer.write(b"X: y\r\n" * 20_000)
            await writer.drain()

        assert problem_of(await all_of(reader)) == (400, "malformed_request")
        writer.close()


async def test_more_connections_than_the_cap_are_told_so() -> None:
    async with serving(most=2) as server:
        held = [await server.open() for _ in range(2)]
        for reader, writer in held:
            writer.write(GET)
            await reader.readuntil(b"ok")
        reader, writer = await server.open()
        assert problem_of(await all_of(reader)) == (503, "too_many_connections")
        writer.close()

        held[0][1].close()
        await server.until(lambda one: True)
        reader, writer = await server.open()
        writer.write(GET)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.close()
        held[1][1].close()


def test_there_are_never_more_connections_than_open_files(monkeypatch: Any) -> None:
    monkeypatch.setattr(module.resource, "getrlimit", lambda _: (1024, 4096))

    assert module.connections_possible(2000) == 824
    assert module.connections_possible(50) == 50
    assert module.connections_possible(0) == 0


@dataclass(eq=False)
class Peer:
    client: tuple[str, int]


def test_one_address_has_only_a_share_and_the_loopback_is_not_counted() -> None:
    connections = Connections(most=100, most_per_address=2)

    def connect(address: str) -> tuple[BoundedProtocol, str | None]:
        one = cast(BoundedProtocol, Peer((address, 1)))
        return one, connections.admit(one)

    opened = [connect(f"2001:db8::{number}") for number in range(3)]
    assert [refused is None for _, refused in opened] == [True, True, False]
    assert connect("2001:db8:0:1::1")[1] is None
    assert all(connect("127.0.0.1")[1] is None for _ in range(10))
    connections.forget(opened[2][0])  # it was never counted
    assert connect("2001:db8::4")[1] is not None
    connections.forget(opened[0][0])
    assert connect("2001:db8::5")[1] is None
