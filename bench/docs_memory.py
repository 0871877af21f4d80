"""How much memory it takes to process a site: `python -m bench.docs_memory HOME ARCHIVE`, a process of its own.

Prints the most MiB that it held itself, and the most that one of the processes was seen to hold which it started.
"""

import asyncio
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

from bench.docs_builds import site_bench
from bench.memory import peak

LOOK_EVERY = 0.05  # seconds


async def _process(home: Path, archive: Path) -> float:
    async with site_bench(home) as bench:
        looking = asyncio.create_task(_watch_children())
        await bench.process(archive)
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
    return max(_seen, default=0.0)


_seen: list[float] = []


async def _watch_children() -> None:
    """Not by getrusage: what it says of a process includes what its parent held when it was started."""
    while True:
        await asyncio.to_thread(_look_at_children)
        await asyncio.sleep(LOOK_EVERY)


def _look_at_children() -> None:
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        with suppress(OSError, ValueError):  # it has ended meanwhile
            _seen.extend(peak(int(pid)) for pid in (task / "children").read_text().split())


if __name__ == "__main__":
    logging.getLogger("pressroom").setLevel(logging.ERROR)
    largest = asyncio.run(_process(Path(sys.argv[1]), Path(sys.argv[2])))
    print(peak(), largest)
