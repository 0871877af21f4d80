"""Which of many processes does the chores that need doing once."""

import asyncio
import contextlib
import logging
import time
from functools import partial

from pressroom import failpoints
from pressroom.errors import PressroomError
from pressroom.store import Database
from pressroom.store.jobs import leader
from pressroom.worker import process
from pressroom.worker.chores import every

log = logging.getLogger("pressroom.chores")

NAME = "chores"
LEASE = 10.0
LOOK_EVERY = 1.0  # a leader that resigned, or died on this machine, is followed within about this time


class Leadership:
    """Whether this process leads. It may believe so a little longer than it does, when it was paused: nothing that a leader
    does relies on being the only one.

    The lease is renewed from the event loop, not from a thread as those of jobs are: a process whose loop stands still
    does no chores either, and should be followed.
    """

    def __init__(self, database: Database, worker: str) -> None:
        self.term = 0
        self._database = database
        self._worker = worker
        self._until = 0.0
        self._renew_at = 0.0
        self._stopping = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    @property
    def leads(self) -> bool:
        return time.monotonic() < self._until

    async def start(self) -> None:
        with contextlib.suppress(PressroomError):  # the next look comes
            await self.look()
        self._looking = asyncio.create_task(every(LOOK_EVERY, self.look, self._stopping))

    async def stop(self) -> None:
        """Whoever looks next leads."""
        self._stopping.set()
        if self._looking is not None:
            await self._looking
        if not self.leads:
            return
        self._until = 0.0
        with contextlib.suppress(PressroomError):  # then its lease runs out
            await self._database.run(partial(leader.resign, NAME, self._worker), name="leader", durable=False, shared_lock=True)
            failpoints.hit("leader.resigned")

    async def look(self) -> None:
        """Renew after a third of the lease; without one, see whether it is to be had. Only then is anything written."""
        if self.leads:
            if time.monotonic() >= self._renew_at:
                await self._take(None)
            return
        holder = await self._database.read(partial(leader.find, NAME))
        if holder is None or holder.worker == self._worker or not 0 < holder.left <= 2 * LEASE * 1000:
            await self._take(None)
        elif await asyncio.to_thread(process.is_dead, holder.process):
            await self._take(holder.worker)

    async def _take(self, dead: str | None) -> None:
        asked = time.monotonic()
        unit = partial(leader.take, NAME, self._worker, process.identity(), int(LEASE * 1000), dead)
        term = await self._database.run(unit, name="leader", durable=False, shared_lock=True)
        if term is None:
            log.log(logging.WARNING if self.leads else logging.DEBUG, "another process leads now")
            self._until = 0.0
            return
        elected, self.term = term != self.term, term
        self._until, self._renew_at = asked + LEASE, asked + LEASE / 3
        if elected:
            log.info("this process leads, in term %d", term)
        failpoints.hit("leader.elected" if elected else "leader.renewed")
