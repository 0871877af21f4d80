"""The attempts of one worker: those that run in its slots, and those that ended and are not settled yet."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pressroom.definitions import Kind
from pressroom.errors import ArtifactStoreMismatch, Cancelled, PressroomError, StoreUnavailable
from pressroom.model import Claim, Outcome, Released
from pressroom.store import Database
from pressroom.store.jobs.endings import Settled, Settlement
from pressroom.worker.context import RunningJob
from pressroom.worker.counters import WorkerCounters
from pressroom.worker.judge import Preempted, WorkerStopping, judge, timeout_error
from pressroom.worker.report import log_attempt
from pressroom.worker.run import Attempt
from pressroom.worker.slots import WorkerSlots
from pressroom.worker.threads import HandlerThreads

log = logging.getLogger("pressroom.worker")

STOP_GRACE = 1.5  # seconds that a handler has to stop; then it is abandoned
PREEMPT_AFTER = 1.0  # seconds
TIME_LIMIT_INTERVAL = 0.1  # seconds between two looks at the time limits

type ClaimKey = tuple[int, int]  # job id and token: a job may be claimed again while its abandoned attempt still runs


@dataclass
class AttemptCounts:
    """Of one worker, since it started."""

    settled: int = 0
    stale: int = 0  # whose claim was lost before they were settled
    abandoned: int = 0


class Attempts:
    """Begins attempts, limits their time and stops them. What each comes to waits in `ended` to be settled."""

    def __init__(
        self,
        database: Database,
        kinds: dict[str, Kind],
        slots: WorkerSlots,
        notify: Callable[[list[int]], None],
        counters: WorkerCounters,
        random: Callable[[], float],
    ) -> None:
        self.counts = AttemptCounts()
        self.running: dict[ClaimKey, Attempt] = {}
        self.ended: list[Settlement] = []
        self.on_end: Callable[[Claim], None] = _do_nothing
        self.on_slot_release: Callable[[], None] = _do_nothing
        self._seconds: dict[ClaimKey, float] = {}  # of attempts that are not settled yet
        self._database = database
        self._kinds = kinds
        self._slots = slots
        self._notify = notify
        self._counters = counters
        self._random = random
        self._threads = HandlerThreads()
        self._releases: dict[ClaimKey, int] = {}  # of jobs whose slot is released: how many blocks of theirs are open
        self._loop = asyncio.get_running_loop()

    @property
    def known_claims(self) -> set[ClaimKey]:
        return {*self.running, *((one.claim.id, one.claim.token) for one in self.ended)}

    def begin_attempt(self, claim: Claim) -> None:
        self._counters.claimed[claim.kind] += 1
        self._slots.begin_attempt(claim.tier)
        job = RunningJob(claim, self._database, self._notify, self._release_slot)
        attempt = self.running[claim.id, claim.token] = Attempt(claim, self._kinds[claim.kind], job, self._threads)
        # An eager task runs until it first waits: a handler that never does costs no round through the event loop.
        task = asyncio.Task(self._run(attempt), loop=self._loop, eager_start=True)
        if not task.done():
            attempt.task = task
            self._notify([claim.id])

    async def _run(self, attempt: Attempt) -> None:
        result = await attempt.run()
        if attempt.has_ended:
            return
        claim = attempt.claim
        if isinstance(result, BaseException) and not isinstance(result, PressroomError):
            log.error("job_%s (%s), attempt %d failed", claim.uid, claim.kind, claim.attempt, exc_info=result)
        if isinstance(result, StoreUnavailable | ArtifactStoreMismatch):
            self._counters.count_error(result.dependency, result)
        self._record_outcome(attempt, judge(claim, attempt.kind, result, self._random()))

    def _record_outcome(self, attempt: Attempt, outcome: Outcome) -> None:
        attempt.has_ended = True
        claim = attempt.claim
        seconds = self._seconds[claim.id, claim.token] = time.monotonic() - attempt.started_at
        self._counters.count_attempt(claim.kind, seconds)
        self._take_slot_back(claim)
        self._slots.end_attempt(claim.tier, seconds)
        del self.running[claim.id, claim.token]
        self.ended.append(Settlement(claim, outcome))
        self.on_end(claim)

    @contextlib.contextmanager
    def _release_slot(self, claim: Claim) -> Iterator[None]:
        """A job has one slot: the first of several releases gives it away, and the last to end takes it back."""
        key = (claim.id, claim.token)
        if key not in self._releases:
            if key not in self.running or not self._slots.release(claim.tier):
                yield
                return
            self._releases[key] = 0
            self.on_slot_release()
        self._releases[key] += 1
        try:
            yield
        finally:
            if key in self._releases:  # else the attempt has ended, and its handler went on
                self._releases[key] -= 1
                if not self._releases[key]:
                    self._take_slot_back(claim)

    def _take_slot_back(self, claim: Claim) -> None:
        if self._releases.pop((claim.id, claim.token), None) is not None:
            self._slots.take_back(claim.tier)

    def take_settlements(self) -> list[Settlement]:
        ended, self.ended = self.ended, []
        return ended

    def put_back_settlements(self, settlements: Sequence[Settlement]) -> None:
        """They could not be settled; the next turn tries again."""
        self.ended = [*settlements, *self.ended]

    def record_settled(self, settled: Sequence[Settled]) -> None:
        for one in settled:
            seconds = self._seconds.pop((one.claim.id, one.claim.token), None)
            self._counters.count_settled(one)
            if one.status is None:
                self.counts.stale += 1
                log.warning("job_%s was taken away while it ran here; its late result was refused", one.claim.uid)
                continue
            log_attempt(one, seconds)
            self.counts.settled += 1
        if settled:
            self._notify([one.claim.id for one in settled])

    async def enforce_time_limits(self) -> None:
        while True:
            await asyncio.sleep(TIME_LIMIT_INTERVAL)
            now = time.monotonic()
            for attempt in list(self.running.values()):
                if attempt.stop_by is None and now >= attempt.deadline:
                    attempt.interrupt(timeout_error(attempt.kind), STOP_GRACE)
                elif attempt.stop_by is not None and now >= attempt.stop_by:
                    self._abandon(attempt)

    def _abandon(self, attempt: Attempt) -> None:
        """Free the slot of a handler that did not stop, and settle its job. What it still writes is refused."""
        self.counts.abandoned += 1
        claim, reason = attempt.claim, attempt.stop_reason or Cancelled()
        log.error("job_%s (%s) did not stop when told to; it was left behind", claim.uid, claim.kind)
        self._record_outcome(attempt, judge(claim, attempt.kind, reason, self._random()))

    def cancel_job(self, id: int) -> None:
        """Stop a job that was cancelled, if it runs here."""
        for attempt in self.running.values():
            if attempt.claim.id == id:
                attempt.job.cancelled = True
                attempt.interrupt(Cancelled(), STOP_GRACE)

    def cancel_claims(self, claims: Iterable[ClaimKey]) -> None:
        for id, token in claims:
            if (id, token) in self.running:
                self.cancel_job(id)

    def preempt(self, ids: Collection[int]) -> None:
        for attempt in [one for one in self.running.values() if one.claim.id in ids]:
            attempt.interrupt(Preempted(), STOP_GRACE)

    def preemptible_ids(self) -> list[int]:
        """Jobs that a newer payload of their key may stop, once each has had a little time: it may be nearly done."""
        started_by = time.monotonic() - PREEMPT_AFTER
        return [
            attempt.claim.id
            for attempt in self.running.values()
            if attempt.kind.preempt
            and attempt.claim.key is not None
            and attempt.stop_by is None
            and attempt.started_at <= started_by
        ]

    async def release_all(self) -> int:
        """Stop every attempt; its job goes back to the queue. Returns how many there were."""
        left = list(self.running.values())
        for attempt in left:
            attempt.interrupt(WorkerStopping(), STOP_GRACE)
        tasks = [attempt.task for attempt in left if attempt.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)
        for attempt in left:
            if not attempt.has_ended:
                self._record_outcome(attempt, Released())
            log.info("job_%s was stopped and goes back to the queue", attempt.claim.uid)
        return len(left)

    def close(self) -> None:
        self._threads.close()

    def leases_to_renew(self) -> list[ClaimKey]:
        """Called from the lease keeper's thread. Not those past their time limit, so that a hanging job is taken over."""
        now = time.monotonic()
        return [claim for claim, attempt in list(self.running.items()) if now < attempt.deadline + 2 * STOP_GRACE]

    def handle_renewal(self, renewed: dict[ClaimKey, bool], requested: Sequence[ClaimKey]) -> None:
        """Called from the lease keeper's thread. `renewed` tells whether the job was cancelled; the other leases are lost."""
        lost = [claim for claim in requested if claim not in renewed]
        cancelled = [id for (id, _), is_cancelled in renewed.items() if is_cancelled]
        if lost or cancelled:
            self._loop.call_soon_threadsafe(self._stop_lost_and_cancelled, lost, cancelled)

    def _stop_lost_and_cancelled(self, lost: list[ClaimKey], cancelled: list[int]) -> None:
        for claim in lost:
            attempt = self.running.get(claim)
            if attempt is not None:
                log.warning("job_%s was taken away from this worker; stopping it", attempt.claim.uid)
                attempt.interrupt(Cancelled("the claim was lost"), STOP_GRACE)
        for id in cancelled:
            self.cancel_job(id)


def _do_nothing(*_: object) -> None:
    """Until a loop takes its place."""
