"""What must be done now and then, each on its beat: rescue, prune, schedules, announcing again."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial, wraps

from cronsim import CronSim

from pressroom.clock import Clock
from pressroom.delivery import Delivery, Notice, make_notices
from pressroom.model import Kind, Missed, Schedule, Status, Work, from_ms
from pressroom.outages import Outage
from pressroom.store import Database
from pressroom.store.jobs import endings, jobs, maintenance, queries
from pressroom.store.jobs.jobs import NewJob
from pressroom.store.jobs.maintenance import LostJob
from pressroom.store.jobs.transitions import Kinds
from pressroom.worker import coverage_watch, process
from pressroom.worker.coverage_watch import CoverageWatch

log = logging.getLogger("pressroom.chores")

RESCUE_INTERVAL = 1.0
SCHEDULE_INTERVAL = 1.0
ANNOUNCE_INTERVAL = 5.0
UNLED_ROUNDS = 3  # of which those who do not lead announce again in one
PRUNE_BATCH = 1_000
LATE = 60_000  # a tick that is fired later than this, in milliseconds, was missed
MOST_MISSED = 100
PATIENCE = 2_000  # milliseconds for the leader to do what is due, before somebody else does: it may not know how
CLOCK_STEP = 2_000  # milliseconds by which the clock may run ahead of the monotonic one before we call it a step

type Chore = Callable[[], Awaitable[object]]


async def every(seconds: float, chore: Chore, stopping: asyncio.Event) -> None:
    """Do a chore on a beat until told to stop. A bad beat is logged; the next one comes."""
    outage = Outage(f"the chore {getattr(chore, '__name__', chore)}", log)
    while not stopping.is_set():
        try:
            await chore()
            outage.recovered()
        except Exception as reason:
            outage.failed(reason)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await stopping.wait()


def if_leading(leads: Callable[[], bool], chore: Chore) -> Chore:
    @wraps(chore)
    async def in_one_process() -> None:
        if leads():
            await chore()

    return in_one_process


class Chores:
    """Any number of processes may do them at once: each is a transaction that looks before it acts.

    The leader does them so that the others need not. What only a process that knows a kind or a schedule can do, and what
    the leader has left undone for a while, the others do as well; so do they what can only be seen from their machine.
    """

    def __init__(
        self,
        database: Database,
        delivery: Delivery,
        kinds: dict[str, Kind],
        schedules: Sequence[Schedule],
        tell: Callable[[list[int]], None],
        make: Callable[[Schedule], NewJob],
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
        self._tell = tell
        self._make = make
        self._clock = clock
        self._lease = int(lease * 1000)
        self._prune_interval = prune_interval
        self._leads = leads
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._last_look: tuple[int, float] | None = None
        self._trust_clock_from = 0.0
        self._rounds = 0
        self._coverage_watch = CoverageWatch(database, leads)

    def start(self) -> None:
        beats: list[tuple[float, Chore]] = [
            (RESCUE_INTERVAL, self._rescue_in_turn),
            (self._prune_interval, if_leading(self._leads, self.prune)),
            (ANNOUNCE_INTERVAL, self.announce_again),
            (coverage_watch.INTERVAL, self.watch_coverage),
        ]
        if self._schedules:
            beats.append((SCHEDULE_INTERVAL, self._fire_in_turn))
        for seconds, chore in beats:
            self._tasks.append(asyncio.create_task(every(seconds, chore, self._stopping)))

    async def stop(self) -> None:
        self._stopping.set()
        await asyncio.gather(*self._tasks)

    async def _rescue_in_turn(self) -> None:
        await self.rescue(patience=self._patience)

    async def _fire_in_turn(self) -> None:
        await self.fire_schedules(patience=PATIENCE if self._delivery.keeps_time else self._patience)

    @property
    def _patience(self) -> int:
        return 0 if self._leads() else PATIENCE

    async def rescue(self, *, patience: int = 0) -> int:
        """Give back the jobs of workers that died or went silent. One at a time: a bad one cannot stop the sweep.

        A death is seen only by those on the same machine, so nobody has patience with it.
        """
        dead = await self._dead_workers()
        trusted = self._clock_is_steady()
        lost = await self._database.read(lambda: maintenance.find_lost(dead, overdue=patience))
        rescued = 0
        for job in lost:
            if trusted or job.worker in dead:
                rescued += await self._rescue_one(job)
        if not patience and await self._database.read(maintenance.any_lease_too_long):
            log.warning("the clock was set back; leases are shortened to what a lease can be")
            await self._database.run(maintenance.clamp_leases, name="rescue", durable=False)
        if dead:
            await self._database.run(lambda: maintenance.forget_workers(dead), name="rescue", durable=False)
        await self._end_deferred_cancels()
        if rescued:
            self._delivery.announce(())
        return rescued

    async def _rescue_one(self, lost: LostJob) -> bool:
        status = await self._with_and_without_hook(
            lost.kind, lambda kinds: maintenance.rescue(lost, kinds, _pause_after(lost.crashes)), "rescue"
        )
        if status is None:
            return False
        log.warning("worker %s went silent; its job %d is now %s", lost.worker, lost.id, status)
        self._tell([lost.id])
        return status is Status.QUEUED

    async def _dead_workers(self) -> list[str]:
        cards = [card for card, _, _ in await self._database.read(maintenance.list_workers)]
        return await asyncio.to_thread(lambda: [card.uid for card in cards if process.is_dead(card.process)])

    def _clock_is_steady(self) -> bool:
        """After the clock jumped ahead every lease looks old. Wait one lease, in which the living renew theirs."""
        wall, steady = self._clock.now_ms(), time.monotonic()
        if self._last_look is not None:
            ahead = (wall - self._last_look[0]) - (steady - self._last_look[1]) * 1000
            if ahead > CLOCK_STEP:
                log.warning("the clock jumped ahead by %.0f s; no lease is called old for a while", ahead / 1000)
                self._trust_clock_from = steady + self._lease / 1000
        self._last_look = (wall, steady)
        return steady >= self._trust_clock_from

    async def _end_deferred_cancels(self) -> None:
        for deferred in await self._database.read(lambda: maintenance.find_deferred_cancels(self._kinds)):
            await self._with_and_without_hook(deferred.kind, partial(maintenance.end_deferred_cancel, deferred), "cancel")
            self._tell([deferred.id])

    async def _with_and_without_hook[T](self, kind: str, unit: Callable[[Kinds], Work[T]], name: str) -> T | None:
        """End a job with its kind's settling hook; if the hook fails, without. None if neither worked: next beat, again."""
        for kinds in (self._kinds, endings.without_hook(self._kinds, kind)):
            try:
                return await self._database.run(partial(unit, kinds), name=name)
            except Exception:
                log.exception("ending a job of kind %s failed", kind)
        return None

    async def prune(self) -> int:
        """Delete what is past its retention, a batch at a time, so that nobody waits long for the writer."""
        deleted = 0
        while not self._stopping.is_set():
            batch = await self._database.run(lambda: maintenance.prune(PRUNE_BATCH), name="prune", durable=False)
            deleted += batch
            if batch < PRUNE_BATCH:
                break
        log.log(logging.INFO if deleted else logging.DEBUG, "pruned %d jobs past their retention", deleted)
        return deleted

    async def announce_again(self) -> None:
        """Whatever was announced and lost is announced once more. By the others too, though seldom: a leader that does not
        know a kind says nothing of its jobs."""
        self._rounds += 1
        if self._delivery.sweep > 0 and not self._leads() and self._rounds % UNLED_ROUNDS:
            return
        if (await self._database.read(lambda: jobs.survey(self._kinds, look_for_work=True))).ready:
            await self._delivery.announce_again(self._kinds, self._waiting)

    async def watch_coverage(self) -> None:
        """Warn of kinds that no running worker takes."""
        if self._leads():
            await self._coverage_watch.look()
        else:
            self._coverage_watch.forget()

    async def _waiting(self) -> list[Notice]:
        return make_notices(await self._database.read(partial(queries.waiting, self._kinds)), self._kinds)

    async def fire_schedules(self, *, patience: int = 0) -> int:
        """Submit the jobs of ticks that have come. The unique tick decides between processes."""
        mine = {schedule.name: schedule for schedule in self._schedules}
        fired = 0
        for schedule, last in await self._database.read(maintenance.list_schedules):
            if schedule.name in mine:
                fired += await self._fire(mine[schedule.name], last, patience)
        if fired:
            self._delivery.announce(())
        return fired

    async def _fire(self, schedule: Schedule, last: int, patience: int) -> int:
        now = self._clock.now_ms()
        ticks = ticks_between(schedule.cron, last, now - patience)
        due = choose_ticks(ticks, schedule.missed, now)
        fired = 0
        for tick in due:
            new = self._make(schedule)
            fired += await self._database.run(partial(maintenance.fire, schedule, tick, new), name="schedule")
        if ticks and not due:
            await self._database.run(lambda: maintenance.skip_to(schedule, ticks[-1]), name="schedule")
        return fired


def _pause_after(crashes: int) -> float:
    """The first crash may be anybody's; a job that was there twice waits, longer each time."""
    return 0.0 if crashes == 0 else min(60.0, 2.0**crashes)


def ticks_between(cron: str, after: int, until: int) -> list[int]:
    """The ticks in (after, until], oldest first, the latest hundred at most: searched backwards, so a year is no work."""
    start = from_ms(until + 1000)
    ticks: list[int] = []
    for tick in CronSim(cron, start, reverse=True):
        moment = int(tick.timestamp() * 1000)
        if moment <= after or len(ticks) == MOST_MISSED:
            break
        if moment <= until:
            ticks.append(moment)
    return ticks[::-1]


def choose_ticks(ticks: list[int], missed: Missed, now: int) -> list[int]:
    """Which of the ticks that have come are fired."""
    match missed:
        case Missed.ALL:
            return ticks
        case Missed.ONE:
            return ticks[-1:]
        case Missed.SKIP:
            return [tick for tick in ticks[-1:] if now - tick <= LATE]


def next_tick(cron: str, after: datetime) -> datetime:
    return next(CronSim(cron, after.astimezone(UTC)))
