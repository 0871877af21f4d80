"""The real store on one side, the expectations on the other. Every deed is done to both, and then they are compared."""

from collections import deque
from collections.abc import Sequence

import msgspec

from pressroom.errors import ClaimLost, InvalidArgument, NotFinished, NotFound
from pressroom.model import Answer, Claim, Ending, Row, Statement, Status, Submitted, Succeeded, Work
from pressroom.store.engine import fsck
from pressroom.store.jobs import claiming, concurrency_limits, endings, fairness, progress, queries, rescue, submitting
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.store.jobs.claiming import FreeSlots, Turn
from pressroom.store.jobs.endings import Settlement
from pressroom.store.jobs.rescue import DeferredCancel, LostJob
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.store.jobs.transitions import Kinds, now
from pressroom.submission.request import copy_for_retry
from pressroom.worker.judge import EncodedResult, judge
from tests.machine import invariants
from tests.machine.kinds import (
    AT_EACH_HOUR,
    EVERY_KIND,
    HOUR,
    HOURLY,
    LEASE,
    USUAL,
    WORKERS,
    RenderRequest,
    input_of,
    make_kinds,
)
from tests.machine.law import demand
from tests.machine.model import Job, Model
from tests.machine.named import expected_by_name
from tests.machine.stages import Stage

NOUN, ITEMS = "editions", ["main", "v2"]
WHY = "no longer wanted"


class World:
    """One story: a fresh database and everything that was done to it."""

    def __init__(self, stage: Stage, *, wakes: bool = False) -> None:
        """`wakes`: nobody claims beside others while there is somebody to be woken, so that it makes no difference."""
        self.stage = stage
        self.clock = stage.clock
        self.mirror = stage.mirror
        self._wakes = wakes
        self._turns = 0
        self.told: list[object] = []  # what the store answered, in the last rule
        self.heard: list[tuple[str, str]] = []
        self.kinds = make_kinds(self._hear)
        self.model = Model(self.kinds)
        self.held: dict[str, list[Claim]] = {worker: [] for worker in WORKERS}
        self.after = dict.fromkeys(WORKERS, "")  # the organisation that each worker served last
        self.ghosts: deque[Claim] = deque(maxlen=10)  # claims whose worker lost them, gave them back or died
        self.spotted: deque[LostJob] = deque(maxlen=6)
        self.deferred: list[DeferredCancel] = []
        self.sound = True
        self.kills = 0

    def _hear(self, ending: Ending) -> None:
        """What every kind's hook does."""
        self.heard.append((ending.uid, ending.status))

    # Submitting

    def submit(self, asked: RenderRequest) -> Submitted:
        new = self._new(asked)
        answer = self._do(submitting.submit(new))
        self.model.submitted(new, answer, self.clock.now)
        self._check()
        return answer

    def submit_many(self, wishes: Sequence[RenderRequest], parent: Job | None) -> None:
        """As `Queue.submit_many` does: in one transaction, by the short way if all are plain."""
        many = [self._new(asked, parent, nth) for nth, asked in enumerate(wishes)]
        plain = all(new.key is None and new.fingerprint is None for new in many)
        answers = self._do(submitting.insert_new_jobs(many) if plain else _one_by_one(many), shared_lock=plain)
        for new, answer in zip(many, answers, strict=True):
            self.model.submitted(new, answer, self.clock.now)
        self._check()

    def retry(self, job: Job) -> None:
        made: list[CheckedJob] = []

        def make(row: Row) -> CheckedJob:
            made.append(msgspec.structs.replace(copy_for_retry(row), uid=_uid(self.model.submits + 1)))
            return made[0]

        gone = job.id not in self.mirror.jobs
        try:
            answer = self._do(submitting.retry(job.uid, make, _room_for_all))
        except NotFound:
            demand(gone, "I20", "{} is not found", job)
        except NotFinished:
            demand(not job.status.ended, "I3", "{} is said not to have ended", job)
        else:
            demand(job.status.ended and not gone, "I3", "{} was run again though it has not ended", job)
            self.model.submitted(made[0], answer, self.clock.now)
        self._check()

    def _new(self, asked: RenderRequest, parent: Job | None = None, nth: int = 0) -> CheckedJob:
        kind = self.kinds[asked.kind]
        number = self.model.submits + 1 + nth
        return CheckedJob(
            uid=_uid(number),
            kind=asked.kind,
            tier=asked.tier,
            payload=f'{{"submit":{number}}}',
            on_key=kind.on_key,
            max_attempts=kind.max_attempts,
            max_crashes=kind.max_crashes,
            retention=int(kind.retention.total_seconds() * 1000),
            delay=asked.delay,
            key=asked.key,
            fingerprint=input_of(asked.kind, asked.org, asked.source),
            cache_for=asked.cache_for,
            org_id=asked.org,
            parent=None if parent is None else parent.uid,
        )

    # A worker's turn

    def claim(self, worker: str, kinds: Sequence[str], room: FreeSlots) -> list[Claim]:
        return self.turn(worker, (), kinds, room)

    def turn(
        self,
        worker: str,
        results: Sequence[tuple[Claim, EncodedResult | BaseException]],
        kinds: Sequence[str],
        room: FreeSlots,
        *,
        hookless: bool = False,
        named: Sequence[str] = (),
        heard_of: bool = True,
    ) -> list[Claim]:
        """Settle what has ended, claim what there is room for, or what is named. `hookless`: the kind's hook failed and is left
        out. `heard_of`: the answer reaches the worker.
        """
        settlements = [Settlement(claim, judge(claim, self.kinds[claim.kind], result, 0.5)) for claim, result in results]
        own = endings.without_hook(self.kinds, settlements[0].claim.kind) if hookless else self.kinds
        if self.stage.has_concurrent_writers and not settlements:
            self._makes_no_difference(worker, kinds, room, named)
        shared_lock = self._goes_beside([one.claim for one in settlements], own, named)
        startable = self._startable(worker, kinds, shared_lock=shared_lock) if named and not settlements else None
        after = self.after[worker]
        unit = claiming.settle_and_claim(
            settlements, worker, kinds, room, LEASE, own, named=named, shared_lock=shared_lock, last_served_org=after
        )
        turn = self._do(unit, shared_lock=shared_lock)
        stale = bool(results) and not room.total and not any(self.model.holds(claim) for claim, _ in results)
        demand([one.claim for one in turn.settled] == [one.claim for one in settlements], "frame", "not all were settled")
        for settled in turn.settled:
            self.model.settled(settled, own, self.clock.now)
            self._give_up(settled.claim)
        if named:
            self._as_named(turn, named, kinds, startable, shared_lock=shared_lock)
            room = FreeSlots(len(named), len(named))  # whoever offers by name has seen to the room
        self.model.claimed(turn.claims, worker, kinds, room, self.clock.now, LEASE)
        if heard_of:
            self.held[worker] += turn.claims
            self.after[worker] = fairness.last_org_served(turn.claims, after)
        self._check(law="I4" if stale else None)
        if room.total and not named:
            at = self.clock.now
            invariants.check_order_of_claims(
                self.model, self.mirror, turn.claims, kinds, room, at, after, shared_lock=shared_lock
            )
        return turn.claims

    def _as_named(
        self, turn: Turn, named: Sequence[str], kinds: Sequence[str], startable: set[str] | None, *, shared_lock: bool
    ) -> None:
        taken = {claim.uid for claim in turn.claims}
        if startable is not None:
            demand(taken <= startable, "named", "{} were taken; to the best belong {}", taken, startable)
        given, again = expected_by_name(self.model, self.mirror, named, kinds, self.clock.now, shared_lock=shared_lock)
        demand(taken == given, "named", "of {} there were given {}, not {}", named, taken, given)
        demand(turn.again == again, "named", "when to ask again is {}, not {}", turn.again, again)

    def _startable(self, worker: str, kinds: Sequence[str], *, shared_lock: bool) -> set[str]:
        """The jobs that a claim with enough slots would take. Under a `shared_lock` no job becomes the candidate of its key, so
        a job may start before a better one of its key whose time has come.
        """
        room = FreeSlots(1_000, 1_000)
        best = (
            _due_awake(claiming.claim_concurrently(worker, kinds, room, LEASE))
            if shared_lock
            else claiming.claim(worker, kinds, room, LEASE)
        )
        return {claim.uid for claim in self.stage.rehearse(_unlimited(best))}

    def _goes_beside(self, claims: Sequence[Claim], kinds: Kinds, named: Sequence[str]) -> bool:
        """Every other turn, where it may."""
        self._turns += 1
        allowed = self.stage.has_concurrent_writers and all(endings.changes_only_own_row(claim, kinds) for claim in claims)
        differs = self._somebody_is_due() or (self.model.limits and not named)
        return allowed and self._turns % 2 == 1 and not (self._wakes and differs)

    def _somebody_is_due(self) -> bool:
        return any(row.waits_for == "time" and row.run_at <= self.clock.now for row in self.mirror.open.values())

    def _makes_no_difference(self, worker: str, kinds: Sequence[str], room: FreeSlots, named: Sequence[str]) -> None:
        """Kinds with a limit are left alone by who claims the best beside others; by name it gets them too."""
        alone: object
        shared_lock: object
        if named:
            alone = self.stage.rehearse(claiming.claim_named(worker, named, kinds, LEASE, shared_lock=False))
            shared_lock = self.stage.rehearse(_all_awake(claiming.claim_named(worker, named, kinds, LEASE, shared_lock=True)))
        else:
            after = self.after[worker]
            alone = self.stage.rehearse(_without_limited(claiming.claim(worker, kinds, room, LEASE, after)))
            shared_lock = self.stage.rehearse(_all_awake(claiming.claim_concurrently(worker, kinds, room, LEASE, after)))
        demand(alone == shared_lock, "beside", "alone one gets {}, and beside others {}", alone, shared_lock)

    def settle(self, claim: Claim, result: EncodedResult | BaseException, *, hookless: bool = False) -> None:
        self.turn(WORKERS[0], [(claim, result)], (), FreeSlots(0, 0), hookless=hookless)

    def give_back(self, worker: str) -> None:
        """The worker is unsure whether it was given what it never heard of."""
        held = self.held[worker]
        said = self._do(claiming.release_unknown_claims(worker, {(claim.id, claim.token) for claim in held}, self.kinds))
        self.model.given_back(said, worker, held, self.kinds, self.clock.now)
        for settled in said:
            self._give_up(settled.claim)
        self._check()

    def crash(self, worker: str) -> None:
        """The worker forgets what it holds. It may come back as a ghost and settle late."""
        for claim in list(self.held[worker]):
            self._give_up(claim)

    def _give_up(self, claim: Claim) -> None:
        for claims in self.held.values():
            if claim in claims:
                claims.remove(claim)
        if claim not in self.ghosts:
            self.ghosts.append(claim)

    def is_held_by_another(self, claim: Claim) -> bool:
        job = self.model.open.get(claim.id)
        return job is not None and job.status is Status.IN_PROGRESS and job.token != claim.token

    # What a worker tells about a job that it holds, or believes it holds

    def renew(self, claims: Sequence[Claim]) -> None:
        kept = self._do(claiming.renew([(claim.id, claim.token) for claim in claims]), shared_lock=True)
        live = [claim for claim in claims if self.model.holds(claim)]
        expected = {(claim.id, claim.token): self.model.open[claim.id].asked for claim in live}
        demand(kept == expected, "I4", "{} were kept of {}", kept, claims)
        self.model.renewed(live, self.clock.now + LEASE)
        self._check(law=None if live else "I4")

    def begin_phase(self, claim: Claim) -> None:
        shown: dict[str, object] = {"done": 0, "total": 3}
        if self._fenced(claim, progress.begin_phase(claim.id, claim.token, "fonts", shown)):
            self.model.wrote_phase(claim, "fonts", shown)
        self._check(law=None if self.model.holds(claim) else "I4")

    def show_progress(self, claim: Claim, done: int) -> None:
        shown: dict[str, object] = {"done": done, "total": 3}
        if self.model.jobs[claim.id].phase == NOUN:
            shown = {"items": NOUN, "message": f"{done} looked at"}
        if self._fenced(claim, progress.save_progress(claim.id, claim.token, shown)):
            self.model.wrote_progress(claim, shown)
        self._check(law=None if self.model.holds(claim) else "I4")

    def begin_items(self, claim: Claim) -> None:
        if self._fenced(claim, progress.begin_items(claim.id, claim.token, NOUN, NOUN, ITEMS, None)):
            self.model.began_items(claim, NOUN, ITEMS)
        self._check(law=None if self.model.holds(claim) else "I4")
        self._items_add_up(claim)

    def has_items(self, claim: Claim) -> bool:
        return (claim.id, claim.token, NOUN, ITEMS[0]) in self.model.items

    def move_item(self, claim: Claim, name: str, state: str) -> None:
        movable = self.model.items.get((claim.id, claim.token, NOUN, name)) == "in_progress"
        error = "torn" if state == "failed" else None
        try:
            moved = self._fenced(claim, progress.move_item(claim.id, claim.token, NOUN, name, state, error))
        except InvalidArgument:
            demand(self.model.holds(claim) and not movable, "I23", "the item {!r} of {} cannot be moved", name, claim)
        else:
            if moved:
                demand(movable, "I23", "the item {!r} of {} was moved twice, or never begun", name, claim)
                self.model.moved_item(claim, NOUN, name, state)
        self._check(law=None if self.model.holds(claim) else "I4")
        self._items_add_up(claim)

    def _fenced(self, claim: Claim, work: Work[bool]) -> bool:
        """Do a worker's write. Whether it was let through must be known before."""
        live = self.model.holds(claim)
        try:
            asked = self._do(work, shared_lock=True)
        except ClaimLost:
            demand(not live, "I4", "{} is live, yet its write was refused", claim)
            return False
        demand(live, "I4", "a write of the stale {} was let through", claim)
        demand(asked == self.model.open[claim.id].asked, "I19", "the worker of {} is not told whether to stop", claim)
        return True

    def _items_add_up(self, claim: Claim) -> None:
        """I23, as people see it: completed, failed and in progress are all there are, of the current attempt only."""
        job = self.model.jobs[claim.id]
        if job.phase != NOUN or claim.id not in self.mirror.jobs:
            return
        shown = self.stage.run(queries.get(claim.uid)).progress or {}
        states = [state for (id, token, *_), state in self.model.items.items() if (id, token) == (job.id, job.token)]
        told = [len(shown[f"{NOUN}_{state}"]) for state in ("in_progress", "completed", "failed")]
        mine = [states.count(state) for state in ("in_progress", "completed", "failed")]
        demand(sum(told) == shown[f"{NOUN}_total"], "I23", "the items do not add up: {}", shown)
        demand(told == mine, "I23", "the items are {}, not {}", mine, shown)

    # What others do

    def cancel(self, job: Job, kinds: Kinds) -> None:
        gone = job.id not in self.mirror.jobs
        try:
            id = self._do(endings.cancel(job.uid, kinds, WHY))
        except NotFound:
            demand(gone, "I20", "{} is not found", job)
        else:
            demand(id == job.id and not gone, "I19", "{} was cancelled as {}", job, id)
            self.model.cancelled(job, WHY, kinds, self.clock.now)
        self._check()

    def end_deferred_cancels(self, kinds: Kinds) -> None:
        """One sweep of the chore: look, then end each in a transaction of its own."""
        self.deferred = self._do(rescue.find_deferred_cancels(kinds))
        expected = {job.id for job in self.model.open.values() if job.queued and job.asked and job.kind in kinds}
        demand({one.id for one in self.deferred} == expected, "I19", "to be ended are {}, not {}", expected, self.deferred)
        self._check()
        self.end_deferred_late(kinds)

    def end_deferred_late(self, kinds: Kinds) -> None:
        """Act on the last look, however old."""
        for deferred in self.deferred:
            if deferred.kind in kinds:
                self._do(rescue.end_deferred_cancel(deferred, kinds))
                self.model.ended_deferred(deferred.id, kinds, self.clock.now)
                self._check()

    def spot_lost(self, dead: Sequence[str]) -> list[LostJob]:
        """Look for jobs whose worker went silent. What was seen may be old when it is acted upon."""
        found = self._do(rescue.find_lost(dead))
        now = self.clock.now
        silent = {
            job.id
            for job in self.model.open.values()
            if job.lease_until is not None and (job.lease_until <= now or job.worker in dead)
        }
        demand({lost.id for lost in found} == silent, "I17", "{} are called lost, not {}", found, silent)
        self.spotted.extend(found)
        self._check()
        return found

    def rescue(self, lost: LostJob, kinds: Kinds, wait: float) -> None:
        said = self._do(rescue.rescue(lost, kinds, wait))
        self.model.rescued(lost, said, kinds, wait, self.clock.now)
        if said is not None:
            for claim in [claim for claims in self.held.values() for claim in claims if claim.id == lost.id]:
                self._give_up(claim)
        self._check()

    def clamp_leases(self) -> None:
        now = self.clock.now
        too_long = any(job.lease_until is not None and job.lease_until > now + LEASE for job in self.model.open.values())
        demand(self.stage.run(rescue.any_lease_too_long()) == too_long, "I21", "a lease from before the clock was set back")
        self._do(rescue.clamp_leases())
        self.model.clamped(self.clock.now, LEASE)
        self._check()

    def prune(self) -> None:
        count = self._do(rescue.prune(1_000))
        self.model.pruned(self.clock.now)
        changes = invariants.check(self.model, self.mirror, self.clock.now)
        deleted = [before.id for before, after in changes if before is not None and after is None]
        demand(count == len(deleted), "I20", "{} were pruned, {} are gone", count, len(deleted))
        invariants.check_pruning(self.model, self.mirror, changes, self.clock.now)
        self._check()

    def pause(self, kind: str, paused: bool) -> None:
        self._do(kind_rows.set_paused(kind, paused))
        (self.model.paused.add if paused else self.model.paused.discard)(kind)
        self._check()

    def scale(self, kind: str, slots: int | None) -> None:
        self._do(concurrency_limits.set_limit(kind, slots))
        self.model.limits.pop(kind, None)
        if slots is not None:
            self.model.limits[kind] = slots
        self._check()

    def fire(self, hours_ago: int) -> None:
        """A process starts, saves its schedule, and fires a tick."""
        self._do(schedule_rows.save_schedule(HOURLY))
        self.model.scheduled(self.clock.now)
        tick = (self.clock.now // HOUR - hours_ago) * HOUR
        new = self._new(AT_EACH_HOUR)
        fired = self._do(schedule_rows.fire(HOURLY, tick, new))
        self.model.fired(tick, self.stage.run(_answer_to(tick, new)) if fired else None, new, self.clock.now)
        self._check()

    def survey(self, kinds: Sequence[str]) -> None:
        """An idle worker's look: is there work, and which running jobs are to be stopped."""
        found = self._do(claiming.survey(kinds, look_for_work=True))
        demand(found.ready == self.has_work(kinds), "line", "the survey says {} of {}", found, [*self.mirror.open.values()])
        demand(found.limited == self.model.limits.keys(), "limit", "limited are {}, not {}", self.model.limits, found.limited)
        asked = {(job.id, job.token) for job in self.model.open.values() if job.asked and job.status is Status.IN_PROGRESS}
        demand(set(found.cancelling) == asked, "I19", "to be stopped are {}, not {}", asked, found.cancelling)
        self._check()

    def has_work(self, kinds: Sequence[str] = EVERY_KIND) -> bool:
        """Whether a worker would find something: a job that may start, or one whose time has come."""
        now = self.clock.now
        closed = {kind for kind in kinds if kind in self.model.paused or self.model.is_full(kind)}
        queued = [row for row in self.mirror.open.values() if row.status == "queued"]
        ready = any(row.waits_for is None and row.kind in kinds and row.kind not in closed for row in queued)
        return ready or any(row.waits_for == "time" and row.run_at <= now for row in queued)

    def jump(self, seconds: float) -> None:
        self.clock.now += int(seconds * 1000)

    def kill(self, statements: int) -> None:
        """kill -9 in the middle of a worker's turn, or of a submit, and a new start on what it left behind."""
        self.model.begin_step()
        self.stage.kill(self._half_done(), statements)
        self.heard.clear()  # what the hook heard died with the process
        self.kills += 1
        demand(self.mirror.read_all() == self.mirror.jobs, "I1", "a kill changed jobs")
        demand(self.mirror.read_payloads() == self.mirror.payloads, "I1", "a kill changed payloads")
        self._check()

    def _half_done(self) -> Work[object]:
        held = [Settlement(claim, Succeeded('"never"')) for claims in self.held.values() for claim in claims]
        if held:
            return claiming.settle_and_claim(held, WORKERS[0], EVERY_KIND, FreeSlots(2, 2), LEASE, self.kinds)
        return submitting.submit(self._new(USUAL[0]))

    # Both sides

    def _do[T](self, work: Work[T], *, shared_lock: bool = False) -> T:
        """`shared_lock` is said as `Database.run` is told it."""
        self.sound = False
        self.heard.clear()
        self.model.begin_step()
        result = self.stage.run(work, shared_lock=shared_lock)
        self.told.append(result)
        return result

    def _check(self, *, law: str | None = None) -> None:
        invariants.check(self.model, self.mirror, self.clock.now, law=law)
        demand(self.heard == self.model.hooked, law or "I3", "hooks heard {}; ended: {}", self.heard, self.model.hooked)
        self.model.begin_step()
        self.heard.clear()
        self.sound = True

    # The end of a story

    def end(self) -> None:
        """The faults stop. Everything that was accepted comes to an end, and whoever waited is answered."""
        invariants.audit(self.model, self.mirror, self.stage.run(fsck.audit(self.stage.dialect)))
        self._drain()
        invariants.nothing_was_missed(self.mirror)
        invariants.check_waiters(self.model)

    def _drain(self) -> None:
        for kind in sorted(self.model.paused):
            self.pause(kind, False)
        for kind in sorted(self.model.limits):
            self.scale(kind, None)
        for lost in self.spot_lost(WORKERS):
            self.rescue(lost, self.kinds, 0.0)
        self.end_deferred_cancels(self.kinds)
        self.clock.now = max(self.clock.now, *(job.run_at for job in self.model.open.values()), 0)
        self._wakes = True  # as a worker that finds nothing else to do is told to
        rounds = len(self.model.open)
        results: list[tuple[Claim, EncodedResult | BaseException]] = []
        while self.model.open:
            demand(rounds >= 0, "line", "{} are never claimed", [*map(str, self.model.open.values())])
            claims = self.turn(WORKERS[0], results, EVERY_KIND, FreeSlots(1_000, 1_000))
            results = [(claim, EncodedResult('"drained"', ())) for claim in claims]
            rounds -= 1

    def close(self) -> None:
        self.stage.close(as_found=self.sound and not self.model.open)


def _uid(number: int) -> str:
    return f"{number:026d}"


def _room_for_all(_new: Sequence[CheckedJob]) -> Work[None]:
    yield from ()


def _one_by_one(many: Sequence[CheckedJob]) -> Work[list[Submitted]]:
    answers = []
    for new in many:
        answers.append((yield from submitting.submit(new)))
    return answers


def _due_awake[T](work: Work[T]) -> Work[T]:
    yield Statement("wake_due", {"now": (yield from now())})
    return (yield from work)


def _all_awake[T](work: Work[T]) -> Work[T]:
    yield from claiming.wake_due_keyed_jobs((yield from now()))
    return (yield from _due_awake(work))


def _without_limited[T](work: Work[T]) -> Work[T]:
    yield Statement("UPDATE kind SET paused = 1 WHERE slots IS NOT NULL")
    return (yield from work)


def _unlimited[T](work: Work[T]) -> Work[T]:
    yield Statement("UPDATE kind SET slots = NULL WHERE slots IS NOT NULL")
    return (yield from work)


def _answer_to(tick: int, new: CheckedJob) -> Work[Submitted]:
    """What the submit of a tick was answered, read off the rows."""
    answered = "SELECT id, uid, version FROM job WHERE uid = (SELECT job FROM schedule_tick WHERE tick = :tick)"
    ((id, uid, version),) = yield Statement(answered, {"tick": tick})
    answer = Answer.NEW if uid == new.uid else Answer.SKIPPED
    return Submitted(id=id, uid=uid, kind=new.kind, answer=answer, version=version)
