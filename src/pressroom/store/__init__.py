"""Where jobs live. The row is the job; everything else only carries the news that it is there.

A `Database` runs units of work (see `model.Work`) and answers only when they are on stable storage.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from pressroom.model import Row, Work


class Transaction(Protocol):
    """A transaction held open by a caller. While it is open nobody else writes, so it is short, and it expires."""

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
        beside: bool = False,
        after: Callable[[T], None] | None = None,
    ) -> T:
        """Carry out a unit of work in a transaction, alone or together with others, and return once it is committed.

        `unit` may be called again if a neighbour spoiled the transaction they shared. `after` is called with the result
        as soon as it is committed, even if nobody waits for it any more. A unit that is not `durable` may be
        forgotten by a power failure, never by a crash of the program. One that only touches rows which it made, locked or
        holds a claim of may run `beside` others; any other sees what nobody else changes until it is committed.
        """
        ...

    def run_from_thread[T](self, unit: Callable[[], Work[T]], *, name: str, durable: bool = True, beside: bool = False) -> T:
        """As `run`, for a thread that may wait."""
        ...

    async def read[T](self, unit: Callable[[], Work[T]]) -> T:
        """Carry out a unit that only reads, from one consistent snapshot, beside the writer."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[Transaction]: ...

    async def changed_elsewhere(self) -> bool:
        """Whether another connection committed since the last call. Cheap enough to ask ten times a second."""
        ...

    @property
    def crowded(self) -> bool:
        """Whether several may write at once, so that it pays to say which units may run beside others."""
        ...

    @property
    def volatile(self) -> bool:
        """Whether closing it loses everything."""
        ...

    async def close(self) -> None: ...
