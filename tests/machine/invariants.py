"""The laws. Each is checked after every step, on what the step changed; `audit` checks the whole at the end of a story."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pressroom.model import Claim, OnKey, Status
from pressroom.store.engine import fsck
from pressroom.store.jobs.claiming import FreeSlots
from tests.machine.law import Violation, demand
from tests.machine.mirror import Change, Mirror, Row
from tests.machine.model import Job, Model

# Which promise a column keeps, for the name of the violation.
_LAWS = {
    "tier": "I12",
    "seq": "order",
    "failures": "I15",
    "crashes": "I17",
    "claim": "I4",
    "worker": "I4",
    "lease_until": "I4",
    "cancel_requested": "I19",
    "last_error": "I19",
    "version": "I8",
    "superseded_by": "I8",
    "phase": "I23",
    "progress": "I23",
    "status": "I3",
    "fingerprint": "I11",
    "prune_after": "I20",
}


def check(model: Model, mirror: Mirror, now: int, *, law: str | None = None) -> list[Change]:
    """Compare what a step changed with what it may have changed. `law` names the promise that a refused write would break."""
    changes = mirror.look()
    for change in changes:
        _ended_is_final(change, now)
    _rows_are_as_expected(model, mirror, changes, law)
    _history_tells_what_happened(model, mirror, law)
    _payloads_are_the_newest(model, mirror)
    demand(mirror.cache == model.cache, "I11", "the cache holds {}, not {}", mirror.cache, model.cache)
    if model.items:
        demand(mirror.read_items() == model.items, "I23", "items moved that nobody moved, or did not move")
    _limits_are_kept(model, mirror, changes)
    for line in {row.line for change in changes for row in change if row is not None}:
        if line is not None:
            _line_is_in_order(mirror, line)
    for _, after in changes:
        if after is not None and after.fingerprint is not None and after.open:
            _input_is_rendered_once(model, after)
    return changes


def _ended_is_final(change: Change, now: int) -> None:
    """I3, I20: an ended job changes no more, and only an ended job goes away, when its time has come."""
    before, after = change
    if after is None:
        assert before is not None
        demand(before.prune_after is not None and before.prune_after <= now, "I20", "deleted too early: {}", before)
    elif before is not None and not before.open:
        raise Violation("I3", f"an ended job changed: {before} became {after}")
    elif after.status == "queued":
        _waits_until_its_time(before, after, now)


def _waits_until_its_time(before: Row | None, after: Row, now: int) -> None:
    slept = before is not None and before.waits_for == "time"
    woken = before is not None and before.status == "queued" and not slept
    if after.cancel_requested:
        demand(after.waits_for == "cancel", "I19", "it was cancelled, yet it may start one day: {}", after)
    elif after.waits_for == "time":
        demand(slept or after.run_at > now, "line", "its time has come, yet it is to wait for it: {}", after)
    elif not woken:
        demand(after.run_at <= now, "line", "its time has not come, yet it may start: {}", after)


def _rows_are_as_expected(model: Model, mirror: Mirror, changes: Sequence[Change], law: str | None) -> None:
    for before, after in changes:
        if before is not None and after is None:
            demand(before.id not in model.open, "I20", "an open job was deleted: {}", before)
            model.forgot_items(before.id)
        elif after is not None:
            demand(after.id in model.jobs, "frame", "a job nobody submitted: {}", after)
            model.touched.add(after.id)
    highest = model.highest
    for id in model.touched:
        job = model.jobs[id]
        row = mirror.jobs.get(id)
        if row is None:
            demand(job.status.ended, law or "I1", "{} is gone", job)
            continue
        expected = _expected(model, job, row)
        if expected != row:
            _tell_difference(job, expected, row, law)
        job.seq = row.seq
        highest = max(highest, row.seq)
    model.highest = highest


def _expected(model: Model, job: Job, row: Row) -> Row:
    """The row as the model wants it. What no promise covers is taken from the row itself."""
    ended = job.status.ended
    return Row(
        id=job.id,
        uid=job.uid,
        kind=job.kind,
        tier=job.tier,
        seq=row.seq if ended or model.may_place(job, row.seq) else job.seq or model.highest + 1,
        run_at=row.run_at if ended else job.run_at,
        status=job.status,
        waits_for=row.waits_for,  # see _line_is_in_order
        phase=job.phase,
        progress=job.progress,
        failures=row.failures if ended else job.failures,
        crashes=job.crashes,
        claim=job.token,
        worker=job.worker,
        lease_until=job.lease_until,
        key=job.key,
        fingerprint=job.payload.digest,
        org_id=job.org,
        result=job.result,
        parent=job.parent,
        retry_of=job.retry_of,
        superseded_by=job.superseded_by,
        version=job.version,
        cancel_requested=int(job.asked),
        prune_after=job.prune_after,
        date_created=row.date_created,
        date_completed=None if job.prune_after is None else job.prune_after - job.retention,
        last_error=job.reason if job.asked else row.last_error,
        errors=row.errors if ended else job.errors,
    )


def _tell_difference(job: Job, expected: Row, row: Row, law: str | None) -> None:
    wrong = {name: (want, got) for name, want, got in zip(Row._fields, expected, row, strict=True) if want != got}
    name = next((name for name in _LAWS if name in wrong), "")
    story = ", ".join(f"{name} is {got!r}, not {want!r}" for name, (want, got) in wrong.items())
    raise Violation(law or _LAWS.get(name, "frame"), f"{job}: {story}")


def _history_tells_what_happened(model: Model, mirror: Mirror, law: str | None) -> None:
    """I3 among others: one ending in the history of a job that ended, none in that of one that did not."""
    if mirror.events != model.events:
        told, happened = sorted(mirror.events, key=_job_of), sorted(model.events, key=_job_of)
        demand(told == happened, law or "I3", "the history says {}; what happened is {}", told, happened)


def _job_of(event: tuple[int, str]) -> int:
    return event[0]


def _payloads_are_the_newest(model: Model, mirror: Mirror) -> None:
    for id in mirror.rewritten:
        job = model.jobs[id]
        demand(mirror.payloads[id] == job.payload.text, "I8", "{} holds {}, not {}", job, mirror.payloads[id], job.payload)


def _line_is_in_order(mirror: Mirror, line: tuple[str, str]) -> None:
    """Never two of a key in progress; and when none is, the best of those whose time has come may start, and only it."""
    running, ready, waiting = [], [], []
    for row in mirror.open.values():
        if row.line == line:
            if row.status == "in_progress":
                running.append(row)
            elif row.waits_for is None:
                ready.append(row)
            elif row.waits_for == "key":
                waiting.append(row)
    demand(len(running) <= 1, "line", "two of the key {} in progress: {}", line, running)
    if running:
        demand(not ready, "line", "{} may start while {} is in progress", ready, running)
    elif waiting or ready:
        demand(len(ready) == 1, "line", "of the key {} {} may start; {} wait", line, len(ready), len(waiting))
        best = min((*waiting, *ready), key=_order)
        demand(best is ready[0], "line", "{} may start before {}", ready[0], best)


def _limits_are_kept(model: Model, mirror: Mirror, changes: Sequence[Change]) -> None:
    """More may run than a limit allows if it came later; then none is started."""
    for kind, slots in model.limits.items():
        if any(after is not None and after.kind == kind and _has_started(before, after) for before, after in changes):
            running = [row for row in mirror.open.values() if row.kind == kind and row.status == "in_progress"]
            demand(len(running) <= slots, "limit", "of {}, limited to {}, there run {}", kind, slots, running)


def _has_started(before: Row | None, after: Row) -> bool:
    return after.status == "in_progress" and (before is None or before.claim != after.claim)


def _order(row: Row) -> tuple[int, int]:
    return (row.tier, row.seq)


def _input_is_rendered_once(model: Model, row: Row) -> None:
    """I11. A cancelled job renders for nobody; and two may be right where the one is there to keep the order (I9)."""
    mine = model.open[row.id]
    for job in model.open.values():
        if job is not mine and job.payload.digest == row.fingerprint and job.key == row.key:
            allowed = job.asked or mine.asked or job.behind or mine.behind
            demand(allowed, "I11", "{} and {} render the same input", job, mine)


def check_order_of_claims(
    model: Model,
    mirror: Mirror,
    claims: Sequence[Claim],
    kinds: Sequence[str],
    room: FreeSlots,
    now: int,
    after: str,
    *,
    shared_lock: bool,
) -> None:
    """What was ready is what was taken and what is still ready. The best of it were taken, as many as there was room for.

    I15: a full room leaves the rest as it is; `check` has seen that nothing else changed. `shared_lock` others nobody is woken,
    and kinds with a limit are left alone. A kind that is full stands back behind worse ones of other kinds.
    """
    taken = {claim.id for claim in claims}
    ready: list[Row] = [mirror.open[id] for id in taken]
    for row in mirror.open.values():
        if row.status != "queued":
            continue
        demand(shared_lock or row.waits_for != "time" or row.run_at > now, "line", "a claim did not wake {}", row)
        left_alone = row.kind in model.paused or (shared_lock and row.kind in model.limits)
        if row.waits_for is None and row.kind in kinds and not left_alone:
            ready.append(row)
    running = [row for row in mirror.open.values() if row.status == "in_progress" and row.id not in taken]
    expected = _best_of(ready, running, kinds, room, model.limits, after)
    demand(taken == expected, "order", "{} were taken, not {}, of {}, in {} after {!r}", taken, expected, ready, room, after)


def _best_of(
    ready: Sequence[Row], running: Sequence[Row], kinds: Sequence[str], room: FreeSlots, limits: Mapping[str, int], after: str
) -> set[int]:
    """One at a time: by tier; of the organisation that has the fewest jobs in progress of these kinds, or else follows the
    one served last; and within it by place."""
    busy = Counter(row.org_id for row in running if row.kind in kinds)
    of_kind = Counter(row.kind for row in running)
    best: set[int] = set()
    for tier, most in ((0, room.total), (1, min(room.background, room.total))):
        started: Counter[str] = Counter()
        left = [row for row in ready if row.tier == tier]
        while left and started.total() < most and len(best) < room.total:
            row = min(left, key=lambda row: (busy[row.org_id] + started[row.org_id], row.org_id <= after, row.org_id, row.seq))
            left.remove(row)
            if of_kind[row.kind] < limits.get(row.kind, len(ready) + len(running)):
                of_kind[row.kind] += 1
                started[row.org_id] += 1
                best.add(row.id)
    return best


def check_pruning(model: Model, mirror: Mirror, changes: Sequence[Change], now: int) -> None:
    """I20: all that may go is gone, and nothing else."""
    for before, after in changes:
        if before is not None and after is None:
            demand(model.may_prune(model.jobs[before.id], now), "I20", "deleted though it is referred to: {}", before)
    for id in mirror.jobs:
        demand(not model.may_prune(model.jobs[id], now), "I20", "{} was left behind", model.jobs[id])


def audit(model: Model, mirror: Mirror, found: Sequence[fsck.Violation]) -> None:
    """The whole database against what was seen of it bit by bit, and the laws that speak of everything.

    `found` is what `pressroom fsck` says. It must not cry wolf either: our database is sound.
    """
    rows = nothing_was_missed(mirror)
    demand({id for id, row in rows.items() if row.open} == model.open.keys(), "I1", "open jobs were lost or made up")
    demand(mirror.read_payloads() == {id: model.jobs[id].payload.text for id in rows}, "I8", "a payload is not the newest")
    demand(mirror.read_cache() == model.cache, "I11", "the cache is not what it should be")
    _each_ended_once(rows, mirror)
    demand(mirror.read_ticks() == model.ticks, "I22", "fired are {}, not {}", mirror.read_ticks(), model.ticks)
    demand(not found, "fsck", "{}", found)
    _slots_are_conserved(model, rows)
    _one_waits_for_each_thing(model)
    places = [row.seq for row in rows.values() if row.open]
    demand(len(set(places)) == len(places), "order", "two jobs have the same place")
    for line in {row.line for row in rows.values()}:
        if line is not None:
            _line_is_in_order(mirror, line)


def nothing_was_missed(mirror: Mirror) -> dict[int, Row]:
    rows = mirror.read_all()
    demand(rows == mirror.jobs, "frame", "the table is not what was seen of it")
    return rows


def _each_ended_once(rows: dict[int, Row], mirror: Mirror) -> None:
    told = Counter(mirror.read_endings())
    happened = Counter((id, row.status) for id, row in rows.items() if not row.open)
    demand(told == happened, "I3", "endings in the history: {}; jobs that ended: {}", told, happened)


def _slots_are_conserved(model: Model, rows: dict[int, Row]) -> None:
    """I16: what the database calls running is what the workers were given and have not given back."""
    running = {(row.id, row.claim, row.worker) for row in rows.values() if row.status == "in_progress"}
    held = {(job.id, job.token, job.worker) for job in model.open.values() if job.status is Status.IN_PROGRESS}
    demand(running == held, "I16", "running: {}; held: {}", running, held)


def _one_waits_for_each_thing(model: Model) -> None:
    """A submit while one runs queues exactly one successor, if the kind coalesces."""
    waiting = Counter(
        job.thing
        for job in model.open.values()
        if job.queued and not job.asked and job.key is not None and model.kinds[job.kind].on_key is OnKey.COALESCE
    )
    for thing, count in waiting.items():
        demand(count == 1, "I8", "{} payloads wait for {}", count, thing)


def check_waiters(model: Model) -> None:
    """I8: whoever waited can reach exactly one answer, for a payload that is not older than their own."""
    for waiter in model.waiters:
        job, steps = waiter.job, 0
        while job.superseded_by is not None:
            job, steps = model.by_uid[job.superseded_by], steps + 1
            demand(steps <= len(model.jobs), "I8", "who waits for {} is sent round in a circle", waiter.job)
        demand(job.status.ended, "I8", "who waits for {} is never answered: {}", waiter.job, job)
        if job is waiter.job:
            demand(job.version >= waiter.version, "I8", "{} was answered by {}", waiter, job)
        else:
            demand(job.payload.revision >= waiter.revision, "I8", "{} was answered by the older payload of {}", waiter, job)
