"""The pages of the desk with a million jobs behind them, beside the same pages with two thousand.

Two thousand and not none, so that each list is as long: what differs is how much there is to look through. Both services are
asked in turns, by this process, over a connection that stays open. Their clocks are set back to when the rows were made.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from bench import http_servers, web_fill
from bench.figure import Figure, quantile, say
from bench.http_servers import Server
from bench.web_fill import Filled
from bench.web_pages import pages
from tests.servers import free_ports

MOST_MS = 300.0
MOST_TIMES = 3.0
WARMING = 2
PATIENCE = 10.0  # seconds for one page; one that is slow is asked less often
LEAST = 3


@dataclass(frozen=True)
class WebSizes:
    jobs: int
    few: int
    asks: int  # of each page


FULL = WebSizes(jobs=1_000_000, few=2_000, asks=20)
QUICK = WebSizes(jobs=20_000, few=2_000, asks=5)


@dataclass(frozen=True)
class Side:
    line: HTTPConnection
    path: str

    def ask(self) -> tuple[int, float]:
        """The status, and the milliseconds until the last byte was there."""
        started = time.perf_counter()
        self.line.request("GET", self.path)
        answer = self.line.getresponse()
        answer.read()
        return answer.status, (time.perf_counter() - started) * 1000


def on_sqlite(folder: Path, sizes: WebSizes) -> Iterator[Figure]:
    few, many = web_fill.sqlite(sizes.few), web_fill.sqlite(sizes.jobs)
    yield from _compared("SQLite", folder, few, many, sizes)


def on_postgres(folder: Path, sizes: WebSizes) -> Iterator[Figure]:
    with web_fill.on_postgres(sizes.few, sizes.jobs) as (few, many):
        yield from _compared("PostgreSQL", folder, few, many, sizes)


def _compared(backend: str, folder: Path, few: Filled, many: Filled, sizes: WebSizes) -> Iterator[Figure]:
    with ExitStack() as open_:
        lines = []
        for filled in (many, few):
            server = open_.enter_context(_serving(folder, filled))
            lines.append(open_.enter_context(closing(HTTPConnection("127.0.0.1", server.port, timeout=120))))
        missed = 0
        for (name, path), (_, other) in zip(pages(many.rows), pages(few.rows), strict=True):
            figures = [*_page(f"{name} ({backend})", Side(lines[0], path), Side(lines[1], other), sizes)]
            for figure in filter(_misses, figures):
                missed += 1
                say(f"  beyond the aim: {figure.name} {figure.ours:.0f} ms, {figure.ratio:.1f} times")
            yield from figures
    say(f"  {backend}: {missed} figures beyond the aim")


def _page(name: str, many: Side, few: Side, sizes: WebSizes) -> Iterator[Figure]:
    taken: tuple[list[float], list[float]] = ([], [])
    deadline = time.monotonic() + PATIENCE
    for turn in range(WARMING + sizes.asks):
        if turn >= WARMING + LEAST and time.monotonic() > deadline:
            break
        for side, times in zip((many, few), taken, strict=True):
            status, milliseconds = side.ask()
            if status >= 500 or (status == 404 and "not there" not in name):
                say(f"  {side.path} was answered with {status}: {name} is left out")
                return
            if turn >= WARMING:
                times.append(milliseconds)
    against = f"with {sizes.few:,} jobs"
    for part, aim in ((0.5, f"≤ {MOST_TIMES:g} times"), (0.95, f"≤ {MOST_MS:g} ms")):
        ours, other = (quantile(times, part) for times in taken)
        yield Figure(f"{name}, p{part * 100:.0f}", ours, other, "ms", against, aim)


def _misses(figure: Figure) -> bool:
    """The ratio of medians, and the length of the slowest."""
    return figure.ours > MOST_MS if figure.aim.endswith("ms") else figure.ratio > MOST_TIMES


@contextmanager
def _serving(folder: Path, filled: Filled) -> Iterator[Server]:
    (port,) = free_ports(1)
    environ = {
        "PRESSROOM_HOME": str(folder / f"home-{port}"),
        "PRESSROOM_DATABASE": filled.url,
        "PRESSROOM_LISTEN": f"127.0.0.1:{port}",
        "PRESSROOM_RATE_LIMIT": "0",
        "PRESSROOM_RATE_LIMIT_ADDRESS": "0",
        "PRESSROOM_CLOCK_OFFSET": f"{filled.clock_offset:.0f}",
    }
    argv, log = ["-m", "pressroom", "serve", "--no-workers"], folder / f"web-{port}.log"
    with http_servers._running(argv, port, environ, "/readyz", True, log) as server:
        yield server
