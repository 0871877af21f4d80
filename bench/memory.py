"""How much memory a worker takes when the queue is deep. Jobs that wait should wait on the disk.

Each worker is a process of its own (`python -m bench.memory DATABASE`), so that what it takes is its own and all of it.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import ours, place
from bench.backlog import Backlogs
from bench.figure import Figure
from bench.job import noop
from bench.sizes import SHALLOW, Sizes
from pressroom import Kind, Pressroom

JOBS = SHALLOW // 2
SLOTS = 10


def of_a_worker(folder: Path, sizes: Sizes) -> Iterator[Figure]:
    backlogs = Backlogs(folder, sizes.deep)
    deep, few = (_peak_of_a_worker_on(path) for path in (backlogs.queued(), backlogs.shallow()))
    yield Figure(f"worker's memory, {backlogs.deep:,} queued", deep, few, "MiB", f"{SHALLOW:,} queued", "near 1")


def _peak_of_a_worker_on(path: Path) -> float:
    command = [sys.executable, "-m", "bench.memory", str(path)]
    return float(subprocess.run(command, cwd=place.ROOT, check=True, capture_output=True, text=True).stdout)


async def _work(path: str) -> None:
    """Run the same number of jobs however many there are, slowly enough for the chores to have their beats."""

    async def handle(job: Any, payload: Any) -> None:
        await asyncio.sleep(0.05)

    async with Pressroom(f"sqlite:///{path}", kinds=[Kind(noop.name, handle)], workers=SLOTS) as press:
        await ours.until_settled(press, JOBS)


def peak(pid: int | str = "self") -> float:
    """The most that a process ever held, in MiB."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    asyncio.run(_work(sys.argv[1]))
    print(peak())
