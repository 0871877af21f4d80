"""Two processes on one PostgreSQL, and the order in which they come to do things in the test's hands.

One of the two is stopped after each of its statements in turn, and before its commit. The other then does what it can: it ends,
or it waits for a lock of the first, which the server tells us. Then the first goes on. Nothing sleeps, nothing is left to luck.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, NamedTuple

from pressroom.errors import PressroomError
from pressroom.model import Claim, Row, Statement, Work
from pressroom.store.engine import fsck
from pressroom.store.engine.postgres_connection import PostgresConnection
from pressroom.store.jobs import claiming, submitting
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.submitting import CheckedJob
from tests.machine.kinds import EVERY_KIND, LEASE, input_of, make_kinds
from tests.machine.on_postgres import OnPostgres, Server, stories_on

KINDS = make_kinds(lambda _: None)
PLENTY = FreeSlots(10, 10)


class Side(NamedTuple):
    """What one of the two does, and whether it may do it beside others."""

    work: Work[Any]
    shared_lock: bool = False


class Met(NamedTuple):
    """What came of it: the answer, or the error of ours, that each side was given."""

    one: Any
    other: Any


def new(number: int, kind: str = "pack", **more: Any) -> CheckedJob:
    source = more.pop("source", None)
    policy = KINDS[kind]
    return CheckedJob(
        uid=f"{number:026d}",
        kind=kind,
        tier=1,
        payload=f'"{number}"',
        on_key=policy.on_key,
        max_attempts=policy.max_attempts,
        max_crashes=policy.max_crashes,
        retention=60_000,
        fingerprint=input_of(kind, "", source),
        cache_for=300_000,
        **more,
    )


class Track:
    """The database of a race, and the two connections that run on it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._stage: OnPostgres = server()
        self._second = PostgresConnection(server.address, server.clock)
        self._pid = self._second.run_work(_pid())

    def every_order(
        self, set_up: Callable[[], Any], one: Callable[[Any], Side], other: Callable[[Any], Side]
    ) -> Iterator[tuple[Any, Met]]:
        """Race from the same start, once for each place where one of the two can be overtaken by the other."""
        for first, second in ((one, other), (other, one)):
            statements, reached = 0, True
            while reached:
                self._stage = self._server()
                start = set_up()
                met, reached = self._race(first(start), second(start), statements)
                yield start, met if first is one else Met(met.other, met.one)
                found = self.do(fsck.audit("postgres"))
                assert not found, found
                statements += 1

    def _race(self, first: Side, second: Side, statements: int) -> tuple[Met, bool]:
        """`reached` is False if the first had fewer statements than it was to be stopped after: then one followed the other."""
        there, go_on = threading.Event(), threading.Event()

        def stop() -> None:
            there.set()
            go_on.wait()

        with ThreadPoolExecutor(2) as threads:
            leading = threads.submit(
                self._run, self._server.connection, _stopped(first.work, statements, stop), first.shared_lock
            )
            while not there.is_set() and not leading.done():
                wait([leading], timeout=0.001)
            following = threads.submit(self._run, self._second, second.work, second.shared_lock)
            try:
                while not following.done() and not self._second_waits():
                    wait([following], timeout=0.001)
            finally:
                go_on.set()
            return Met(_answer(leading), _answer(following)), there.is_set()

    def _run(self, connection: PostgresConnection, work: Work[Any], shared_lock: bool) -> Any:
        try:
            connection.begin(durable=True, shared_lock=shared_lock)
            result = connection.run_work(work)
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
        return result

    def _second_waits(self) -> bool:
        return self._server.eye.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", (self._pid,)).fetchall() == [(True,)]

    # What comes before and after

    def do[T](self, work: Work[T]) -> T:
        return self._stage.run(work)

    def submit(self, *many: CheckedJob) -> None:
        for one in many:
            self.do(submitting.submit(one))

    def claim(self) -> list[Claim]:
        return self.do(claiming.claim("w", EVERY_KIND, PLENTY, LEASE))

    def pass_time(self, milliseconds: int) -> None:
        self._stage.clock.now += milliseconds

    def rows(self, sql: str) -> list[Row]:
        return self._server.eye.execute(sql).fetchall()  # type: ignore[call-overload]

    def close(self) -> None:
        self._second.close()


@contextmanager
def track_on(address: str) -> Iterator[Track]:
    with stories_on(address) as server:
        track = Track(server)
        try:
            yield track
        finally:
            track.close()


def _pid() -> Work[int]:
    ((pid,),) = yield Statement("SELECT pg_backend_pid()")
    return int(pid)


def _stopped(work: Work[Any], statements: int, stop: Callable[[], None]) -> Work[Any]:
    rows: Any = None  # which starts a generator
    try:
        while True:
            statement = work.send(rows)
            if statements == 0:
                stop()
            statements -= 1
            rows = yield statement
    except StopIteration as end:
        if statements == 0:
            stop()
        return end.value


def _answer(future: "Future[Any]") -> Any:
    try:
        return future.result()
    except PressroomError as ours:
        return ours
