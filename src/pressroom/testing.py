"""For our users' tests and ours: a clock to move, and a store to drive step by step."""

import apsw

from pressroom.clock import Clock, ManualClock
from pressroom.model import Work
from pressroom.store.engine import sqlite_migrate
from pressroom.store.engine.schema import CORE_ONLY, Schema
from pressroom.store.engine.sqlite_connection import SqliteConnection
from pressroom.store.jobs import rescue
from pressroom.store.jobs.transitions import Kinds


class SteppedStore:
    """The real statements on a database in memory, one unit of work at a time, on a clock that a test moves.

    There are no threads and no event loop: what a test does is all that happens.
    """

    def __init__(self, clock: Clock | None = None, path: str = ":memory:", schema: Schema = CORE_ONLY) -> None:
        self.clock = clock or ManualClock()
        self._connection = SqliteConnection(path, self.clock, schema)
        sqlite_migrate.bring_up_to_date(self._connection.raw, path, schema)

    @property
    def raw(self) -> apsw.Connection:
        return self._connection.raw

    def run[T](self, work: Work[T]) -> T:
        """Carry out a unit of work in a transaction of its own. If it raises, nothing of it remains."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            result = self._connection.run_work(work)
        except BaseException:
            if self.raw.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return result

    def close(self) -> None:
        self.raw.close()


def end_deferred_cancels(kinds: Kinds) -> Work[list[int]]:
    """One run of the maintenance task that ends cancelled jobs for processes that could not, as one unit of work."""
    found = yield from rescue.find_deferred_cancels(kinds)
    for deferred in found:
        yield from rescue.end_deferred_cancel(deferred, kinds)
    return [deferred.id for deferred in found]


__all__ = ["ManualClock", "SteppedStore", "end_deferred_cancels"]
