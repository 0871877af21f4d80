"""Databases with much in them, made once for all who want to look at a deep queue."""

from pathlib import Path

from bench import limit
from bench.figure import say
from bench.job import checked, noop
from bench.sizes import LINE, SHALLOW
from pressroom.store.jobs import claiming, submitting
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.testing import SteppedStore

BATCH = 20_000
DAY = 86_400_000
PAYLOAD = "{}"  # a claim reads the payloads of the jobs it takes and no others; a gigabyte of them would only cost time


class Backlogs:
    """Each is a file that is made when it is first asked for, and found again by the next who asks."""

    def __init__(self, folder: Path, deep: int) -> None:
        self._folder = folder
        self.deep = deep

    def shallow(self) -> Path:
        return self._make("shallow", ready=SHALLOW)

    def queued(self) -> Path:
        """Deep, and all of it ready."""
        return self._make("queued", ready=self.deep)

    def dated(self) -> Path:
        """Shallow, behind a deep queue of jobs dated for tomorrow."""
        return self._make("dated", dated=self.deep, ready=SHALLOW)

    def lined_up(self) -> Path:
        """Shallow, behind a busy key and the jobs that wait for it."""
        return self._make("lined-up", lined_up=LINE, ready=SHALLOW)

    def _make(self, name: str, *, dated: int = 0, lined_up: int = 0, ready: int) -> Path:
        path = self._folder / f"{name}.db"
        if path.exists():
            return path
        say(f"  filling a database: {name}, {dated + lined_up + ready:,} jobs")
        store = limit.open_store(path, synchronous="OFF")
        if lined_up:
            _line_up(store, lined_up)
        _fill(store, dated, delay=DAY)
        _fill(store, ready)
        store.close()
        return path


def fresh(count: int, *, delay: int = 0) -> list[CheckedJob]:
    return [checked(PAYLOAD, delay=delay) for _ in range(count)]


def _fill(store: SteppedStore, count: int, *, delay: int = 0) -> None:
    for start in range(0, count, BATCH):
        store.run(submitting.insert_new_jobs(fresh(min(BATCH, count - start), delay=delay)))


def _line_up(store: SteppedStore, count: int) -> None:
    for _ in range(count):
        store.run(submitting.submit(checked(PAYLOAD, key="busy")))
    holders = store.run(claiming.claim("bench", [noop.name], FreeSlots(1, 1), DAY))
    assert [holder.key for holder in holders] == ["busy"]
