"""The raw limit: what this disk and this SQLite can do with our own statements when nothing stands around them.

The statements are not written down here a second time. Our units of work are carried out once on a copy of the database,
and what they say to it is recorded, with all parameters. The limit is the time to say it again to another copy, in a bare
loop: no event loop, no threads, no JSON to build, no row turned into a value.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from bench import place
from bench.payload import KIND, new_job
from pressroom.clock import SystemClock
from pressroom.model import Row, Statement, Succeeded, Work
from pressroom.store import jobs, migrate
from pressroom.store.jobs import NewJob, Room, Settlement
from pressroom.store.sqlite import Connection
from pressroom.store.statements import load

GROUP = 100  # jobs in one transaction

type Script = list[list[Statement]]


def open_database(path: Path) -> Connection:
    """A connection with the settings of the real one, on a database with the real tables, at synchronous=FULL."""
    connection = Connection(str(path), SystemClock())
    migrate.bring_up_to_date(connection.raw, str(path))
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def in_groups[T](things: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(things), GROUP):
        yield things[start : start + GROUP]


def script_of_submits(folder: Path, count: int) -> Script:
    """What it takes to submit `count` jobs to an empty database."""
    path = folder / "recorded.db"
    connection = open_database(path)
    new = [new_job() for _ in range(count)]
    script = [_record(connection, jobs.submit_plain(group))[1] for group in in_groups(new)]
    connection.raw.close()
    place.remove(path)
    return script


def script_of_drain(template: Path) -> Script:
    """What it takes to run all jobs of a database: settle a group and claim the next, in one transaction."""
    path = place.copy_of(template, "recorded.db")
    connection = open_database(path)
    connection.carry_out(jobs.pause(KIND, False))
    script: Script = []
    settlements: list[Settlement] = []
    while True:
        work = jobs.turn(settlements, "limit", [KIND], Room(GROUP, GROUP), 15_000, {})
        turn, said = _record(connection, work)
        script.append(said)
        if not turn.claims:
            break
        settlements = [Settlement(claim, Succeeded("null")) for claim in turn.claims]
    connection.raw.close()
    place.remove(path)
    return script


def _record[T](connection: Connection, work: Work[T]) -> tuple[T, list[Statement]]:
    said: list[Statement] = []

    def overheard() -> Work[T]:
        rows: list[Row] = []
        try:
            statement = next(work)
            while True:
                said.append(statement)
                rows = yield statement
                statement = work.send(rows)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    connection.execute("BEGIN IMMEDIATE")
    result = connection.carry_out(overheard())
    connection.execute("COMMIT")
    return result, said


def replay(path: Path, script: Iterable[Sequence[Statement]], prepare: Callable[[], Work[None]] | None = None) -> float:
    """Say a script to a database, one transaction for each group, and return the seconds it took."""
    connection = open_database(path)
    if prepare is not None:
        connection.carry_out(prepare())
    texts = load("sqlite")
    plain = [[(texts[name], params) for name, params in group] for group in script]
    run = connection.raw.cursor().execute
    started = time.perf_counter()
    for group in plain:
        run("BEGIN IMMEDIATE")
        for text, params in group:
            run(text, params).fetchall()
        run("COMMIT")
    seconds = time.perf_counter() - started
    connection.raw.close()
    return seconds


__all__ = ["GROUP", "NewJob", "open_database", "replay", "script_of_drain", "script_of_submits"]
