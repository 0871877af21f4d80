"""The service over HTTP, beside the least that somebody would write by hand, measured in turns.

Servers are on one core and whoever asks is on the other, so that neither takes the other's time.
"""

import asyncio
import json
import resource
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from bench import engines_cores, engines_mermaid, http_servers
from bench.engines import find_packages, here
from bench.figure import Figure, quantile, say
from bench.http_load import CONNECTIONS, Ask, generator, rate
from bench.http_servers import Server
from bench.job import PAYLOAD_TEXT, noop
from pressroom.renderers import catalogue

ROW = "a bare FastAPI handler, one commit a request"
BYTES = "bare Starlette that returns the bytes"
PICTURE = 20_000  # bytes
DOT = "digraph { source -> press -> document }"


@dataclass(frozen=True)
class HttpSizes:
    rounds: int
    seconds: float  # that one side of a round takes
    diagrams: int  # of the synchronous ones
    streams: int


@dataclass(frozen=True)
class Side:
    server: Server
    ask: Ask


FULL = HttpSizes(rounds=5, seconds=3, diagrams=200, streams=1_000)
QUICK = HttpSizes(rounds=2, seconds=2, diagrams=40, streams=200)


def submits(folder: Path, sizes: HttpSizes) -> Iterator[Figure]:
    """Nobody works on the jobs meanwhile: the bare handler has no workers either."""
    body = f'{{"kind":"{noop.name}","payload":{PAYLOAD_TEXT}}}'
    with http_servers.ours(folder, workers=False) as ours, http_servers.bare(folder) as bare:
        mine, other = (
            Side(ours, Ask("POST", f"{ours.url}/jobs", body)),
            Side(bare, Ask("POST", f"{bare.url}/row", PAYLOAD_TEXT)),
        )
        yield from _compared(f"POST /jobs, {CONNECTIONS} connections", "≥ 1.0", ROW, sizes, folder, mine, other)


def hits(folder: Path, sizes: HttpSizes) -> Iterator[Figure]:
    body = json.dumps({"source": DOT, "format": "dot", "outputType": "svg"})
    with http_servers.ours(folder, workers=True) as ours, http_servers.bare(folder) as bare:
        _post(ours, "/render?mode=sync", body)
        mine, other = Side(ours, Ask("POST", f"{ours.url}/render", body)), Side(bare, Ask("POST", f"{bare.url}/row", body))
        yield from _compared("POST /render, a hit", "≥ 0.5", ROW, sizes, folder, mine, other)


def picture(folder: Path, sizes: HttpSizes) -> Iterator[Figure]:
    with http_servers.ours(folder, workers=True) as ours:
        link, data = _a_picture(ours)
        with http_servers.bare(folder, data) as bare:
            mine, other = Side(ours, Ask("GET", f"{ours.url}{link}")), Side(bare, Ask("GET", f"{bare.url}/picture/"))
            name = f"GET /d/, an SVG of {len(data) / 1000:.0f} KB"
            yield from _compared(name, "≥ 0.6", BYTES, sizes, folder, mine, other)


def sync(folder: Path, sizes: HttpSizes) -> Iterator[Figure]:
    """One after another over one connection; no two sources are the same, so nothing comes from the cache."""
    find_packages()
    if not here("mermaid"):
        return
    engine = catalogue.get_engine("mermaid")
    inside, options = engine(), msgspec.convert({}, engine.Options)
    served, direct = [], []
    with http_servers.ours(folder, workers=True, pinned=False) as ours, closing(HTTPConnection("127.0.0.1", ours.port)) as line:
        for number in range(sizes.diagrams + 10):
            source = _mermaid(number)
            served.append(_seconds(lambda source=source: _render(line, source)))
            direct.append(_seconds(lambda source=source: inside.render(source, "svg", options)))
    inside.close()
    mine, other = (1000 * quantile(taken[10:], 0.5) for taken in (served, direct))  # the first ones warm up
    yield Figure("POST /render?mode=sync, Mermaid p50", mine, other, "ms", "the engine called directly")
    yield Figure("  of that, what is not the engine", mine - other, 10.0, "ms", "the 10 ms that we allow ourselves", "≤ 1")
    if cli := engines_mermaid._mermaid_cli(folder) if here("mermaid-browser") else None:
        cold = 1000 / engines_mermaid._rate_of_cli(cli, [_mermaid(number) for number in range(3)], folder)
        yield Figure("POST /render?mode=sync, Mermaid p50", mine, cold, "ms", "mermaid-cli, started for each")


def streams(folder: Path, sizes: HttpSizes) -> Iterator[Figure]:
    """Everybody listens to everything, and one job is submitted."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with http_servers.ours(folder, workers=False) as ours:
        _post(ours, "/jobs", f'{{"kind":"{noop.name}"}}')
        before = ours.memory()
        during, heard, seconds = asyncio.run(_listen(ours, sizes.streams))
    yield Figure(f"memory, {sizes.streams:,} event streams", during, before, "MiB", "none open")
    each = 1024 * (during - before) / sizes.streams
    yield Figure("  a stream", each, 1024 * before / sizes.streams, "KiB", "the server without them, shared out")
    yield Figure(
        "event streams that heard of a job",
        heard,
        sizes.streams,
        "streams",
        f"those open; the last after {seconds * 1000:.0f} ms",
        "1",
    )


async def _listen(server: Server, count: int) -> tuple[float, int, float]:
    """The memory while all are open, how many heard of the job, and the seconds until the last one did."""
    readers = []
    writers = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /events HTTP/1.1\r\nHost: bench\r\n\r\n")
        readers.append(reader)
        writers.append(writer)
    await asyncio.gather(*(reader.readuntil(b"retry: ") for reader in readers))
    during = server.memory()
    started = time.perf_counter()
    await asyncio.to_thread(_post, server, "/jobs", f'{{"kind":"{noop.name}"}}')
    async with asyncio.timeout(60):
        heard = await asyncio.gather(*(reader.readuntil(b"event: queued") for reader in readers), return_exceptions=True)
    seconds = time.perf_counter() - started
    for writer in writers:
        writer.close()
    return during, sum(isinstance(one, bytes) for one in heard), seconds


def _compared(name: str, aim: str, against: str, sizes: HttpSizes, folder: Path, ours: Side, other: Side) -> Iterator[Figure]:
    """By the clock, and by the time that each server was on its core: a busy machine spoils the one, not the other."""
    say(f"  asked by {generator()}")
    sides = (ours, other)
    for side in sides:
        rate(side.ask, 1, folder)  # not what it takes to warm up
    rounds = [[_round(side, sizes.seconds, folder) for side in sides] for _ in range(sizes.rounds)]
    for which, unit in enumerate(("requests/s", "requests/s of its core")):
        mine, others = ([one[side][which] for one in rounds] for side in (0, 1))
        ratios = [one / two for one, two in zip(mine, others, strict=True)]
        spread = f"quartiles {quantile(ratios, 0.25):.2f} to {quantile(ratios, 0.75):.2f}"
        yield Figure(name, median(mine), median(others), unit, f"{against}; {spread}", "" if which else aim)


def _round(side: Side, seconds: float, folder: Path) -> tuple[float, float]:
    pids = [side.server.process.pid]
    started, spent = time.perf_counter(), engines_cores.spent(pids)
    by_the_clock = rate(side.ask, seconds, folder)
    share = (engines_cores.spent(pids) - spent) / (time.perf_counter() - started)
    return by_the_clock, by_the_clock / share


def _a_picture(server: Server) -> tuple[str, bytes]:
    """A picture of about the size, and where it is."""
    nodes = 10
    while True:
        source = "digraph { " + " ".join(f"n{number} -> n{number + 1};" for number in range(nodes)) + " }"
        given = json.loads(_post(server, "/render?format=dot&mode=sync", source, "text/plain"))
        with urllib.request.urlopen(server.url + "/d/" + given["shortlink"]) as answer:
            data = answer.read()
        if len(data) >= PICTURE:
            return f"/d/{given['shortlink']}", data
        nodes += 5


def _mermaid(number: int) -> str:
    return (
        f"flowchart LR\n  A[Source {number}] --> B{{Right?}}\n  B -- yes --> C[Press]\n  B -- no --> A\n  C --> D[Document]\n"
    )


def _post(server: Server, path: str, body: str, media_type: str = "application/json") -> bytes:
    request = urllib.request.Request(server.url + path, body.encode(), {"Content-Type": media_type})
    with urllib.request.urlopen(request) as answer:
        said: bytes = answer.read()
    return said


def _render(line: HTTPConnection, source: str) -> None:
    line.request("POST", "/render?format=mermaid&mode=sync", source.encode(), {"Content-Type": "text/plain"})
    answer = line.getresponse()
    said = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"a render was answered {answer.status}: {said[:500]!r}")


def _seconds(act: Callable[[], Any]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started
