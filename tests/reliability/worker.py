"""A worker process: runs jobs until it is told to stop or dies, and tells how many of its late results were refused.

The lab forks it. Tests start it by itself, maybe spoiled: `python -m tests.reliability.worker FOLDER --database URL
--naive no_fence`.
"""

import argparse
import asyncio
import logging
import signal
from collections.abc import Collection
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from pressroom import Pressroom
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.config import Settings
from pressroom.store.engine import statements
from tests.reliability.journal import Journal
from tests.reliability.workload import LEASE, SCHEDULES, Handlers, place_at

GRACE = 0.3


async def run(place: Settings, journal: Journal, only: Collection[str], schedules: bool, stopping: asyncio.Event) -> None:
    press = Pressroom(
        settings=place,
        kinds=[kind for kind in Handlers(journal).kinds() if kind.name in only],
        schedules=[schedule for schedule in SCHEDULES if schedules and schedule.kind in only],
        workers=4,
        cleanup_interval=0.5,
        grace=GRACE,
    )
    async with press:
        while not stopping.is_set():
            await _tell(press, journal)
            with suppress(TimeoutError):
                async with asyncio.timeout(3 * place.poll_interval):
                    await stopping.wait()
    await _tell(press, journal, open_jobs=False)


async def _tell(press: Pressroom, journal: Journal, *, open_jobs: bool = True) -> None:
    assert press.worker is not None
    tally = press.worker.counts
    journal.write("info", "tally", worker=press.worker.name, stale=tally.stale, settled=tally.settled)
    if open_jobs:
        stats = await press.stats()
        journal.write("info", "open", count=stats.queued + sum(line.running for line in stats.running))


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--database", required=True)
    parser.add_argument("--lease", type=float, default=LEASE)
    parser.add_argument("--naive")
    args = parser.parse_args()
    logging.basicConfig(filename=args.folder / "log", level=logging.INFO)
    if args.naive:
        import_module(f"tests.reliability.naive.{args.naive}").spoil(statements.load("sqlite", BUILT_IN_SCHEMA))
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    journal = Journal(args.folder / "journal.jsonl")
    kinds = [kind.name for kind in Handlers(journal).kinds()]
    await run(place_at(args.database, lease=args.lease), journal, kinds, False, stopping)


if __name__ == "__main__":
    asyncio.run(main())
