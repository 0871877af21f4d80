"""Periodic work, mostly of the leader: rescues jobs of dead workers, prunes, fires schedules, announces jobs again."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial, wraps

from cronsim import CronSim

from pressroom.base.outages import Outage
from pressroom.clock import Clock
from pressroom.definitions import Kind, Missed, Schedule
from pressroom.delivery import Delivery, JobNotice, make_notices
from pressroom.model import Status, Work, from_ms
from pressroom.store import Database
from pressroom.store.jobs import claiming, endings, queries, rescue, worker_records
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.store.jobs.rescue import LostJob
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.store.jobs.transitions import Kinds
from pressroom.worker import coverage_watch, process
from pressroom.worker.coverage_watch import CoverageWatch

log = logging.getLogger("pressroom.maintenance")

RESCUE_INTERVAL = 1.0
SCHEDULE_INTERVAL = 1.0
ANNOUNCE_INTERVAL = 5.0
FOLLOWER_ROUNDS = 3  # a process that does not lead announces again in one round of so many
PRUNE_BATCH = 1_000
MISSED_AFTER = 60_000  # a tick that is fired later than this, in milliseconds, was missed
MAX_MISSED_TICKS = 100
LEADER_GRACE = 2_000  # milliseconds after which other processes do what the leader has left undone: it may not know the kind
CLOCK_STEP = 2_000  # milliseconds; a clock that ran ahead of the monotonic one by more was set

type PeriodicTask = Callable[[], Awaitable[object]]


async def run_every(seconds: float, task: PeriodicTask, stopping: asyncio.Event) -> None:
    """Run a task periodically until `stopping` is set. An error is logged, and the task runs again at its next time."""
    outage = Outage(f"the task {getattr(task, '__name__', task)}", log)
    while not stopping.is_set():
        try:
            await task()
            outage.record_success()
        except Exception as reason:
            outage.record_failure(reason)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await stopping.wait()


def if_leading(leads: Callable[[], bool], task: PeriodicTask) -> PeriodicTask:
    @wraps(task)
    async def run_if_leading() -> None:
        if leads():
            await task()

    return run_if_leading


class Maintenance:
    """Any number of processes may run these tasks at once: each is a transaction that checks before it writes.

    The leader runs them, so that the others need not. The others do what the leader has left undone for a while, because it
    does not know a kind or a schedule, and what can only be seen on their own machine.
    """

    def __init__(
        self,
        database: Database,
        delivery: Delivery,
        kinds: dict[str, Kind],
        schedules: Sequence[Schedule],
        notify: Callable[[list[int]], None],
        make_job: Callable[[Schedule], CheckedJob],
        clock: Clock,
        *,
        lease: float,
        prune_interval: float,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        self._database = database
        self._delivery = delivery
        self._kinds = kinds
        self._schedules = schedules
        self._notify = notify
        self._make_job = make_job
        self._clock = clock
        self._lease = int(lease * 1000)
        self._prune_interval = prune_interval
        self._leads = leads
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._last_clock_reading: tuple[int, float] | None = None
        self._trust_clock_from = 0.0
        self._rounds = 0
        self._coverage_watch = CoverageWatch(database, leads)

    def start(self) -> None:
        tasks: list[tuple[float, PeriodicTask]] = [
            (RESCUE_INTERVAL, self._rescue_if_due),
            (self._prune_interval, if_leading(self._leads, self.prune)),
            (ANNOUNCE_INTERVAL, self.announce_again),
            (coverage_watch.INTERVAL, self.watch_coverage),
        ]
        if self._schedules:
            tasks.append((SCHEDULE_INTERVAL, self._fire_schedules_if_due))
        for seconds, task in tasks:
            self._tasks.append(asyncio.create_task(run_every(seconds, task, self._stopping)))

    async def stop(self) -> None:
        self._stopping.set()
        await asyncio.gather(*self._tasks)

    async def _rescue_if_due(self) -> None:
        await self.rescue(overdue=self._leader_grace)

    async def _fire_schedules_if_due(self) -> None:
        await self.fire_schedules(overdue=LEADER_GRACE if self._delivery.fires_schedules else self._leader_grace)

    @property
    def _leader_grace(self) -> int:
        return 0 if self._leads() else LEADER_GRACE

    async def rescue(self, *, overdue: int = 0) -> int:
        """Put the jobs of workers that died or went silent back in the queue. One at a time: an error stops only its own job.

        `overdue` is for how many milliseconds a lease has been over. A worker that died on this machine is not waited for: no
        process elsewhere can see it.
        """
        dead = await self._dead_workers()
        trusted = self._clock_is_steady()
        lost = await self._database.read(lambda: rescue.find_lost(dead, overdue=overdue))
        rescued = 0
        for job in lost:
            if trusted or job.worker in dead:
                rescued += await self._rescue_one(job)
        if not overdue and await self._database.read(rescue.any_lease_too_long):
            log.warning("the clock was set back; leases are shortened to what a lease can be")
            await self._database.run(rescue.clamp_leases, name="rescue", durable=False)
        if dead:
            await self._database.run(lambda: worker_records.forget_workers(dead), name="rescue", durable=False)
        await self._end_deferred_cancels()
        if rescued:
            self._delivery.announce(())
        return rescued

    async def _rescue_one(self, lost: LostJob) -> bool:
        status = await self._end_with_or_without_hook(
            lost.kind, lambda kinds: rescue.rescue(lost, kinds, _delay_after_crashes(lost.crashes)), "rescue"
        )
        if status is None:
            return False
        log.warning("worker %s went silent; its job %d is now %s", lost.worker, lost.id, status)
        self._notify([lost.id])
        return status is Status.QUEUED

    async def _dead_workers(self) -> list[str]:
        workers = [worker for worker, _, _ in await self._database.read(worker_records.list_workers)]
        return await asyncio.to_thread(lambda: [worker.uid for worker in workers if process.is_dead(worker.process)])

    def _clock_is_steady(self) -> bool:
        """False for one lease after the clock jumped ahead: all leases look old until the workers have renewed them."""
        wall, steady = self._clock.now_ms(), time.monotonic()
        if self._last_clock_reading is not None:
            ahead = (wall - self._last_clock_reading[0]) - (steady - self._last_clock_reading[1]) * 1000
            if ahead > CLOCK_STEP:
                log.warning("the clock jumped ahead by %.0f s; no lease is called old for a while", ahead / 1000)
                self._trust_clock_from = steady + self._lease / 1000
        self._last_clock_reading = (wall, steady)
        return steady >= self._trust_clock_from

    async def _end_deferred_cancels(self) -> None:
        for deferred in await self._database.read(lambda: rescue.find_deferred_cancels(self._kinds)):
            await self._end_with_or_without_hook(deferred.kind, partial(rescue.end_deferred_cancel, deferred), "cancel")
            self._notify([deferred.id])

    async def _end_with_or_without_hook[T](self, kind: str, unit: Callable[[Kinds], Work[T]], name: str) -> T | None:
        """End a job with its kind's settling hook; if the hook fails, without. None if neither worked: it is tried again."""
        for kinds in (self._kinds, endings.without_hook(self._kinds, kind)):
            try:
                return await self._database.run(partial(unit, kinds), name=name)
            except Exception:
                log.exception("ending a job of kind %s failed", kind)
        return None

    async def prune(self) -> int:
        """Delete what is past its retention, in batches, so that other writers do not wait long."""
        deleted = 0
        while not self._stopping.is_set():
            batch = await self._database.run(lambda: rescue.prune(PRUNE_BATCH), name="prune", durable=False)
            deleted += batch
            if batch < PRUNE_BATCH:
                break
        log.log(logging.INFO if deleted else logging.DEBUG, "pruned %d jobs past their retention", deleted)
        return deleted

    async def announce_again(self) -> None:
        """Announce ready jobs once more, in case a message was lost. Other processes than the leader do it too, less often: the
        leader does not announce jobs of kinds that it does not know."""
        self._rounds += 1
        if self._delivery.min_poll_interval > 0 and not self._leads() and self._rounds % FOLLOWER_ROUNDS:
            return
        if (await self._database.read(lambda: claiming.survey(self._kinds, look_for_work=True))).ready:
            kinds = [name for name, kind in self._kinds.items() if kind.uses_delivery]
            await self._delivery.announce_again(kinds, self._ready_notices)

    async def watch_coverage(self) -> None:
        """Warn of kinds that no running worker takes."""
        if self._leads():
            await self._coverage_watch.check()
        else:
            self._coverage_watch.reset()

    async def _ready_notices(self) -> list[JobNotice]:
        return make_notices(await self._database.read(partial(queries.list_waiting_jobs, self._kinds)), self._kinds)

    async def fire_schedules(self, *, overdue: int = 0) -> int:
        """Submit the jobs of ticks that are due. A unique index on the tick decides between processes.

        `overdue` is for how many milliseconds a tick has been due.
        """
        known = {schedule.name: schedule for schedule in self._schedules}
        fired = 0
        for schedule, last in await self._database.read(schedule_rows.list_schedules):
            if schedule.name in known:
                fired += await self._fire(known[schedule.name], last, overdue)
        if fired:
            self._delivery.announce(())
        return fired

    async def _fire(self, schedule: Schedule, last: int, overdue: int) -> int:
        now = self._clock.now_ms()
        ticks = ticks_between(schedule.cron, last, now - overdue)
        due = choose_ticks(ticks, schedule.missed, now)
        fired = 0
        for tick in due:
            new = self._make_job(schedule)
            fired += await self._database.run(partial(schedule_rows.fire, schedule, tick, new), name="schedule")
        if ticks and not due:
            await self._database.run(lambda: schedule_rows.skip_to(schedule, ticks[-1]), name="schedule")
        return fired


def _delay_after_crashes(crashes: int) -> float:
    """Seconds. The first crash may have another cause than the job; from the second on it waits, longer each time."""
    return 0.0 if crashes == 0 else min(60.0, 2.0**crashes)


def ticks_between(cron: str, after: int, until: int) -> list[int]:
    """The ticks in (after, until], oldest first, the latest hundred at most. Searched backwards: a year costs little."""
    start = from_ms(until + 1000)
    ticks: list[int] = []
    for tick in CronSim(cron, start, reverse=True):
        moment = int(tick.timestamp() * 1000)
        if moment <= after or len(ticks) == MAX_MISSED_TICKS:
            break
        if moment <= until:
            ticks.append(moment)
    return ticks[::-1]


def choose_ticks(ticks: list[int], missed: Missed, now: int) -> list[int]:
    """Which of the ticks that are due are fired."""
    match missed:
        case Missed.ALL:
            return ticks
        case Missed.ONE:
            return ticks[-1:]
        case Missed.SKIP:
            return [tick for tick in ticks[-1:] if now - tick <= MISSED_AFTER]


def next_tick(cron: str, after: datetime) -> datetime:
    return next(CronSim(cron, after.astimezone(UTC)))
