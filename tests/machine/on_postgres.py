"""Stories on PostgreSQL: one connection writes, another looks at what was committed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import LiteralString

import psycopg
from psycopg import sql

from pressroom.model import SingleRoundTrip, Work
from pressroom.store.engine.postgres_connection import SCHEMA, PostgresConnection
from pressroom.store.jobs import kinds as kind_rows
from tests.machine.kinds import make_kinds
from tests.machine.mirror import PostgresMirror
from tests.machine.stages import START, Clock, Killed, killed_after, resumed

# To truncate costs as much as a dozen steps, for every index is a file of its own. To delete costs little, and what it leaves
# behind is swept out now and then.
SWEPT_EVERY = 20
_TABLES: LiteralString = (
    "alert, render_cache, job_failure, job_item, job_input, job_payload, job_event, job, schedule_tick, schedule"
)
_FORGET: LiteralString = (
    "BEGIN; SET LOCAL session_replication_role = replica; "  # no trigger objects, and no row is looked up for its references
    + "; ".join(f"DELETE FROM {table}" for table in _TABLES.split(", "))
    + "; UPDATE kind SET paused = 0, slots = NULL; SELECT setval('job_number', 1, false); COMMIT"
)
_SWEEP: LiteralString = f"TRUNCATE {_TABLES} CASCADE"


class Server:
    """A database for all stories. Call it for a stage that is as new."""

    def __init__(self, address: str, guards: Sequence[str] = ()) -> None:
        """Without these guards; see broken.py."""
        self.address = address
        self.clock = Clock()
        self.eye = look_at(address)
        for guard in guards:
            self.eye.execute(sql.SQL(f"DROP {guard} ON job" if guard.startswith("TRIGGER") else f"DROP {guard}"))  # type: ignore[arg-type]
        self.connection = PostgresConnection(address, self.clock)
        self._stories = 0
        OnPostgres(self).run(kind_rows.register(make_kinds(lambda _: None)))

    def __call__(self) -> "OnPostgres":
        self.eye.execute(_SWEEP if self._stories % SWEPT_EVERY == 0 else "SELECT")
        self.eye.execute(_FORGET, prepare=False)
        self._stories += 1
        self.clock.now = START
        return OnPostgres(self)

    def start_again(self) -> None:
        self.connection = PostgresConnection(self.address, self.clock)

    def close(self) -> None:
        self.connection.close()
        self.eye.close()


@contextmanager
def stories_on(address: str, guards: Sequence[str] = ()) -> Iterator[Server]:
    server = Server(address, guards)
    try:
        yield server
    finally:
        server.close()


def look_at(address: str) -> "psycopg.Connection[tuple[object, ...]]":
    eye = psycopg.connect(address, autocommit=True)
    eye.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(SCHEMA)))
    eye.prepare_threshold = 2
    return eye


class OnPostgres:
    """A `Stage`."""

    dialect = "postgres"
    has_concurrent_writers = True

    def __init__(self, server: Server) -> None:
        self._server = server
        self.clock = server.clock
        self.mirror = PostgresMirror(server.eye)

    def run[T](self, work: Work[T], *, shared_lock: bool = False) -> T:
        connection = self._server.connection
        try:
            first = next(work)
            if shared_lock and isinstance(first, SingleRoundTrip):
                work.send(connection.single_round_trip(first, True))
        except StopIteration as end:
            return end.value
        work = resumed(first, work)
        try:
            connection.begin(durable=True, shared_lock=shared_lock)
            result = connection.run_work(work)
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
        return result

    def rehearse[T](self, work: Work[T]) -> T:
        connection = self._server.connection
        try:
            connection.begin(durable=False, shared_lock=False)
            return connection.run_work(work)
        finally:
            connection.rollback()

    def kill(self, work: Work[object], statements: int) -> None:
        """The server learns of it as of any other process: its end of the line is gone."""
        with suppress(Killed):
            self.run(killed_after(statements, work, self._server.connection.close))
        self._server.start_again()

    def close(self, *, as_found: bool) -> None:
        """The next story is given an empty database anyhow."""
