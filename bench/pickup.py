"""How long a job waits for an idle worker, beside the least that durability costs: one commit that waits for the disk."""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

from bench import limit, ours, place
from bench.figure import Figure, quantile
from bench.marker import Marker
from bench.sizes import Sizes
from pressroom import Pressroom, Tier

WARM_UP = 20
AGAINST = "one raw commit of the same row"


def idle(folder: Path, sizes: Sizes) -> Iterator[Figure]:
    path, raw_path = folder / "pickup.db", folder / "commits.db"
    waits, commits = asyncio.run(_take_turns(path, raw_path, sizes.pick_ups))
    place.remove(path)
    place.remove(raw_path)
    for part, aim in ((0.5, "≤ 3"), (0.99, "")):
        wait, commit = quantile(waits, part) * 1000, quantile(commits, part) * 1000
        yield Figure(f"idle pick-up p{part * 100:.0f}", wait, commit, "ms", AGAINST, aim)


async def _take_turns(path: Path, raw_path: Path, count: int) -> tuple[list[float], list[float]]:
    waits: list[float] = []
    commits: list[float] = []
    marker = Marker(Tier.BACKGROUND)
    raw = limit.single_commits(raw_path, WARM_UP + count)
    async with Pressroom(f"sqlite:///{path}", kinds=[marker.kind], workers=2) as press:
        for turn in range(WARM_UP + count):
            await _pause()
            waits.append(await marker.wait_for_a_worker(press))
            await ours.until_settled(press, turn + 1)  # the disk is the raw commit's alone
            await _pause()
            commits.append(next(raw))
    return waits[WARM_UP:], commits[WARM_UP:]


async def _pause() -> None:
    """Long enough for all to fall asleep, and uneven, so that no beat of the worker is always met or always missed."""
    await asyncio.sleep(random.uniform(0.01, 0.03))
