"""Which of many processes leads: it does the maintenance that only one needs to do."""

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
from pressroom.worker.maintenance import run_every

log = logging.getLogger("pressroom.maintenance")

NAME = "chores"  # of its row in the database, from the first version
LEASE = 10.0
CHECK_INTERVAL = 1.0  # seconds; about as long as it takes to replace a leader that resigned or died on this machine


class Leadership:
    """Whether this process leads. After a pause it may believe so although its lease is over: nothing that a leader does relies
    on being the only one.

    The lease is renewed from the event loop, not from a thread as those of jobs are: a process whose event loop is blocked
    does no maintenance either, and should be replaced.
    """

    def __init__(self, database: Database, worker: str) -> None:
        self.term = 0
        self._database = database
        self._worker = worker
        self._lease_until = 0.0
        self._renew_at = 0.0
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def leads(self) -> bool:
        return time.monotonic() < self._lease_until

    async def start(self) -> None:
        with contextlib.suppress(PressroomError):  # it is tried again
            await self.renew_or_acquire()
        self._task = asyncio.create_task(run_every(CHECK_INTERVAL, self.renew_or_acquire, self._stopping))

    async def stop(self) -> None:
        """Resign: the next process that checks leads."""
        self._stopping.set()
        if self._task is not None:
            await self._task
        if not self.leads:
            return
        self._lease_until = 0.0
        with contextlib.suppress(PressroomError):  # then the lease expires
            await self._database.run(partial(leader.resign, NAME, self._worker), name="leader", durable=False, shared_lock=True)
            failpoints.hit("leader.resigned")

    async def renew_or_acquire(self) -> None:
        """Renew the lease after a third of it. Without one, acquire it if it is free, or if its holder died on this machine."""
        if self.leads:
            if time.monotonic() >= self._renew_at:
                await self._acquire(None)
            return
        holder = await self._database.read(partial(leader.find, NAME))
        if holder is None or holder.worker == self._worker or not 0 < holder.left <= 2 * LEASE * 1000:
            await self._acquire(None)
        elif await asyncio.to_thread(process.is_dead, holder.process):
            await self._acquire(holder.worker)

    async def _acquire(self, dead: str | None) -> None:
        requested_at = time.monotonic()
        unit = partial(leader.acquire_leadership, NAME, self._worker, process.process_identity(), int(LEASE * 1000), dead)
        term = await self._database.run(unit, name="leader", durable=False, shared_lock=True)
        if term is None:
            log.log(logging.WARNING if self.leads else logging.DEBUG, "another process leads now")
            self._lease_until = 0.0
            return
        elected, self.term = term != self.term, term
        self._lease_until, self._renew_at = requested_at + LEASE, requested_at + LEASE / 3
        if elected:
            log.info("this process leads, in term %d", term)
        failpoints.hit("leader.elected" if elected else "leader.renewed")
