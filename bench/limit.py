"""The raw limit: what this disk and this SQLite do with our own statements when nothing stands around them.

The statements are not written down a second time. Our units of work are carried out once on a copy of the database, and
what they say to it is recorded, parameters and all. The limit is the time to say the same to another copy in a bare loop:
no event loop, no threads, no JSON to build, no row to make a value of.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from bench import place
from bench.job import checked, noop
from pressroom.clock import SystemClock
from pressroom.model import Row, Statement, Succeeded, Work
from pressroom.store.engine.statements import load
from pressroom.store.jobs import claiming, submitting
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement
from pressroom.testing import SteppedStore

GROUP = 100  # jobs in one transaction
LEASE = 15_000

type Script = list[list[Statement]]


def open_store(path: Path, synchronous: str = "FULL") -> SteppedStore:
    """The real tables and the real connection's settings, without the threads of the real store."""
    store = SteppedStore(SystemClock(), str(path))
    store.raw.execute(f"PRAGMA synchronous = {synchronous}")
    return store


def script_of_submits(folder: Path, count: int) -> Script:
    """What is said to an empty database to submit `count` jobs."""
    path = folder / "recorded.db"
    new = [checked() for _ in range(count)]
    store = open_store(path)
    script = [_record(store, submitting.insert_new_jobs(new[start : start + GROUP]))[1] for start in range(0, count, GROUP)]
    store.close()
    place.remove(path)
    return script


def script_of_drain(template: Path) -> Script:
    """What is said to a database to run all its jobs: each transaction settles a group and claims the next."""
    path = place.copy_of(template, "recorded.db")
    store = open_store(path)
    script = [_record(store, kind_rows.set_paused(noop.name, False))[1]]
    settlements: list[Settlement] = []
    while True:
        turn, said = _record(
            store, claiming.settle_and_claim(settlements, "limit", [noop.name], FreeSlots(GROUP, GROUP), LEASE, {})
        )
        script.append(said)
        if not turn.claims:
            break
        settlements = [Settlement(claim, Succeeded("null")) for claim in turn.claims]
    store.close()
    place.remove(path)
    return script


def replay(path: Path, script: Script) -> float:
    """Say it all to a database, one transaction for each group. Returns the seconds that took."""
    store = open_store(path)
    texts = load("sqlite")
    groups = [[(texts[name], params) for name, params in group] for group in script]
    run = store.raw.cursor().execute
    started = time.perf_counter()
    for group in groups:
        run("BEGIN IMMEDIATE")
        for text, params in group:
            run(text, params).fetchall()
        run("COMMIT")
    seconds = time.perf_counter() - started
    store.close()
    return seconds


def single_commits(path: Path, count: int) -> Iterator[float]:
    """Insert a job and its payload in a transaction of their own, once each time it is asked. Yields the seconds."""
    script = _script_of_inserts(path.with_name("recorded.db"), count)
    store = open_store(path)
    run = store.raw.cursor().execute
    for (insert_job, job), (insert_payload, payload) in script:
        started = time.perf_counter()
        run("BEGIN IMMEDIATE")
        run(insert_job, job)
        run(insert_payload, payload)
        run("COMMIT")
        yield time.perf_counter() - started
    store.close()


def _script_of_inserts(path: Path, count: int) -> Script:
    store = open_store(path, synchronous="OFF")
    recorded = [_record(store, submitting.submit(checked()))[1] for _ in range(count)]
    store.close()
    place.remove(path)
    texts, wanted = load("sqlite"), ("insert_job", "insert_payload")
    return [[Statement(texts[name], params) for name, params in said if name in wanted] for said in recorded]


def _record[T](store: SteppedStore, work: Work[T]) -> tuple[T, list[Statement]]:
    said: list[Statement] = []

    def overhear() -> Work[T]:
        rows: list[Row] | None = None
        while True:
            try:
                statement = work.send(rows)  # type: ignore[arg-type]  # None starts a generator
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            said.append(statement)
            rows = yield statement

    return store.run(overhear()), said
