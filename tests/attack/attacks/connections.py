"""Attacks on connections: endless heads, requests that never end, too many at once, clients that do not read."""

import asyncio
import contextlib
import json
import urllib.error
import urllib.request

from tests.attack.http_client import FORM_HEADERS, SHORT, read_answer
from tests.attack.measure import Attacker
from tests.attack.registry import ANONYMOUS, SUBMITTER, VIEWER, Attacks

MB = 1024 * 1024
MANY_ADDRESS = "127.0.0.9"  # so that the cap of connections from one address is not that of the other attacks

attacks = Attacks()


@attacks.add("headers-200-mb", ANONYMOUS)
async def send_200_mb_of_headers(attacker: Attacker) -> None:
    """200 MB of headers on one connection: 431, and most of them are never read."""
    head = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
    lines = b"X-A: %s\r\n" % (b"y" * 1000)
    answer = await attacker.http.exchange(head, *([lines * 1000] * 200))
    attacker.expect(answer, 431)


@attacks.add("headers-many-small", ANONYMOUS)
async def send_many_small_headers(attacker: Attacker) -> None:
    """12,000 headers of four bytes, all at once and one by one: 431."""
    for parts in ([b"a: b\r\n" * 12_000], [b"a: b\r\n"] * 12_000):
        answer = await attacker.http.exchange(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n", *parts, b"\r\n")
        attacker.expect(answer, 431)


@attacks.add("header-without-end", ANONYMOUS)
async def send_header_without_end(attacker: Attacker) -> None:
    """One header line of 20 MB, and a request line of 20 MB: 431 or 400."""
    for head in (b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ", b"GET /"):
        answer = await attacker.http.exchange(head, *([b"y" * MB] * 20))
        attacker.expect(answer, 400, 431, 414)


@attacks.add("half-sent-heads", ANONYMOUS)
async def half_sent_heads(attacker: Attacker) -> None:
    """50 connections that send half a head: 408 by the deadline, and closed."""

    async def send_half() -> None:
        answer = await attacker.http.exchange(b"GET /livez HTTP/1.1\r\nHost: local", within=SHORT * 2)
        attacker.expect(answer, 408)

    await asyncio.gather(*(send_half() for _ in range(50)))


@attacks.add("slow-heads", ANONYMOUS)
async def slow_heads(attacker: Attacker) -> None:
    """20 connections that send a byte of their head every half second: 408 by the deadline all the same."""

    async def send_slowly() -> None:
        async with asyncio.timeout(SHORT * 2), attacker.http.connect() as (reader, writer):
            reading = asyncio.create_task(read_answer(reader))
            with contextlib.suppress(OSError):
                for letter in b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: 0123456789":
                    writer.write(bytes([letter]))
                    await writer.drain()
                    if reading in (await asyncio.wait({reading}, timeout=0.5))[0]:
                        break
            attacker.expect(await reading, 408)

    await asyncio.gather(*(send_slowly() for _ in range(20)))


@attacks.add("idle-connections", ANONYMOUS)
async def idle_connections(attacker: Attacker) -> None:
    """50 connections that send nothing, and 20 that send nothing after one request: closed by the deadline."""

    async def wait_closed(first: bytes) -> None:
        async with asyncio.timeout(SHORT * 2), attacker.http.connect() as (reader, writer):
            writer.write(first)
            await reader.read()

    request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    await asyncio.gather(*(wait_closed(b"") for _ in range(50)), *(wait_closed(request) for _ in range(20)))


@attacks.add("half-sent-login-bodies", ANONYMOUS)
async def half_sent_login_bodies(attacker: Attacker) -> None:
    """20 bodies of 12 MB for the login, of which one byte is missing: 413 at once."""
    await _half_sent_bodies(attacker, "/desk/login", FORM_HEADERS, None, 413)


@attacks.add("half-sent-job-bodies", ANONYMOUS)
async def half_sent_job_bodies(attacker: Attacker) -> None:
    """20 bodies of 12 MB for POST /jobs without a token, of which one byte is missing: 401 before they are read."""
    await _half_sent_bodies(attacker, "/jobs", {"Content-Type": "application/json"}, None, 401)


@attacks.add("half-sent-small-bodies", SUBMITTER)
async def half_sent_small_bodies(attacker: Attacker) -> None:
    """40 short bodies that never end: 408 by the deadline."""

    async def send_half() -> None:
        head = attacker.http.head("POST", "/jobs", token=attacker.token("submitter"), length=1000)
        attacker.expect(await attacker.http.exchange(head, b'{"kind": ', within=SHORT * 2), 408)

    await asyncio.gather(*(send_half() for _ in range(40)))


async def _half_sent_bodies(attacker: Attacker, path: str, headers: dict[str, str], token: str | None, status: int) -> None:
    async def send_half() -> None:
        head = attacker.http.head("POST", path, token=token, headers=headers, length=12 * MB)
        attacker.expect(await attacker.http.exchange(head, *([b"x" * MB] * 11), b"x" * (MB - 1), within=SHORT * 3), status)

    await asyncio.gather(*(send_half() for _ in range(20)))


@attacks.add("too-many-connections", ANONYMOUS)
async def too_many_connections(attacker: Attacker) -> None:
    """150 connections from one address: those past the cap get 503, and a caller at another address is served."""
    request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    async with contextlib.AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(attacker.http.connect(MANY_ADDRESS)) for _ in range(150)]
        await asyncio.sleep(0.5)
        attacker.expect(await attacker.http.exchange(request, source=MANY_ADDRESS), 503, what="one more")
        attacker.expect(await attacker.http.exchange(request), 200, what="another address")
        attacker.check(len(opened) == 150, "not all connections were made")


@attacks.add("connect-and-reset", ANONYMOUS)
async def connect_and_reset(attacker: Attacker) -> None:
    """2,000 connections that are reset at once, 50 at a time: none is left behind."""
    for _ in range(40):
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(50):
                await stack.enter_async_context(attacker.http.connect(MANY_ADDRESS))
    await asyncio.sleep(0.5)
    attacker.expect(await attacker.http.request("GET", "/livez", source=MANY_ADDRESS), 200)


@attacks.add("body-over-limit-urllib", ANONYMOUS)
async def body_over_limit(attacker: Attacker) -> None:
    """13 MB for the login, sent by urllib, which sends all before it reads: it sees 413 and no reset."""

    def post() -> tuple[int, str]:
        address = f"http://127.0.0.1:{attacker.http.port}/desk/login"
        request = urllib.request.Request(address, data=b"x" * 13 * MB, headers=FORM_HEADERS, method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return answer.status, ""
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode(errors="replace")
        except OSError as reason:
            return 0, repr(reason)

    status, text = await asyncio.to_thread(post)
    attacker.check(status == 413, f"urllib saw {status} {text[:200]}")


@attacks.add("pipelined-requests", ANONYMOUS)
async def pipelined_requests(attacker: Attacker) -> None:
    """5,000 requests on one connection without reading an answer: bounded, or all of them answered."""
    one = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with asyncio.timeout(60), attacker.http.connect() as (reader, writer):
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(10):
                for _ in range(50):
                    writer.write(one * 100)
                    await writer.drain()
        answered = b""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(5):
                while chunk := await reader.read(MB):
                    answered += chunk
        attacker.check(b"HTTP/1.1 200" in answered, "the first request was not answered")


@attacks.add("aborted-bodies", SUBMITTER)
async def aborted_bodies(attacker: Attacker) -> None:
    """30 bodies whose sender goes away in the middle: no error in the log."""
    for path in ("/jobs", "/render", "/wiki/Home", "/playground/preview", "/desk/login", "/kroki/graphviz/svg"):
        for headers in ({"Content-Type": "application/json"}, FORM_HEADERS, {"Content-Type": "text/plain"}):
            async with attacker.http.connect() as (_, writer):
                length = 60_000
                writer.write(
                    attacker.http.head("POST", path, token=attacker.token("submitter"), headers=headers, length=length)
                )
                writer.write(b"x" * 1000)
                await writer.drain()
                await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)


@attacks.add("slow-readers", VIEWER)
async def slow_readers(attacker: Attacker) -> None:
    """30 clients that ask for a large artifact and read nothing: it is not held in memory for each of them."""
    uid = await _large_artifact(attacker)
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(30):
            _, writer = await stack.enter_async_context(attacker.http.connect())
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(attacker.http.head("GET", f"/artifacts/{uid}", token=attacker.token("viewer")))
            await writer.drain()
        await asyncio.sleep(2)
        held = attacker.service.memory()
        answer = await attacker.http.request("GET", f"/artifacts/{uid}", token=attacker.token("viewer"))
        attacker.expect(answer, 200)
        size = len(answer.body) / MB
        attacker.check(size > 2, f"the artifact has only {size:.1f} MB")
        attacker.check(held < 1000, f"{held:.0f} MB are held for those who do not read")


async def _large_artifact(attacker: Attacker) -> str:
    """The id of a page of about three MB."""
    payload = {"language": "markdown", "output": "html", "source": "**a** " * 150_000}
    job = attacker.expect(await attacker.http.submit(attacker.token("submitter"), {"kind": "render", "payload": payload}), 202)
    for _ in range(3):
        path = f"/jobs/{job.json()['id']}?wait=30"
        shown = json.loads((await attacker.http.request("GET", path, token=attacker.token("viewer"))).body)
        if shown["status"] == "completed":
            return str(shown["result"]["artifact"])
    raise RuntimeError(f"the artifact was not made: {shown}")


@attacks.add("many-event-streams", VIEWER)
async def many_event_streams(attacker: Attacker) -> None:
    """60 event streams that nobody reads, while jobs are submitted: they cost little, and end with their connection."""
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(60):
            _, writer = await stack.enter_async_context(attacker.http.connect())
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(attacker.http.head("GET", "/events", token=attacker.token("viewer")))
            await writer.drain()
        for number in range(20):
            body = {"source": f"digraph {{ stream -> n{number} }}", "format": "dot"}
            attacker.expect(await attacker.http.submit(attacker.token("submitter"), body, "/render?mode=sync"), 200)
