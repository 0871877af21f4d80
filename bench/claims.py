"""What a claim costs when the queue is deep. It should cost what it costs when the queue is short."""

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench import limit
from bench.backlog import Backlogs, fresh
from bench.figure import Figure
from bench.job import noop
from bench.sizes import LINE, SHALLOW, Sizes
from pressroom.model import Succeeded
from pressroom.store.jobs import claiming, endings, submitting
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement

AT_ONCE = 10
WARM_UP = 20
ROOM = FreeSlots(AT_ONCE, AT_ONCE)


def cost(folder: Path, sizes: Sizes) -> Iterator[Figure]:
    backlogs = Backlogs(folder, sizes.deep)
    few = f"{SHALLOW:,} queued"
    compared = {
        f"claim of {AT_ONCE}, {backlogs.deep:,} queued": (Claimant(backlogs.queued()), few),
        f"claim of {AT_ONCE}, {backlogs.deep:,} dated ahead of {SHALLOW:,}": (Claimant(backlogs.dated()), few),
        f"claim of {AT_ONCE}, {LINE:,} behind a busy key": (Claimant(backlogs.lined_up()), "none behind it"),
    }
    shallow = Claimant(backlogs.shallow())
    claimants = [shallow, *(claimant for claimant, _ in compared.values())]
    for _ in range(WARM_UP + sizes.claims):
        for claimant in claimants:
            claimant.claim()
    for claimant in claimants:
        claimant.close()
    for name, (claimant, against) in compared.items():
        yield Figure(name, claimant.typical, shallow.typical, "ms", against, "≤ 1.3")


class Claimant:
    """Claims from one database, and afterwards puts as many jobs back as it took: the queue stays as deep as it was."""

    def __init__(self, path: Path) -> None:
        self._store = limit.open_store(path, synchronous="NORMAL")  # as the worker's claims, which need not wait for the disk
        self._taken: list[float] = []

    def claim(self) -> None:
        started = time.perf_counter()
        claims = self._store.run(claiming.claim("bench", [noop.name], ROOM, limit.LEASE))
        self._taken.append(time.perf_counter() - started)
        assert len(claims) == AT_ONCE
        self._store.run(endings.settle([Settlement(claim, Succeeded("null")) for claim in claims], {}))
        self._store.run(submitting.insert_new_jobs(fresh(AT_ONCE)))

    @property
    def typical(self) -> float:
        """In milliseconds."""
        return median(self._taken[WARM_UP:]) * 1000

    def close(self) -> None:
        self._store.close()
