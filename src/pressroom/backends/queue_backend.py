"""The database of a queue, and the delivery that announces its jobs to workers."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from pressroom import backends
from pressroom.base.lifecycle import Lifecycle
from pressroom.clock import Clock
from pressroom.config import Settings
from pressroom.delivery import Delivery, JobNotice, make_notices
from pressroom.errors import QueueClosed
from pressroom.registry import Registry
from pressroom.store import Database
from pressroom.store.engine.schema import Schema
from pressroom.store.jobs import queries

type CountError = Callable[[str, BaseException | str], None]  # the name of the dependency, and the error or its code


class QueueBackend(Lifecycle):
    """`fire_schedules` and `cancel` are called by a delivery that keeps time and whose jobs can be cancelled: oban."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        schema: Schema,
        registry: Registry,
        *,
        fire_schedules: Callable[[], Awaitable[object]],
        cancel: Callable[[str], Awaitable[object]],
        count_error: CountError,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._schema = schema
        self._registry = registry
        self._fire_schedules = fire_schedules
        self._cancel = cancel
        self._count_error = count_error
        self._database: Database | None = None

    @property
    def database(self) -> Database:
        if self._database is None:
            raise QueueClosed("the queue is not open yet; `async with` opens it, or `await start()`")
        return self._database

    async def open(self) -> None:
        self._database = None
        self.embedded = backends.make_embedded_delivery()  # within this process; all that most need
        self.delivery: Delivery = self.embedded
        heard = partial(_announce_from_thread, asyncio.get_running_loop(), self.wake_local_workers)
        # Opening may wait for another process that migrates; the event loop need not wait with it.
        self._database = await asyncio.to_thread(backends.open_database, self._settings, self._clock, self._schema, heard)
        callbacks = backends.DeliveryCallbacks(
            look_up_jobs=self._look_up,
            fire_schedules=self._fire_schedules,
            cancel=self._cancel,
            list_paused_kinds=partial(self._database.read, queries.list_paused_kinds),
            count_error=self._count_error,
        )
        self.delivery = backends.make_delivery(self._settings, self.embedded, self._registry.schedules, callbacks)
        await self.delivery.open()

    async def close(self) -> None:
        if self._database is not None:
            await self.delivery.close()
            await asyncio.sleep(0)  # tasks that wait for a job read it a last time before the database closes
            await self._database.close()

    def wake_local_workers(self) -> None:
        """Wake the workers of this process."""
        self.embedded.announce(())

    async def _look_up(self, ids: Sequence[int]) -> list[JobNotice]:
        kinds = self._registry.kinds
        return make_notices(await self.database.read(partial(queries.list_notices, ids, kinds)), kinds)


def _announce_from_thread(loop: asyncio.AbstractEventLoop, announce: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop was closed: no worker is left to wake
        loop.call_soon_threadsafe(announce)
