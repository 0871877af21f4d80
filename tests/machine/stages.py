"""What a story is played on: a real database, emptied for each, on a clock that stands where it is put."""

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from pressroom.model import Row, Statement, Work
from tests.machine.mirror import Mirror

START = 1_800_000_000_000


class Clock:
    now = START

    def now_ms(self) -> int:
        return self.now


class Stage(Protocol):
    dialect: str
    clock: Clock
    has_concurrent_writers: bool  # whether some units may run beside others, as `Database.crowded` says
    mirror: Mirror

    def run[T](self, work: Work[T], *, shared_lock: bool = False) -> T:
        """Carry out a unit of work in a transaction of its own. If it raises, nothing of it remains."""
        ...

    def rehearse[T](self, work: Work[T]) -> T:
        """What would come of it. Nothing of it remains."""
        ...

    def kill(self, work: Work[object], statements: int) -> None:
        """kill -9 in the middle of a unit, after so many statements, and a new start on what it left behind."""
        ...

    def close(self, *, as_found: bool) -> None:
        """The story is over; `as_found`: it came to its end, and every job with it."""
        ...


class Killed(BaseException):
    """The process is gone."""


def killed_after(statements: int, work: Work[object], kill: Callable[[], None]) -> Work[None]:
    """Some statements of a unit of work, or all of them; then the end comes, before the commit."""
    rows: list[Row] | None = None
    with suppress(StopIteration):
        for _ in range(statements):
            rows = yield work.send(rows)  # type: ignore[arg-type]  # None starts a generator
    kill()
    raise Killed


def resumed[T](first: Statement, work: Work[T]) -> Work[T]:
    """A unit of work that was begun to see what it asks first."""
    statement = first
    try:
        while True:
            statement = work.send((yield statement))
    except StopIteration as end:
        return end.value
