"""The worker: claim what there is room for, run it, settle it together with the next claim."""

import asyncio
import contextlib
import logging
import math
import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from pressroom.delivery import Delivery, Offer
from pressroom.errors import ArtifactStoreMismatch, Cancelled, PressroomError, StoreUnavailable
from pressroom.model import VERSION, Claim, Kind, Outcome, Released, Status, Work
from pressroom.outages import Outage
from pressroom.store import Database
from pressroom.store.jobs import endings, fairness, jobs, maintenance, transitions
from pressroom.store.jobs.endings import Settled, Settlement
from pressroom.store.jobs.jobs import Room, Turn
from pressroom.worker import process
from pressroom.worker.context import RunningJob
from pressroom.worker.counters import UNEXPECTED, SlotUsage, WorkerCounters
from pressroom.worker.judge import Preempted, WorkerStopping, judge, timed_out
from pressroom.worker.lease import LeaseKeeper
from pressroom.worker.offers import Offers
from pressroom.worker.report import log_ending
from pressroom.worker.run import Attempt
from pressroom.worker.threads import Threads

log = logging.getLogger("pressroom.worker")

STOP_GRACE = 1.5  # what is told to stop has this long to do so; then it is left behind
PREEMPT_AFTER = 1.0  # seconds
TICK = 0.1  # how often time limits are looked at
HANDFUL = 50  # enough finished jobs to be worth a commit of their own
WAKE_EVERY = 0.5  # seconds, for a worker beside others that always finds something to do
SERVE_AGAIN = 1.0  # seconds after a delivery failed altogether
SHORT = 0.05  # seconds that an offer may wait for a slot here while another worker may have one
STOPPING, FAILED = "worker_stopping", "worker_failed"  # why a worker claims nothing; public, in docs/errors.md
TURNS_IN_FLIGHT = 2  # one is being written while the handlers of the other run


@dataclass
class Tally:
    """What a worker has seen, for the curious and the tests."""

    claimed: int = 0
    settled: int = 0
    stale: int = 0
    abandoned: int = 0
    ended: dict[Status, int] = field(default_factory=dict)


class Worker:
    """Runs jobs in a number of slots. Background work leaves one slot free, so that somebody who waits need not."""

    def __init__(
        self,
        database: Database,
        delivery: Delivery,
        kinds: dict[str, Kind],
        tell: Callable[[list[int]], None],
        *,
        name: str,
        slots: int,
        lease: float = 15.0,
        poll: float = 0.1,
        luck: Callable[[], float] = random.random,
        counters: WorkerCounters | None = None,
    ) -> None:
        self.name = name
        self.slots = slots
        self.tally = Tally()
        self.counters = WorkerCounters() if counters is None else counters
        self.counters.add_kinds(kinds)
        self._database = database
        self._delivery = delivery
        self._kinds = kinds
        self._tell = tell
        self._lease = lease
        self._poll = poll
        self._luck = luck
        self._reserved = 1 if slots > 1 else 0
        self._batch = max(1, (slots + 1) // 2)
        self._running: dict[tuple[int, int], Attempt] = {}  # by job and token: a job may come back while its zombie still runs
        self._background = 0
        self._finished: list[Settlement] = []
        self._turns: set[asyncio.Task[None]] = set()
        self._asked = Room(0, 0)
        self._looks = math.isfinite(delivery.sweep)  # for work itself, or is it only ever told
        self._hungry = self._looks
        self._is_shared = False  # whether jobs of several organisations waited when we last looked
        self._served_last = ""  # the organisation after which others have their turn
        self._looked_at = 0.0
        self._offers = Offers()
        self._lent = 0  # slots of those in `_running` that wait for another job
        self._freed = asyncio.Event()
        self._usual_time = SHORT  # of an attempt
        self._store_outage = Outage("settling and claiming", log, self.counters.count_database_error)
        self._unknown = Outage("asking what the last turn claimed", log, self.counters.count_database_error)
        self._heartbeat_outage = Outage("the heartbeat", log, self.counters.count_database_error)
        self._took: dict[tuple[int, int], float] = {}  # seconds of attempts that are not settled yet
        self._news = 0
        self._unsure = False
        self._due = False
        self._limited: frozenset[str] = frozenset()
        self._woke_at = 0.0
        self._wake = asyncio.Event()
        self._claiming = True
        self._stopping = False
        self._idle = asyncio.Event()
        self._threads = Threads()
        self._tasks: list[asyncio.Task[None]] = []
        self._keeper = LeaseKeeper(database, lease, self._held, self._heard_from_keeper, self._card, self._heartbeat_outage)

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._database.run(
            lambda: maintenance.save_worker(self._card()), name="heartbeat", durable=False, shared_lock=True
        )
        self._keeper.start()
        self._wake.set()
        for part in (self._take_turns, self._be_served, self._poll_database, self._watch_the_time):
            self._tasks.append(asyncio.create_task(part(), name=f"pressroom-{part.__name__}"))

    async def stop(self, grace: float, *, drain: bool = False) -> int:
        """Stop claiming, finish what runs within the grace, release the rest. Returns how many had to be released.

        Leases are kept until the end. With `drain` the queue is emptied first, as far as the grace allows: for a
        database that will not survive us.
        """
        deadline = time.monotonic() + grace
        self._claiming, self._stopping = drain, True
        self._offers.refuse_all()
        await self._until_idle(deadline)
        while drain and await self._due_by(deadline):
            await self._until_idle(deadline)
        self._claiming = False
        if self._turns:
            await asyncio.wait(self._turns, timeout=STOP_GRACE)  # a claim under way may still bring jobs
        released = await self._release_all()
        await self._until_idle(time.monotonic() + STOP_GRACE)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._keeper.stop)
        self._threads.close()
        with contextlib.suppress(PressroomError):
            await self._database.run(lambda: maintenance.delete_worker(self.name), name="heartbeat", durable=False)
        return released

    def stop_job(self, id: int) -> None:
        """Stop a job that was cancelled, if it runs here."""
        for attempt in self._running.values():
            if attempt.claim.id == id:
                attempt.job.cancelled = True
                attempt.interrupt(Cancelled(), STOP_GRACE)

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def slot_usage(self) -> SlotUsage:
        """A handler that waits for another job and has released its slot is not busy."""
        return SlotUsage(self.slots, len(self._running) - self._lent)

    @property
    def claim_problem(self) -> str | None:
        """The code of what keeps this worker from claiming jobs, as far as it is known without asking the database."""
        if self._stopping or not self._claiming:
            return STOPPING
        if any(task.done() for task in self._tasks):
            return FAILED
        for outage in (self._store_outage, self._unknown, self._heartbeat_outage):
            if (reason := outage.reason) is not None:
                return reason.code if isinstance(reason, PressroomError) else UNEXPECTED
        return None

    async def _take_turns(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._unsure and not self._turns:
                await self._give_back_unknown()
            while len(self._turns) < TURNS_IN_FLIGHT and self._has_work() and not self._unsure:
                self._begin_turn()
            self._note_idleness()

    async def _give_back_unknown(self) -> None:
        """A turn failed, and may be committed all the same. What it claimed is ours, and nobody here knows of it."""
        held = {*self._running, *((one.claim.id, one.claim.token) for one in self._finished)}
        try:
            released = await self._database.run(lambda: jobs.give_back(self.name, held, self._kinds), name="turn")
        except Exception as reason:
            self._loop.call_later(self._unknown.failed(reason), self._wake.set)
            return
        self._unknown.recovered()
        self._unsure = False
        for one in released:
            log.warning("job_%s was claimed, but the answer was lost; it goes back to the queue", one.claim.uid)

    def _has_work(self) -> bool:
        if self._finished:
            return True
        room = self._room()
        if not self._claiming or room.total <= 0:
            return False
        return self._hungry or self._offers.any_for(room)

    def _room(self) -> Room:
        """Free slots, not counting those that a turn under way has asked for."""
        busy = len(self._running) - self._lent + self._asked.total
        total = min(self.slots - busy, self._batch)
        return Room(total, min(total, self.slots - self._reserved - self._background - self._asked.background))

    def _begin_turn(self) -> None:
        settlements, self._finished = self._finished, []
        room = self._room() if self._claiming else Room(0, 0)
        room = Room(max(0, room.total), max(0, room.background))
        offers = self._offers.pick(room)
        if offers:
            room = Room(len(offers), sum(offer.tier > 0 for offer in offers))
        elif not self._hungry:
            room = Room(0, 0)
        self._asked = Room(self._asked.total + room.total, self._asked.background + room.background)
        task = asyncio.Task(self._turn(settlements, offers, room), loop=self._loop, eager_start=True)
        if not task.done():
            self._turns.add(task)

    async def _turn(self, settlements: list[Settlement], offers: list[Offer], room: Room) -> None:
        news, failed = self._news, True
        try:
            result = await self._settle_and_claim(settlements, offers, room)
            failed = False
            self._store_outage.recovered()
        except StoreUnavailable as reason:
            self._finished = settlements + self._finished
            self._offers.put_back(offers)
            await asyncio.sleep(self._store_outage.failed(reason))
            result = None
        except Exception:
            log.exception("a turn failed")
            result = await self._settle_one_by_one(settlements)
            self._offers.refuse(offers)
            offers = []
            await asyncio.sleep(self._poll)
        self._unsure = self._unsure or failed
        self._asked = Room(self._asked.total - room.total, self._asked.background - room.background)
        self._note_room()  # it may have found nothing for the slots that it asked for
        self._turns.discard(cast("asyncio.Task[None]", asyncio.current_task()))
        if result is not None:
            self._account_for(result.settled)
            self._served_last = fairness.served_last(result.claims, self._served_last)
            if offers:
                self._offers.answer(offers, result)
                self._note_room()
            elif len(result.claims) < room.total and news == self._news:
                self._hungry = False
            for claim in result.claims:
                self._begin(claim)
                if len(self._finished) >= HANDFUL and len(self._turns) < TURNS_IN_FLIGHT:
                    self._begin_turn()  # let these be written while the handlers of the rest run
        self._wake.set()

    async def _settle_and_claim(self, settlements: Sequence[Settlement], offers: Sequence[Offer], room: Room) -> Turn:
        shared_lock = self._may_run_beside(settlements)
        named = [offer.uid for offer in offers]
        self.counters.claim_statements += room.total > 0

        def unit() -> Work[Turn]:
            # fmt: off
            return jobs.turn(settlements, self.name, self._kinds, room, int(self._lease * 1000), self._kinds,
                             named=named, in_turn=self._is_shared, shared_lock=shared_lock, after=self._served_last)
            # fmt: on

        return await self._database.run(unit, name="turn", durable=bool(settlements), shared_lock=shared_lock)

    def _may_run_beside(self, settlements: Sequence[Settlement]) -> bool:
        """Not if it is to wake those whose time has come. A worker that is never idle does so now and then all the same.

        Nor if it settles a job of a limited kind: the next of that kind can only be counted in by one who is alone.
        """
        now = time.monotonic()
        if any(one.claim.kind in self._limited for one in settlements):
            return False
        if self._due or now - self._woke_at > WAKE_EVERY:
            self._due, self._woke_at = False, now
            return False
        return self._database.has_concurrent_writers and all(endings.is_plain(one.claim, self._kinds) for one in settlements)

    async def _settle_one_by_one(self, settlements: Sequence[Settlement]) -> Turn:
        """A settling hook raised. The others are settled without it; its own job is settled with that error."""
        settled: list[Settled] = []
        for settlement in settlements:
            claim, kind = settlement.claim, self._kinds[settlement.claim.kind]
            for kinds in (self._kinds, self._kinds, endings.without_hook(self._kinds, claim.kind)):
                try:
                    settled += (await self._settle_alone(settlement, kinds)).settled
                    break
                except StoreUnavailable as reason:  # nobody's fault: it is settled when the store is back
                    self._store_outage.failed(reason)
                    self._finished.append(settlement)
                    break
                except Exception as error:
                    log.exception("settling job_%s failed", claim.uid)
                    settlement = Settlement(claim, judge(claim, kind, error, self._luck()))
        return Turn(settled, [])

    async def _settle_alone(self, settlement: Settlement, kinds: transitions.Kinds) -> Turn:
        def unit() -> Work[Turn]:
            return jobs.turn([settlement], self.name, (), Room(0, 0), 0, kinds)

        return await self._database.run(unit, name="turn")

    def _account_for(self, settled: Sequence[Settled]) -> None:
        for one in settled:
            self._offers.settled(one)
            took = self._took.pop((one.claim.id, one.claim.token), None)
            self.counters.count_settled(one)
            if one.status is None:
                self.tally.stale += 1
                log.warning("job_%s was taken away while it ran here; its late result was refused", one.claim.uid)
                continue
            log_ending(one, took)
            self.tally.settled += 1
            self.tally.ended[one.status] = self.tally.ended.get(one.status, 0) + 1
        if settled:
            self._tell([one.claim.id for one in settled])

    def _begin(self, claim: Claim) -> None:
        self.tally.claimed += 1
        self.counters.claimed[claim.kind] += 1
        self._background += claim.tier > 0
        job = RunningJob(claim, self._database, self._tell, self._lend)
        attempt = self._running[claim.id, claim.token] = Attempt(claim, self._kinds[claim.kind], job, self._threads)
        # Most of the way is not worth a round through the event loop: an eager task runs until it first has to wait.
        task = asyncio.Task(self._carry_out(attempt), loop=self._loop, eager_start=True)
        if not task.done():
            attempt.task = task
            self._tell([claim.id])

    @contextlib.contextmanager
    def _lend(self, claim: Claim) -> Iterator[None]:
        """The slot of a handler that waits for another job is free meanwhile. As many may be lent as there are slots."""
        if self._lent >= self.slots:
            yield
            return
        self._lent += 1
        self._background -= claim.tier > 0
        self._note_room()
        self.hear()
        try:
            yield
        finally:
            self._lent -= 1
            self._background += claim.tier > 0

    async def _carry_out(self, attempt: Attempt) -> None:
        result = await attempt.make()
        if attempt.over:
            return
        claim = attempt.claim
        if isinstance(result, BaseException) and not isinstance(result, PressroomError):
            log.error("job_%s (%s), attempt %d failed", claim.uid, claim.kind, claim.attempt, exc_info=result)
        if isinstance(result, StoreUnavailable | ArtifactStoreMismatch):
            self.counters.count_error(result.dependency, result)
        self._finish(attempt, judge(claim, attempt.kind, result, self._luck()))

    def _finish(self, attempt: Attempt, outcome: Outcome) -> None:
        attempt.over = True
        claim = attempt.claim
        took = self._took[claim.id, claim.token] = time.monotonic() - attempt.begun
        self.counters.count_attempt(claim.kind, took)
        self._usual_time += (took - self._usual_time) / 16
        del self._running[claim.id, claim.token]
        self._background -= claim.tier > 0
        self._finished.append(Settlement(claim, outcome))
        found = not self._offers.brought(claim)  # by looking, and where one was found there may be more
        if self._delivery.sweep == 0 or claim.key is not None or found:
            self.hear()  # a slot is free, and settling this one may make another ready
        self._note_room()
        self._wake.set()

    async def _be_served(self) -> None:
        while True:
            try:
                await self._delivery.serve(self)
            except Exception as reason:
                self.counters.count_error(self._delivery_name, reason)
                log.exception("delivery failed; trying again")
            await asyncio.sleep(SERVE_AGAIN)

    def hear(self) -> None:
        """Work may have come: look for it, if this worker ever looks."""
        self._news += 1
        self._hungry = self._looks
        self._wake.set()

    @property
    def kinds(self) -> Collection[str]:
        return self._kinds

    def offer(self, offer: Offer) -> None:
        """Here is a job by name. It is claimed when there is room, or refused."""
        if not self._claiming:
            offer.refused(0.0)
            return
        self._offers.add(offer)
        self._wake.set()

    def free_slots(self) -> tuple[int, int]:
        """Room for offers: in all, and for background work. Those that were made and not answered yet count as taken.

        Where jobs are short, offers are taken ahead of the slots that they will need, so that a turn which settles also claims.
        """
        if not self._claiming:
            return 0, 0
        background = self._offers.background
        ahead = self.slots if self._usual_time < SHORT else 0
        busy = len(self._running) - self._lent + self._asked.total
        total = self.slots + ahead - busy - self._offers.interactive - background
        most = self.slots - self._reserved + ahead - self._background - self._asked.background - background
        return max(0, total), max(0, min(total, most))

    async def slot_freed(self) -> None:
        await self._freed.wait()
        self._freed.clear()

    def _note_room(self) -> None:
        self._freed.set()

    async def _poll_database(self) -> None:
        """The floor under delivery: work that nobody announced, jobs that another process cancelled."""
        outage = Outage("looking for work", log, self.counters.count_database_error)
        while True:
            await asyncio.sleep(self._poll)
            looking = self._may_look()
            if not looking and not self._running:
                continue
            try:
                by_name = self._delivery.sweep > 0
                look = partial(jobs.survey, look_for_work=looking, by_name=by_name, preemptible=self._preemptible())
                found = await self._database.read(partial(look, self._kinds))
            except Exception as reason:
                await asyncio.sleep(outage.failed(reason))
                continue
            outage.recovered()
            self._is_shared = found.shared
            for id, token in found.cancelling:
                if (id, token) in self._running:
                    self.stop_job(id)
            for attempt in [one for one in self._running.values() if one.claim.id in found.preempted]:
                attempt.interrupt(Preempted(), STOP_GRACE)
            if looking:
                self._limited = found.limited
            if found.ready:
                self._due = self._due or found.due
                self.hear()

    def _preemptible(self) -> list[int]:
        """What is nearly done is not worth stopping, so a little time is given to each."""
        begun_by = time.monotonic() - PREEMPT_AFTER
        return [
            attempt.claim.id
            for attempt in self._running.values()
            if attempt.kind.preempt and attempt.claim.key is not None and attempt.stop_by is None and attempt.begun <= begun_by
        ]

    def _may_look(self) -> bool:
        if self._hungry or not self._looks or not self._claiming or self._room().total <= 0:
            return False
        now = time.monotonic()
        if now - self._looked_at < self._delivery.sweep:
            return False
        self._looked_at = now
        return True

    async def _watch_the_time(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            for attempt in list(self._running.values()):
                if attempt.stop_by is None and now >= attempt.deadline:
                    attempt.interrupt(timed_out(attempt.kind), STOP_GRACE)
                elif attempt.stop_by is not None and now >= attempt.stop_by:
                    self._abandon(attempt)

    def _abandon(self, attempt: Attempt) -> None:
        """It would not stop. Its slot is freed and its job settled; whatever it still writes is refused."""
        self.tally.abandoned += 1
        claim, reason = attempt.claim, attempt.stopped or Cancelled()
        log.error("job_%s (%s) did not stop when told to; it was left behind", claim.uid, claim.kind)
        self._finish(attempt, judge(claim, attempt.kind, reason, self._luck()))

    async def _release_all(self) -> int:
        left = list(self._running.values())
        for attempt in left:
            attempt.interrupt(WorkerStopping(), STOP_GRACE)
        tasks = [attempt.task for attempt in left if attempt.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)
        for attempt in left:
            if not attempt.over:
                self._finish(attempt, Released())
            log.info("job_%s was stopped and goes back to the queue", attempt.claim.uid)
        return len(left)

    async def _due_by(self, deadline: float) -> bool:
        """Wait for the next job whose time has not come yet. False if there is none before the deadline."""
        wait = await self._database.read(jobs.time_to_next_due)
        if wait is None or time.monotonic() + wait > deadline:
            return False
        await asyncio.sleep(wait)
        self.hear()
        return True

    async def _until_idle(self, deadline: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._loop.time() + max(0.0, deadline - time.monotonic())):
                self._idle.clear()
                self._wake.set()
                await self._idle.wait()

    def _note_idleness(self) -> None:
        if self._running or self._finished or self._turns:
            return
        if not (self._claiming and self._hungry):
            self._idle.set()

    def _held(self) -> list[tuple[int, int]]:
        """What the lease keeper should renew. Called from its thread."""
        now = time.monotonic()
        return [claim for claim, attempt in list(self._running.items()) if now < attempt.deadline + 2 * STOP_GRACE]

    def _heard_from_keeper(self, kept: dict[tuple[int, int], bool], asked: Sequence[tuple[int, int]]) -> None:
        lost = [claim for claim in asked if claim not in kept]
        cancelled = [id for (id, _), flag in kept.items() if flag]
        if lost or cancelled:
            self._loop.call_soon_threadsafe(self._act_on_keeper, lost, cancelled)

    def _act_on_keeper(self, lost: list[tuple[int, int]], cancelled: list[int]) -> None:
        for id, token in lost:
            attempt = self._running.get((id, token))
            if attempt is not None:
                log.warning("job_%s was taken away from this worker; stopping it", attempt.claim.uid)
                attempt.interrupt(Cancelled("the claim was lost"), STOP_GRACE)
        for id in cancelled:
            self.stop_job(id)

    @property
    def _delivery_name(self) -> str:
        return type(self._delivery).__name__.lower()

    def _card(self) -> maintenance.WorkerRecord:
        return maintenance.WorkerRecord(
            self.name,
            process.identity(),
            sorted(self._kinds),
            self.slots,
            len(self._running),
            host=process.host(),
            pid=process.pid(),
            version=VERSION,
            delivery=self._delivery_name,
            lease=int(self._lease * 1000),
            stopping=self._stopping,
        )
