"""Documentation: what it costs to serve a page of a site."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import http_servers
from bench.figure import Figure, say
from bench.http import BYTES, PICTURE
from bench.http_load import Ask, rate
from bench.http_servers import Server
from tests.apps.docs.edge_stage import edge_stage


@dataclass(frozen=True)
class DocsSizes:
    rounds: int
    seconds: float  # that one side of a round takes


FULL = DocsSizes(rounds=5, seconds=3)
QUICK = DocsSizes(rounds=2, seconds=2)


def pages(folder: Path, sizes: DocsSizes) -> Iterator[Figure]:
    """In processor time, as other work on the machine does not count in it."""
    page = (b"<!doctype html><title>A page</title>" + os.urandom(PICTURE).hex().encode())[:PICTURE]
    home = folder / "docs"
    home.mkdir()
    asyncio.run(_fill(home, page))
    with http_servers.edge(folder, home) as ours, http_servers.bare(folder, page) as bare:
        sides = [(ours, f"{ours.url}/acme/guide/page.html"), (bare, f"{bare.url}/picture/")]
        found: list[list[float]] = [[], []]
        for number in range(sizes.rounds):
            for side, (server, url) in enumerate(sides):
                found[side].append(_answers_per_second_of_cpu(server, url, sizes.seconds, folder))
            say(f"docs: round {number + 1} of {sizes.rounds}")
        mine, other = (median(rates) for rates in found)
    yield Figure(f"GET of a page of {PICTURE // 1000} KB", mine, other, "answers/s of CPU", BYTES, aim=">= 0.6")


def _answers_per_second_of_cpu(server: Server, url: str, seconds: float, folder: Path) -> float:
    before = server.cpu_seconds()
    answered = rate(Ask("GET", url), seconds, folder) * seconds
    return answered / (server.cpu_seconds() - before)


async def _fill(home: Path, page: bytes) -> None:
    async with edge_stage(f"sqlite:///{home / 'pressroom.db'}", artifacts=str(home / "pressroom.artifacts")) as stage:
        await stage.add_project()
        await stage.publish({"page.html": page, "index.html": b"<title>Home</title>"})
