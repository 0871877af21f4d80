"""A worker: what it is made of, how it starts and stops, and what it tells about itself."""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable, Collection

from pressroom.base.outages import Outage
from pressroom.definitions import Kind
from pressroom.delivery import Delivery
from pressroom.errors import PressroomError
from pressroom.model import VERSION
from pressroom.store import Database
from pressroom.store.jobs import claiming, worker_records
from pressroom.worker import process
from pressroom.worker.attempts import STOP_GRACE, Attempts
from pressroom.worker.counters import UNEXPECTED, SlotUsage, WorkerCounters
from pressroom.worker.lease import LeaseKeeper
from pressroom.worker.loop import ClaimLoop
from pressroom.worker.offers import Offers
from pressroom.worker.slots import WorkerSlots
from pressroom.worker.turns import Turns

log = logging.getLogger("pressroom.worker")

STOPPING, FAILED = "worker_stopping", "worker_failed"  # why a worker claims nothing; public, in docs/errors.md


class Worker:
    """Runs jobs in a number of slots. `tell` is called with the ids of jobs that changed."""

    def __init__(
        self,
        database: Database,
        delivery: Delivery,
        kinds: dict[str, Kind],
        notify: Callable[[list[int]], None],
        *,
        name: str,
        slots: int,
        lease: float = 15.0,
        poll_interval: float = 0.1,
        random: Callable[[], float] = random.random,
        counters: WorkerCounters | None = None,
    ) -> None:
        self.name = name
        self.kinds: Collection[str] = kinds
        self.slots = slots
        self._database = database
        self._delivery_name = type(delivery).__name__.lower()
        self._lease = lease
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        counters = WorkerCounters() if counters is None else counters
        counters.add_kinds(kinds)
        self._offers, self._worker_slots = Offers(), WorkerSlots(slots)
        self._attempts = Attempts(database, kinds, self._worker_slots, notify, counters, random)
        self.counts = self._attempts.counts
        self._turns = Turns(
            database, kinds, self._attempts, self._offers, counters, random, worker=name, lease=lease, retry_delay=poll_interval
        )
        self._loop = ClaimLoop(
            name,
            kinds,
            delivery,
            self._worker_slots,
            self._offers,
            self._attempts,
            self._turns,
            poll_interval=poll_interval,
            on_delivery_error=lambda reason: counters.count_error(self._delivery_name, reason),
        )
        self._heartbeat_outage = Outage("the heartbeat", log, counters.count_database_error)
        self._keeper = LeaseKeeper(
            database,
            lease,
            self._attempts.leases_to_renew,
            self._attempts.handle_renewal,
            self._worker_record,
            self._heartbeat_outage,
        )

    async def start(self) -> None:
        await self._database.run(
            lambda: worker_records.save_worker(self._worker_record()), name="heartbeat", durable=False, shared_lock=True
        )
        self._keeper.start()
        loop = self._loop
        parts = (loop.claim_and_settle_forever, loop.consume_delivery, loop.poll_database, self._attempts.enforce_time_limits)
        for part in parts:
            self._tasks.append(asyncio.create_task(part(), name=f"pressroom-{part.__name__}"))

    async def stop(self, grace: float, *, drain: bool = False) -> int:
        """Stop claiming, finish what runs within the grace, release the rest. Returns how many had to be released.

        Leases are kept until the end. With `drain` the queue is emptied first, as far as the grace allows: for a database in
        memory, which ends with this process.
        """
        deadline = time.monotonic() + grace
        self._loop.claiming, self._stopping = drain, True
        self._offers.refuse_all()
        await self._loop.wait_until_idle(deadline)
        while drain and await self._wait_for_next_due(deadline):
            await self._loop.wait_until_idle(deadline)
        self._loop.claiming = False
        if self._loop.turns_in_flight:
            await asyncio.wait(self._loop.turns_in_flight, timeout=STOP_GRACE)  # one of them may still claim jobs
        released = await self._attempts.release_all()
        await self._loop.wait_until_idle(time.monotonic() + STOP_GRACE)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._keeper.stop)
        self._attempts.close()
        with contextlib.suppress(PressroomError):
            await self._database.run(lambda: worker_records.delete_worker(self.name), name="heartbeat", durable=False)
        return released

    async def _wait_for_next_due(self, deadline: float) -> bool:
        """Wait for the next job whose time has not come yet. False if there is none before the deadline."""
        wait = await self._database.read(claiming.time_to_next_due)
        if wait is None or time.monotonic() + wait > deadline:
            return False
        await asyncio.sleep(wait)
        self._loop.expect_jobs()
        return True

    def stop_job(self, id: int) -> None:
        """Stop a job that was cancelled, if it runs here."""
        self._attempts.cancel_job(id)

    @property
    def running(self) -> int:
        return len(self._attempts.running)

    @property
    def slot_usage(self) -> SlotUsage:
        """A handler that waits for another job and has released its slot is not busy."""
        return SlotUsage(self.slots, self._worker_slots.busy)

    @property
    def claim_problem(self) -> str | None:
        """The code of what keeps this worker from claiming jobs, as far as it is known without asking the database."""
        if self._stopping:
            return STOPPING
        if any(task.done() for task in self._tasks):
            return FAILED
        for outage in (self._turns.outage, self._turns.release_outage, self._heartbeat_outage):
            if (reason := outage.reason) is not None:
                return reason.code if isinstance(reason, PressroomError) else UNEXPECTED
        return None

    def _worker_record(self) -> worker_records.WorkerRecord:
        return worker_records.WorkerRecord(
            self.name,
            process.process_identity(),
            sorted(self.kinds),
            self.slots,
            self.running,
            host=process.host_name(),
            pid=process.process_id(),
            version=VERSION,
            delivery=self._delivery_name,
            lease=int(self._lease * 1000),
            stopping=self._stopping,
        )
