"""The workers of this process, with their leadership and the maintenance."""

import asyncio
import os
import socket
from functools import partial

from pressroom.backends.queue_backend import QueueBackend
from pressroom.base.lifecycle import Lifecycle, retry_while_busy
from pressroom.clock import Clock
from pressroom.config import Settings
from pressroom.definitions import Kind
from pressroom.delivery import Delivery
from pressroom.ids import new_uid
from pressroom.kinds import webhooks as webhook_kind
from pressroom.kinds.webhooks import Webhooks
from pressroom.queue import Queue
from pressroom.registry import Registry
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs import queries
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.worker import coverage_watch
from pressroom.worker.counters import SlotUsage, WorkerCounters
from pressroom.worker.coverage_watch import CoverageWatch
from pressroom.worker.leader import Leadership
from pressroom.worker.maintenance import Maintenance, run_every
from pressroom.worker.worker import Worker

STARTING = "worker_starting"  # why a process claims nothing yet; public, in docs/errors.md


class LocalWorkers(Lifecycle):
    """One worker for webhooks, which starts with the first delivery, and one for all other kinds that this process takes.

    With `works` false it claims nothing and only registers the kinds; the maintenance can be called all the same.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        backend: QueueBackend,
        registry: Registry,
        queue: Queue,
        webhooks: Webhooks,
        counters: WorkerCounters,
        *,
        has_workers: bool,
    ) -> None:
        self.works = has_workers
        self.worker_counters = counters
        self.worker: Worker | None = None
        self.leadership: Leadership | None = None
        self.released = 0  # jobs that were given back to the queue when the grace was over
        self._settings = settings
        self._clock = clock
        self._backend = backend
        self._registry = registry
        self._queue = queue
        self._webhooks = webhooks
        self._finished = False

    def leads(self) -> bool:
        """Whether this process does the maintenance for all processes on the database."""
        return self.leadership is not None and self.leadership.leads

    async def open(self) -> None:
        self.worker = self.leadership = None
        self.released = 0
        self._finished = False
        database = self._backend.database
        await retry_while_busy(partial(database.run, partial(kind_rows.register, self._registry.kinds), name="register"))
        await retry_while_busy(self._webhooks.seal_stored_secrets)  # that an older version has stored as they are
        self.maintenance = Maintenance(
            database,
            self._backend.delivery,
            self._registry.kinds,
            self._registry.schedules,
            self._queue.notify,
            self._queue.for_schedule,
            self._clock,
            lease=self._settings.lease,
            prune_interval=self._settings.cleanup_interval,
            leads=self.leads,
        )

    async def start(self) -> None:
        if not self.works:
            return
        database, taken = self._backend.database, self._registry.taken
        await retry_while_busy(self._webhooks.declare_alert_webhook)
        for schedule in (one for one in self._registry.schedules if not one.on_demand):
            await retry_while_busy(partial(database.run, partial(schedule_rows.save_schedule, schedule), name="schedule"))
        # Webhooks have slots of their own: a receiver that is slow must not keep renders waiting.
        delivered = {name: kind for name, kind in taken.items() if name == self._webhooks.kind.name}
        others = {name: kind for name, kind in taken.items() if name not in delivered}
        worker = self._make_worker(self._backend.delivery, others, self._settings.slots)
        await retry_while_busy(worker.start)
        self.worker = worker
        self.leadership = Leadership(database, worker.name)
        await self.leadership.start()
        self.maintenance.start()
        make_worker = partial(self._make_worker, self._backend.embedded, delivered, webhook_kind.WEBHOOK_SLOTS)
        self._webhooks.start(make_worker if delivered else None, self.leads)

    async def finish(self, grace: float) -> None:
        """Claim nothing more, let what runs end within the grace, release the rest. The maintenance goes on until `stop`."""
        if self.worker is None or self._finished:
            return
        self._finished = True
        drain = self._backend.database.volatile
        self.released = sum(
            await asyncio.gather(self.worker.stop(grace, drain=drain), self._webhooks.stop_worker(grace, drain=drain))
        )

    async def stop(self) -> None:
        if self.worker is not None:
            await self.maintenance.stop()
            await self._webhooks.stop()
        if self.leadership is not None:
            await self.leadership.stop()

    def stop_job(self, id: int) -> None:
        """Stop an attempt that was cancelled, if it runs here."""
        if self.worker is not None:
            self.worker.stop_job(id)
            self._webhooks.stop_job(id)

    @property
    def slot_usage(self) -> dict[str, SlotUsage]:
        """Of `jobs`, and of `webhooks`, whose worker starts with the first delivery."""
        workers = {"jobs": self.worker, "webhooks": self._webhooks.worker}
        return {name: worker.slot_usage for name, worker in workers.items() if worker is not None and worker.kinds}

    @property
    def claim_problem(self) -> str | None:
        """The code of what keeps the workers from claiming jobs, or None. `check_database` finds the rest."""
        if self.worker is None:
            return STARTING
        problems = [worker.claim_problem for worker in (self.worker, self._webhooks.worker) if worker is not None]
        return next(filter(None, problems), None)

    async def check_database(self) -> None:
        """Raises PressroomError if the database cannot be read now."""
        await self._backend.database.read(queries.list_paused_kinds)

    async def watch_coverage(self, stopping: asyncio.Event) -> None:
        """Warn in the log while jobs wait and no worker runs; for a service without workers. Workers watch by themselves."""
        watch = CoverageWatch(self._backend.database, self.leads)
        await run_every(coverage_watch.INTERVAL, watch.check, stopping)

    def _make_worker(self, delivery: Delivery, kinds: dict[str, Kind], slots: int) -> Worker:
        return Worker(
            self._backend.database,
            delivery,
            kinds,
            self._queue.notify,
            name=f"{socket.gethostname()}.{os.getpid()}.{new_uid()[-6:]}",
            slots=slots,
            lease=self._settings.lease,
            poll_interval=self._settings.poll_interval,
            counters=self.worker_counters,
        )
