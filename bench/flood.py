"""What somebody who waits notices of ten thousand background jobs in the queue: nothing, if all is well."""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import place
from bench.figure import Figure, quantile
from bench.job import PAYLOAD
from bench.marker import Marker
from bench.sizes import FLOOD, Sizes
from pressroom import Pressroom, Request, Tier, kind

WARM_UP = 20


@kind("slow")
async def slow(job: Any, payload: Any) -> None:
    await asyncio.sleep(0.05)


def interactive(folder: Path, sizes: Sizes) -> Iterator[Figure]:
    path = folder / "flood.db"
    waits: dict[int, list[float]] = {0: [], FLOOD: []}
    for _ in range(sizes.wait_rounds):
        for background, measured in waits.items():
            measured += asyncio.run(_wait(path, sizes.waits, background))
            place.remove(path)
    ours, other = quantile(waits[FLOOD], 0.99) * 1000, quantile(waits[0], 0.99) * 1000
    yield Figure(f"interactive wait p99, {FLOOD:,} in the background", ours, other, "ms", "the same without them", "≤ 1.5")


async def _wait(path: Path, count: int, background: int) -> list[float]:
    marker = Marker(Tier.INTERACTIVE)
    # No grace: what is left of the flood goes back to the queue and is thrown away with it.
    async with Pressroom(f"sqlite:///{path}", kinds=[marker.kind, slow], workers=2, grace=0.0) as press:
        if background:
            await press.submit_many(Request(slow.name, PAYLOAD) for _ in range(background))
        waits = []
        for _ in range(WARM_UP + count):
            await asyncio.sleep(random.uniform(0.005, 0.02))
            waits.append(await marker.wait_for_a_worker(press))
    return waits[WARM_UP:]
