"""What the machine expects: plain values in dictionaries, changed step by step as the promises say.

The model never predicts what is the store's to choose (which number comes next, which of several answers). It is told
what the store answered, objects if that answer breaks a promise, and then knows how every row must look.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pressroom.model import (
    Answer,
    Claim,
    GaveUp,
    OnKey,
    PartlySucceeded,
    Postponed,
    Released,
    Retry,
    Status,
    Stopped,
    Submitted,
    Succeeded,
)
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settled
from pressroom.store.jobs.rescue import LostJob
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.store.jobs.transitions import Kinds
from tests.machine.law import Violation, demand
from tests.machine.mirror import Item

DAY = 86_400_000


class Payload(NamedTuple):
    """One version of what a job renders.

    `number` counts submits. `revision` is the number of the submit that first brought this content: a retry brings old
    content under a new number.
    """

    number: int
    revision: int
    text: str
    digest: str | None
    cache_for: int


@dataclass(slots=True, eq=False)
class Job:
    id: int
    uid: str
    kind: str
    org: str
    key: str | None
    tier: int
    seq: int | None  # None: a new number, greater than every one before
    run_at: int
    payloads: list[Payload]
    retention: int
    max_crashes: int
    parent: str | None = None
    retry_of: str | None = None
    status: Status = Status.QUEUED
    failures: int = 0
    crashes: int = 0
    errors: int = 0
    token: int = 0
    worker: str | None = None
    lease_until: int | None = None
    phase: str | None = None
    progress: str | None = None
    asked: bool = False  # a cancel was accepted
    reason: str | None = None
    superseded_by: str | None = None
    result: str | None = None
    prune_after: int | None = None
    answers: int = 0  # the newest submit that this job's current payload answers
    behind: bool = False  # it renders the same as a running job of its key, because a newer payload stood between them

    @property
    def version(self) -> int:
        return len(self.payloads)

    @property
    def payload(self) -> Payload:
        return self.payloads[-1]

    @property
    def queued(self) -> bool:
        return self.status is Status.QUEUED

    @property
    def thing(self) -> tuple[str, str, str | None]:
        """What completed payloads are ordered by."""
        return (self.org, self.kind, self.key)

    def __str__(self) -> str:
        return f"job {self.id} ({self.kind}, key {self.key!r}, {self.status}, version {self.version})"


class Waiter(NamedTuple):
    """Somebody who was answered with a job and a version, and waits for it."""

    job: Job
    version: int
    revision: int


@dataclass
class Model:
    kinds: Kinds
    jobs: dict[int, Job] = field(default_factory=dict)  # also those that were pruned
    by_uid: dict[str, Job] = field(default_factory=dict)
    open: dict[int, Job] = field(default_factory=dict)
    waiters: list[Waiter] = field(default_factory=list)
    cache: dict[str, tuple[int, int]] = field(default_factory=dict)
    items: dict[Item, str] = field(default_factory=dict)
    paused: set[str] = field(default_factory=set)
    limits: dict[str, int] = field(default_factory=dict)  # how many of a kind may be in progress
    published: dict[tuple[str, str, str | None], int] = field(default_factory=dict)
    ticks: dict[int, str] = field(default_factory=dict)  # of the one schedule, with the job of each
    last_tick: int | None = None
    submits: int = 0
    highest: int = 0  # the greatest number given so far

    # What this step must have left behind.
    touched: set[int] = field(default_factory=set)
    events: list[tuple[int, str]] = field(default_factory=list)
    hooked: list[tuple[str, str]] = field(default_factory=list)

    def begin_step(self) -> None:
        self.touched.clear()
        self.events.clear()
        self.hooked.clear()

    # Submitting

    def submitted(self, new: CheckedJob, said: Submitted, now: int) -> None:
        possible = self.answers_to(new, now)
        if said.answer not in possible:
            raise Violation(self._law_of(new, said.answer, possible), f"{new} was answered {said}; possible: {[*possible]}")
        job = possible[said.answer]
        self.submits += 1
        payload = self._payload_of(new)
        run_at = max(now + new.delay, new.run_at or 0)
        if job is None:
            job = self._born(new, said, payload, run_at)
        else:
            demand(said.uid == job.uid and said.id == job.id, "I8", "{} was answered with {}, not with {}", new, said, job)
        match said.answer:
            case Answer.HIT:
                self._publish_hit(new, job)
            case Answer.JOINED:
                job.answers = self.submits
                self._raise_tier(job, new.tier)
                self._happened(job, "joined")
            case Answer.SKIPPED:
                self._raise_tier(job, new.tier)
            case Answer.COALESCED:
                self._coalesce(job, new, payload, run_at)
        demand(said.version == job.version, "I8", "{} names version {}, but {} has {}", said, said.version, job, job.version)
        self.waiters.append(Waiter(job, said.version, job.payload.revision))

    def answers_to(self, new: CheckedJob, now: int) -> dict[Answer, Job | None]:
        """What a submit may be answered, and with which job: mostly one thing.

        Where others of the key are open, a hit or a join is left out if it would let an older payload come last (I9), and
        may be left out to be on the safe side.
        """
        possible: dict[Answer, Job | None] = {}
        policy = self.kinds[new.kind].on_key
        line = [job for job in self.open.values() if new.key is not None and job.key == new.key and job.org == new.org_id]
        mine = [job for job in line if job.kind == new.kind and not job.asked]
        queued = [job for job in mine if job.queued]
        if new.fingerprint is not None:
            digest = new.fingerprint.digest
            entry = self.cache.get(digest)
            if entry is not None and entry[1] > now and not (mine and policy is OnKey.COALESCE):
                possible[Answer.HIT] = self.jobs[entry[0]]
                if not line:
                    return possible
            same = [job for job in self.open.values() if job.payload.digest == digest and job.key == new.key and not job.asked]
            if policy is OnKey.COALESCE:
                same = [job for job in same if all(_place(job) >= _place(newer) for newer in queued)]
            last = [job for job in same if all(_place(job) >= _place(other) for other in line if other.queued)]
            if same:
                possible[Answer.JOINED] = min(last or same, key=_place)
                if last:
                    return possible
        if mine and policy is OnKey.COALESCE and new.retry_of is not None:
            possible[Answer.SKIPPED] = max(mine, key=_place)  # it is newer than what is to be retried
        elif queued and policy is not OnKey.LINE_UP:
            possible[Answer.SKIPPED if policy is OnKey.SKIP else Answer.COALESCED] = max(queued, key=_place)
        else:
            possible[Answer.NEW] = None
        return possible

    def _law_of(self, new: CheckedJob, said: Answer, possible: Iterable[Answer]) -> str:
        by_input = {Answer.HIT, Answer.JOINED}
        if said in by_input and any(job.thing == (new.org_id, new.kind, new.key) for job in self.open.values()):
            return "I9"
        return "I11" if said in by_input or by_input & set(possible) else "I8"

    def _payload_of(self, new: CheckedJob) -> Payload:
        revision = self.by_uid[new.retry_of].payload.revision if new.retry_of else self.submits
        digest = new.fingerprint.digest if new.fingerprint else None
        return Payload(self.submits, revision, new.payload, digest, new.cache_for)

    def _born(self, new: CheckedJob, said: Submitted, payload: Payload, run_at: int) -> Job:
        demand(said.id > self.highest, "order", "{} has a number that was given before", said)
        self.highest = said.id
        job = Job(
            id=said.id,
            uid=new.uid,
            kind=new.kind,
            org=new.org_id,
            key=new.key,
            tier=new.tier,
            seq=said.id,
            run_at=run_at,
            payloads=[payload],
            retention=new.retention,
            max_crashes=new.max_crashes,
            parent=new.parent,
            retry_of=new.retry_of,
            answers=self.submits,
        )
        job.behind = self._has_double(job)
        self.jobs[job.id] = self.by_uid[job.uid] = self.open[job.id] = job
        self._happened(job, "queued")
        return job

    def _coalesce(self, job: Job, new: CheckedJob, payload: Payload, run_at: int) -> None:
        newer = payload.revision >= job.payload.revision
        demand(newer, "I8", "the older {} took the place of the newer one of {}", payload, job)
        job.payloads.append(payload)
        job.answers = self.submits
        job.run_at = min(job.run_at, run_at)
        job.failures = 0
        job.behind = self._has_double(job)
        self._raise_tier(job, new.tier)
        self._happened(job, "coalesced")

    def _has_double(self, job: Job) -> bool:
        digest = job.payload.digest
        return digest is not None and any(
            other is not job and other.payload.digest == digest and other.key == job.key and not other.asked
            for other in self.open.values()
        )

    def _raise_tier(self, job: Job, tier: int) -> None:
        job.tier = min(job.tier, tier)
        self.touched.add(job.id)

    def _publish_hit(self, new: CheckedJob, job: Job) -> None:
        demand(job.status is Status.COMPLETED, "I11", "a hit on {}, which did not complete", job)
        if new.key is not None:
            self.published[(new.org_id, new.kind, new.key)] = self.submits

    # Claiming

    def claimed(
        self, claims: Sequence[Claim], worker: str, kinds: Iterable[str], room: FreeSlots, now: int, lease: int
    ) -> None:
        background = sum(claim.tier > 0 for claim in claims)
        demand(len(claims) <= room.total, "I16", "{} claims in {}", len(claims), room)
        demand(background <= room.background, "I16", "{} background claims in {}", background, room)
        demand(sorted(claims, key=_order) == claims, "order", "claims came out of order: {}", claims)
        for claim in claims:
            job = self.open.get(claim.id)
            if job is None or not job.queued:
                raise Violation("I4", f"{claim} was given though {job} is not waiting")
            demand(not job.asked, "I19", "{} was claimed after it was cancelled", job)
            claimable = job.kind in kinds and job.kind not in self.paused
            demand(claimable, "I15", "{} was claimed, of a kind that was not asked for, or is paused", job)
            demand(claim.token == job.token + 1, "I4", "{} was claimed with token {} after {}", job, claim.token, job.token)
            demand(claim.payload == job.payload.text, "I8", "{} was claimed with {}, not {}", job, claim.payload, job.payload)
            told = (claim.uid, claim.version, claim.failures, claim.crashes, claim.tier, claim.key, claim.org_id)
            mine = (job.uid, job.version, job.failures, job.crashes, job.tier, job.key, job.org)
            demand(told == mine, "frame", "the claim {} does not tell {}", told, mine)
            demand(self.may_place(job, claim.seq), "order", "{} moved from place {} to {}", job, job.seq, claim.seq)
            job.seq = claim.seq
            job.status, job.token, job.worker, job.lease_until = Status.IN_PROGRESS, claim.token, worker, now + lease
            job.phase = job.progress = None
            self._happened(job, "started")

    def running(self) -> Counter[str]:
        """How many of each kind are in progress."""
        return Counter(job.kind for job in self.open.values() if job.status is Status.IN_PROGRESS)

    def is_full(self, kind: str) -> bool:
        return kind in self.limits and self.running()[kind] >= self.limits[kind]

    def holds(self, claim: Claim) -> bool:
        job = self.open.get(claim.id)
        return job is not None and job.status is Status.IN_PROGRESS and job.token == claim.token

    # Settling

    def settled(self, said: Settled, kinds: Kinds, now: int) -> None:
        claim, outcome = said.claim, said.outcome
        if not self.holds(claim):
            demand(said.status is None, "I4", "a stale claim settled: {}", said)
            return
        job = self.open[claim.id]
        self._count(job, outcome)
        status, superseded_by = self._meaning_of(job, said)
        law = "I19" if job.asked else "I9" if superseded_by else "I3"
        demand(said.status is status, law, "{} was settled as {}, not {}, by {}", job, said.status, status, outcome)
        if status.ended:
            result = outcome.result if isinstance(outcome, Succeeded | PartlySucceeded) and not job.asked else None
            self._ended(job, status, kinds, now, superseded_by=superseded_by, result=result)
        else:
            job.status, job.lease_until = Status.QUEUED, None
            job.run_at = now + (0 if isinstance(outcome, Released) else int(outcome.wait * 1000))  # type: ignore[union-attr]
            if not isinstance(outcome, Released):
                job.seq = None
            self._happened(job, _EVENTS[type(outcome)])

    def _count(self, job: Job, outcome: object) -> None:
        """Only a failed attempt costs one."""
        job.failures += isinstance(outcome, Retry | GaveUp)
        job.errors += isinstance(outcome, Retry | GaveUp | PartlySucceeded)

    def _meaning_of(self, job: Job, said: Settled) -> tuple[Status, Job | None]:
        if job.asked:
            return Status.CANCELLED, None
        match said.outcome:
            case Succeeded():
                return Status.COMPLETED, None
            case PartlySucceeded():
                return Status.COMPLETED_WITH_ERRORS, None
            case GaveUp():
                return Status.FAILED, None
            case Stopped():
                return Status.CANCELLED, None
        successor = self.successor_of(job)
        return (Status.QUEUED, None) if successor is None else (Status.CANCELLED, successor)

    def successor_of(self, job: Job) -> Job | None:
        """The newer payload that takes over from an unfinished attempt of a kind that coalesces."""
        if job.key is None or self.kinds[job.kind].on_key is not OnKey.COALESCE:
            return None
        waiting = [
            other
            for other in self.open.values()
            if other is not job and other.thing == job.thing and other.queued and not other.asked
        ]
        return max(waiting, key=_place, default=None)

    def _ended(
        self, job: Job, status: Status, kinds: Kinds, now: int, *, superseded_by: Job | None = None, result: str | None = None
    ) -> None:
        """A job ends, by a process that knows `kinds`. One that does not know its hook may not end it."""
        job.status, job.result, job.lease_until, job.prune_after = status, result, None, now + job.retention
        del self.open[job.id]
        if superseded_by is not None:
            job.superseded_by = superseded_by.uid
            newer = superseded_by.payload.revision >= job.payload.revision
            demand(newer, "I8", "{} was superseded by an older payload, that of {}", job, superseded_by)
        if status in (Status.COMPLETED, Status.COMPLETED_WITH_ERRORS):
            self._publish(job)
        if status is Status.COMPLETED and job.payload.digest is not None and job.payload.cache_for > 0:
            self.cache[job.payload.digest] = (job.id, now + job.payload.cache_for)
        if job.kind in kinds and kinds[job.kind].settling is not None:
            self.hooked.append((job.uid, status))
        self._happened(job, status)

    def _publish(self, job: Job) -> None:
        """I9: of one thing, what completes later was submitted later.

        Held for kinds that coalesce, where the newest payload is meant to win. A line is worked off by tier and place, and
        an attempt that failed goes to its end; of skipped submits any run is as good as another.
        """
        if job.key is None or self.kinds[job.kind].on_key is not OnKey.COALESCE:
            return
        last = self.published.get(job.thing, 0)
        demand(job.answers > last, "I9", "{} completed submit {} after submit {} was answered", job, job.answers, last)
        self.published[job.thing] = job.answers

    def given_back(self, said: Sequence[Settled], worker: str, held: Iterable[Claim], kinds: Kinds, now: int) -> None:
        """What a worker was given and knows nothing of is released, which costs nothing (I15, I17); what it holds is not."""
        mine = {(job.id, job.token) for job in self.open.values() if job.worker == worker and job.lease_until is not None}
        known = {(claim.id, claim.token) for claim in held}
        released = {(one.claim.id, one.claim.token) for one in said}
        demand(released <= mine - known, "I5", "{} gave back {}, and holds {} of {}", worker, released, known, mine)
        demand(released == mine - known, "I16", "{} gave back {}, but was given {}", worker, released, mine - known)
        for settled in said:
            demand(isinstance(settled.outcome, Released), "I15", "what nobody worked on ended: {}", settled)
            self.settled(settled, kinds, now)

    # What a worker tells

    def wrote_phase(self, claim: Claim, phase: str, progress: dict[str, object]) -> None:
        job = self.open[claim.id]
        job.phase, job.progress = phase, compact(progress)
        self._happened(job, "phase")

    def wrote_progress(self, claim: Claim, progress: dict[str, object]) -> None:
        job = self.open[claim.id]
        job.progress = compact(progress)
        self._happened(job, "progress")

    def began_items(self, claim: Claim, noun: str, names: Sequence[str]) -> None:
        """A phase that is begun again starts anew."""
        self.wrote_phase(claim, noun, {"items": noun})
        for name in names:
            self.items[(claim.id, claim.token, noun, name)] = "in_progress"

    def moved_item(self, claim: Claim, noun: str, name: str, state: str) -> None:
        self.items[(claim.id, claim.token, noun, name)] = state
        self._happened(self.open[claim.id], "item")

    def forgot_items(self, id: int) -> None:
        self.items = {item: state for item, state in self.items.items() if item[0] != id}

    def renewed(self, claims: Iterable[Claim], until: int) -> None:
        for claim in claims:
            self.open[claim.id].lease_until = until
            self.touched.add(claim.id)

    # Cancelling, rescuing, pruning

    def cancelled(self, job: Job, reason: str, kinds: Kinds, now: int) -> None:
        if job.status.ended or job.asked:
            return
        job.asked, job.reason = True, reason
        if job.queued and self._may_end(job, kinds):
            self._ended(job, Status.CANCELLED, kinds, now)
        else:
            self._happened(job, "cancelling")

    def _may_end(self, job: Job, kinds: Kinds) -> bool:
        return job.kind in kinds or self.kinds[job.kind].settling is None

    def ended_deferred(self, id: int, kinds: Kinds, now: int) -> None:
        job = self.open.get(id)
        if job is not None and job.queued:
            self._ended(job, Status.CANCELLED, kinds, now)

    def rescued(self, lost: LostJob, said: Status | None, kinds: Kinds, wait: float, now: int) -> None:
        """A rescue of what was seen at an earlier look."""
        job = self.open.get(lost.id)
        if job is None or job.status is not Status.IN_PROGRESS or job.token != lost.claim:
            demand(said is None, "I4", "{} was rescued a second time, as {}", lost, said)
            return
        if not lost.dead and job.lease_until is not None and job.lease_until > now:
            demand(said is None, "I5", "{} was taken from a worker that has shown life since it was called lost", job)
            return
        fate, successor = self._fate_of(job)
        if fate is not Status.QUEUED and not self._may_end(job, kinds):
            demand(said is None, "I3", "{} was ended as {} by a process that does not know its hook", job, said)
            return
        law = "I19" if job.asked else "I17"
        demand(said is fate, law, "{}, which lost {} workers before, was rescued as {}, not {}", job, job.crashes, said, fate)
        job.crashes += 1
        if fate is Status.QUEUED:
            job.status, job.lease_until, job.run_at = Status.QUEUED, None, now + int(wait * 1000)
            self._happened(job, "lost")
        else:
            job.errors += 1
            self._ended(job, fate, kinds, now, superseded_by=successor)

    def _fate_of(self, job: Job) -> tuple[Status, Job | None]:
        """What becomes of a job whose worker went silent, and which one takes over."""
        if job.asked:
            return Status.CANCELLED, None
        if job.crashes + 1 >= job.max_crashes:
            return Status.FAILED, None
        successor = self.successor_of(job)
        return (Status.QUEUED, None) if successor is None else (Status.CANCELLED, successor)

    def clamped(self, now: int, lease: int) -> None:
        for job in self.open.values():
            if job.lease_until is not None and job.lease_until > now + lease:
                job.lease_until = now + lease
                self.touched.add(job.id)

    def may_prune(self, job: Job, now: int) -> bool:
        """I20: ended, past its time, and nothing refers to it: no answer in the cache, no open child."""
        return (
            job.prune_after is not None
            and job.prune_after <= now
            and all(job.id != id for id, expires_at in self.cache.values() if expires_at > now)
            and all(child.parent != job.uid for child in self.open.values())
        )

    def pruned(self, now: int) -> None:
        self.cache = {digest: entry for digest, entry in self.cache.items() if entry[1] > now}
        self.ticks = {tick: job for tick, job in self.ticks.items() if tick >= now - DAY or tick >= (self.last_tick or 0)}

    # Schedules

    def scheduled(self, now: int) -> None:
        if self.last_tick is None:
            self.last_tick = now

    def fired(self, tick: int, said: Submitted | None, new: CheckedJob, now: int) -> None:
        """I22: a tick is fired once, and stands for the job that its submit was answered with."""
        demand((said is None) == (tick in self.ticks), "I22", "the tick {} of {} was answered {}", tick, self.ticks, said)
        if said is not None:
            self.submitted(new, said, now)
            self.ticks[tick] = said.uid
            self.last_tick = max(self.last_tick or 0, tick)

    def _happened(self, job: Job, event: str) -> None:
        self.touched.add(job.id)
        self.events.append((job.id, event))

    def may_place(self, job: Job, seq: int) -> bool:
        """A place in the line is kept; after a failed or postponed attempt it is one that nobody had before."""
        return seq > self.highest if job.seq is None else seq == job.seq


_EVENTS = {Retry: "retrying", Postponed: "postponed", Released: "released"}


def _place(job: Job) -> int:
    return job.seq or 0


def _order(claim: Claim) -> tuple[int, int]:
    return (claim.tier, claim.seq)
