"""Where jobs are stored. The row is the job; deliveries only announce it.

A `Database` runs units of work (see `model.Work`) and answers only when they are on stable storage.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from pressroom.model import Row, Work


class Transaction(Protocol):
    """A transaction held open by a caller. Other writers wait while it is open, so it is short, and it expires."""

    async def execute(self, sql: str, params: dict[str, Any] | None = None) -> list[Row]:
        """Run one statement of the caller's own, with `:name` parameters, and return its rows."""
        ...

    async def run[T](self, unit: Callable[[], Work[T]], *, name: str, after: Callable[[T], None] | None = None) -> T: ...


class Database(Protocol):
    async def run[T](
        self,
        unit: Callable[[], Work[T]],
        *,
        name: str,
        durable: bool = True,
        shared_lock: bool = False,
        after: Callable[[T], None] | None = None,
    ) -> T:
        """Carry out a unit of work in a transaction, alone or together with others, and return once it is committed.

        `name` is that of its failpoints, `NAME.before_commit` and `NAME.after_commit`.

        `unit` may be called again if another unit of the same transaction failed. `after` is called with the result as
        soon as it is committed, even if the caller has stopped waiting. A unit that is not `durable` may be lost in a power
        failure, never in a crash of the program. A unit that only touches rows which it made, locked or holds a claim of may
        run under a `shared_lock`; any other runs alone.
        """
        ...

    def run_from_thread[T](
        self, unit: Callable[[], Work[T]], *, name: str, durable: bool = True, shared_lock: bool = False
    ) -> T:
        """As `run`, for a thread that may block."""
        ...

    async def read[T](self, unit: Callable[[], Work[T]]) -> T:
        """Carry out a unit that only reads, from one consistent snapshot, concurrently with writers."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[Transaction]: ...

    async def changed_elsewhere(self) -> bool:
        """Whether another connection committed since the last call. Cheap enough for ten calls a second."""
        ...

    @property
    def has_concurrent_writers(self) -> bool:
        """Whether several units may be written at once, so that a `shared_lock` pays."""
        ...

    @property
    def volatile(self) -> bool:
        """Whether closing it loses everything."""
        ...

    async def close(self) -> None: ...
