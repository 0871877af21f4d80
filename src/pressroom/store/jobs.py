"""What can be done to jobs: units of work over both databases.

Each function here is a generator (see `model.Work`): it yields statements, is sent rows, and decides. It runs inside a
transaction that somebody else begins and commits, so what one of them does happens whole or not at all.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from pressroom import failpoints
from pressroom.errors import ClaimLost, NotFinished, NotFound, QueueFull
from pressroom.fingerprint import Fingerprint
from pressroom.model import (
    Answer,
    Claim,
    Ending,
    GaveUp,
    Kind,
    OnKey,
    Outcome,
    PartlySucceeded,
    Postponed,
    Released,
    Retry,
    Row,
    Statement,
    Status,
    Stopped,
    Submitted,
    Succeeded,
    Work,
)
from pressroom.store.rows import compact

type Kinds = Mapping[str, Kind]

_STATUSES = {status.value: status for status in Status}


class NewJob(msgspec.Struct, frozen=True):
    """A job that was checked and may be inserted. Times are relative, because only the database knows what time it is."""

    uid: str
    kind: str
    tier: int
    payload: str
    on_key: OnKey
    max_attempts: int
    max_crashes: int
    retention: int
    delay: int = 0
    run_at: int | None = None
    key: str | None = None
    fingerprint: Fingerprint | None = None
    cache_for: int = 0
    org_id: str = ""
    project_id: str | None = None
    build_id: str | None = None
    subject: str | None = None
    parent: str | None = None
    retry_of: str | None = None
    trace: str | None = None


class Room(msgspec.Struct, frozen=True):
    """Free slots of a worker: in all, and for background work, which may not take the last one."""

    total: int
    background: int


class Settlement(msgspec.Struct, frozen=True):
    claim: Claim
    outcome: Outcome


class Settled(msgspec.Struct, frozen=True):
    """How a settlement turned out: the status the job now has, or None if the claim was lost."""

    claim: Claim
    outcome: Outcome
    status: Status | None
    superseded_by: str | None = None


def now() -> Work[int]:
    rows = yield Statement("read_clock")
    return int(rows[0][0])


def submit(new: NewJob, room: Callable[[], Work[None]] | None = None) -> Work[Submitted]:
    """Answer from the cache, join a job in flight, coalesce with a queued one, or insert, in this order."""
    moment = yield from now()
    run_at = max(moment + new.delay, new.run_at or 0)
    differs = None
    if new.fingerprint is not None:
        known = yield from _find_answer(new, new.fingerprint, moment)
        if known is not None:
            return known
        differs = yield from _explain_miss(new, new.fingerprint, moment)
    if new.key is not None and new.on_key is not OnKey.LINE_UP:
        met = yield from _meet_queued(new, run_at, moment)
        if met is not None:
            return met
    if room is not None:
        yield from room()
    id = yield from _insert(new, run_at, moment)
    return Submitted(id=id, uid=new.uid, kind=new.kind, answer=Answer.NEW, version=1, differs=differs)


def submit_plain(jobs: Sequence[NewJob], room: Callable[[], Work[None]] | None = None) -> Work[list[Submitted]]:
    """Many jobs without keys or fingerprints: nothing to look up, so three statements serve them all."""
    moment = yield from now()
    if room is not None:
        yield from room()
    ((last,),) = yield Statement("reserve_numbers", {"count": len(jobs)})
    first = last - len(jobs) + 1
    rows, payloads, answers = [], [], []
    for id, new in enumerate(jobs, first):
        run_at = max(moment + new.delay, new.run_at or 0)
        rows.append(
            (
                id,
                new.uid,
                new.kind,
                int(new.tier),
                run_at,
                "time" if run_at > moment else None,
                new.max_attempts,
                new.max_crashes,
                new.org_id,
                new.project_id,
                new.build_id,
                new.subject,
                new.parent,
                new.trace,
                new.retention,
                new.on_key,
            )
        )
        payloads.append((id, new.payload))
        answers.append(Submitted(id=id, uid=new.uid, kind=new.kind, answer=Answer.NEW, version=1))
    yield Statement("insert_jobs", {"jobs": compact(rows), "now": moment})
    yield Statement("insert_payloads", {"payloads": compact(payloads)})
    yield Statement("record_submits", {"first": first, "last": last, "now": moment})
    return answers


def _find_answer(new: NewJob, input: Fingerprint, moment: int) -> Work[Submitted | None]:
    asked = {"fingerprint": input.digest, "key": new.key, "org_id": new.org_id, "now": moment}
    found = yield Statement("find_cached", asked)
    if found:
        yield Statement("count_hit", {"fingerprint": input.digest})
        return _met(found[0], new, Answer.HIT)
    found = yield Statement("find_in_flight", asked)
    if not found:
        return None
    yield from _raise_tier(found[0][0], new)
    yield from record(found[0][0], "joined", {"tier": int(new.tier)}, moment)
    return _met(found[0], new, Answer.JOINED)


def _met(row: Row, new: NewJob, answer: Answer) -> Submitted:
    id, uid, version, *_ = row
    return Submitted(id=id, uid=uid, kind=new.kind, answer=answer, version=version)


def _explain_miss(new: NewJob, input: Fingerprint, moment: int) -> Work[list[str] | None]:
    entries = yield Statement("find_nearest_cached", {"org_id": new.org_id, "kind": new.kind, "now": moment})
    return min((input.differs_from(json.loads(fields)) for (fields,) in entries), key=len, default=None)


def _meet_queued(new: NewJob, run_at: int, moment: int) -> Work[Submitted | None]:
    found = yield Statement("find_queued_by_key", {"org_id": new.org_id, "key": new.key, "kind": new.kind})
    if not found:
        return None
    id, uid, *_ = found[0]
    if new.on_key is OnKey.SKIP:
        yield from _raise_tier(id, new)
        return _met(found[0], new, Answer.SKIPPED)
    changed = yield Statement(
        "coalesce_job",
        {
            "id": id,
            "tier": int(new.tier),
            "run_at": run_at,
            "now": moment,
            "fingerprint": new.fingerprint.digest if new.fingerprint else None,
            "subject": new.subject,
            "trace": new.trace,
        },
    )
    version = changed[0][0]
    yield Statement("replace_payload", {"id": id, "payload": new.payload})
    yield Statement("delete_input", {"id": id})
    yield from _insert_input(id, new)
    yield from record(id, "coalesced", {"version": version}, moment)
    yield from reseat(new.org_id, new.key)
    return Submitted(id=id, uid=uid, kind=new.kind, answer=Answer.COALESCED, version=version)


def _raise_tier(id: int, new: NewJob) -> Work[None]:
    yield Statement("raise_tier", {"id": id, "tier": int(new.tier)})
    if new.key is not None:
        yield from reseat(new.org_id, new.key)


def _insert(new: NewJob, run_at: int, moment: int) -> Work[int]:
    ((id,),) = yield Statement("reserve_numbers", {"count": 1})
    waits_for = "time" if run_at > moment else "key" if new.key is not None else None
    yield Statement(
        "insert_job",
        {
            "id": id,
            "uid": new.uid,
            "kind": new.kind,
            "tier": int(new.tier),
            "run_at": run_at,
            "waits_for": waits_for,
            "max_attempts": new.max_attempts,
            "max_crashes": new.max_crashes,
            "key": new.key,
            "on_key": new.on_key,
            "fingerprint": new.fingerprint.digest if new.fingerprint else None,
            "org_id": new.org_id,
            "project_id": new.project_id,
            "build_id": new.build_id,
            "subject": new.subject,
            "parent": new.parent,
            "retry_of": new.retry_of,
            "trace": new.trace,
            "retention": new.retention,
            "now": moment,
        },
    )
    yield Statement("insert_payload", {"id": id, "payload": new.payload})
    yield from _insert_input(id, new)
    yield Statement("insert_event", {"id": id, "now": moment, "type": "queued", "data": "{}"})
    if waits_for == "key":
        yield from reseat(new.org_id, new.key)
    return int(id)


def _insert_input(id: int, new: NewJob) -> Work[None]:
    if new.fingerprint is not None:
        yield Statement("insert_input", {"id": id, "fields": compact(new.fingerprint.fields), "cache_for": new.cache_for})


def reseat(org_id: str, key: str | None) -> Work[None]:
    """Let the best job of a key's line be the one that may start, unless one of the key is in progress."""
    yield Statement("step_back", {"org_id": org_id, "key": key})
    yield Statement("step_forward", {"org_id": org_id, "key": key})


def refuse_when_full(limit: int, coming: int, *, retry_after: float, counted: Callable[[int], None]) -> Work[None]:
    ((queued,),) = yield Statement("count_queued", {"limit": limit})
    counted(queued)
    if queued + coming > limit:
        raise QueueFull(limit, retry_after)


def claim(worker: str, kinds: Iterable[str], room: Room, lease: int) -> Work[list[Claim]]:
    """Take as many jobs as there is room for, best first, under a lease."""
    moment = yield from now()
    yield Statement("wake_due", {"now": moment})
    yield from wake_keyed(moment)
    paused = {name for (name,) in (yield Statement("list_paused"))}
    ready: list[Row] = []
    for kind in kinds:
        if kind not in paused:
            ready += yield Statement("find_ready", {"kind": kind, "best": 0, "worst": 0, "limit": room.total})
            if room.background > 0:
                ready += yield Statement("find_ready", {"kind": kind, "best": 1, "worst": 9, "limit": room.background})
    chosen = _choose(ready, room)
    if not chosen:
        return []
    failpoints.hit("claim.selected")
    ids = compact(chosen)
    rows = yield Statement("claim_jobs", {"ids": ids, "worker": worker, "lease": lease, "now": moment})
    return (yield from _claimed(rows, moment))


def claim_beside(worker: str, kinds: Iterable[str], room: Room, lease: int) -> Work[list[Claim]]:
    """As `claim`, beside others who do the same: in one statement, and without waking those whose time has come."""
    moment = yield from now()
    asked = {"kinds": compact(list(kinds)), "total": room.total, "background": room.background}
    rows = yield Statement("claim_next", {**asked, "worker": worker, "lease": lease, "now": moment})
    return (yield from _claimed(rows, moment))


def _claimed(rows: list[Row], moment: int) -> Work[list[Claim]]:
    if not rows:
        return []
    yield Statement("record_starts", {"ids": compact([row[0] for row in rows]), "now": moment})
    return sorted((Claim(*row) for row in rows), key=_by_order)


def _by_order(claim: Claim) -> tuple[int, int]:
    return (claim.tier, claim.seq)


def _choose(ready: list[Row], room: Room) -> list[int]:
    chosen: list[int] = []
    background = 0
    for id, tier, _ in sorted(ready, key=lambda row: (row[1], row[2])):
        if len(chosen) == room.total:
            break
        if tier > 0:
            if background == room.background:
                continue
            background += 1
        chosen.append(id)
    return chosen


def wake_keyed(moment: int) -> Work[None]:
    """Jobs whose time has come join the line of their key."""
    for org_id, key in (yield Statement("wake_keyed", {"now": moment})):
        yield from reseat(org_id, key)


def settle(settlements: Sequence[Settlement], kinds: Kinds) -> Work[list[Settled]]:
    """Close attempts, each if its claim still owns the job, with all that belongs to their endings."""
    moment = yield from now()
    unfinished = [one for one in settlements if isinstance(one.outcome, Retry | Released | Postponed)]
    superseded = yield from _find_superseded(unfinished)
    numbers = yield from _numbers_for_retries(unfinished)
    lines = [_line(settlement, moment, numbers, superseded) for settlement in settlements]
    kept = yield Statement("settle_jobs", {"settlements": compact(lines), "now": moment})
    # By claim too: a stale attempt may be settled beside the live one, and its ending is not the live one's.
    statuses = {(id, token): _STATUSES[status] for id, token, status in kept}
    events, results = [], []
    for settlement in settlements:
        id = settlement.claim.id
        status = statuses.get((id, settlement.claim.token))
        cancelled = status is Status.CANCELLED
        results.append(Settled(settlement.claim, settlement.outcome, status, superseded.get(id) if cancelled else None))
        if status is not None:
            events.append((id, *_event_of(settlement, status)))
    yield Statement("insert_events", {"events": compact(events), "now": moment})
    for settled in results:
        if settled.status is not None and _needs_follow_up(settled.claim, kinds):
            yield from _follow_up(settled, kinds, moment)
    return results


def is_plain(claim: Claim, kinds: Kinds) -> bool:
    """Whether the end of this attempt changes no row but its own: then it may be settled beside others."""
    return not _needs_follow_up(claim, kinds)


def _needs_follow_up(claim: Claim, kinds: Kinds) -> bool:
    return (
        claim.key is not None
        or claim.fingerprint is not None
        or (claim.kind in kinds and kinds[claim.kind].settling is not None)
    )


def _find_superseded(settlements: Sequence[Settlement]) -> Work[dict[int, str]]:
    """A failed attempt of a coalescing kind is not tried again when a newer payload already waits: that one takes over."""
    superseded = {}
    for settlement in settlements:
        claim = settlement.claim
        if claim.key is None:
            continue
        successor = yield from successor_of(claim.id)
        if successor is not None:
            superseded[claim.id] = successor
    return superseded


def successor_of(id: int) -> Work[str | None]:
    found = yield Statement("find_successor", {"id": id})
    return found[0][0] if found else None


def _numbers_for_retries(settlements: Sequence[Settlement]) -> Work[list[int]]:
    retries = sum(isinstance(settlement.outcome, Retry | Postponed) for settlement in settlements)
    if not retries:
        return []
    ((last,),) = yield Statement("reserve_numbers", {"count": retries})
    return list(range(last, last - retries, -1))  # popped from the end: the first retry gets the lowest number


type Line = tuple[int, int, str, int | None, int | None, str | None, str | None, str | None, int, str | None]


def _line(settlement: Settlement, moment: int, numbers: list[int], superseded: Mapping[int, str]) -> Line:
    """One settlement as settle_jobs.sql takes it."""
    id, token = settlement.claim.id, settlement.claim.token
    match settlement.outcome:
        case Succeeded(result):
            return (id, token, "completed", None, None, result, None, None, 0, None)
        case PartlySucceeded(result, error):
            return (id, token, "completed_with_errors", None, None, result, compact(error), error["message"], 0, None)
        case GaveUp(error):
            return (id, token, "failed", None, None, None, compact(error), error["message"], 1, None)
        case Stopped(reason):
            return (id, token, "cancelled", None, None, None, None, reason, 0, None)
    successor = superseded.get(id)
    if successor is not None:
        message = f"superseded by job_{successor}"
        why: dict[str, Any] = {"code": "superseded", "message": message}
        if isinstance(settlement.outcome, Retry):
            why["cause"] = settlement.outcome.error
        return (id, token, "cancelled", None, None, None, compact(why), message, 0, successor)
    match settlement.outcome:
        case Retry(error, wait):
            run_at = moment + int(wait * 1000)
            return (id, token, "queued", run_at, numbers.pop(), None, compact(error), error["message"], 1, None)
        case Postponed(reason, wait):
            return (id, token, "queued", moment + int(wait * 1000), numbers.pop(), None, None, reason, 0, None)
        case Released():
            return (id, token, "queued", moment, None, None, None, None, 0, None)


def _event_of(settlement: Settlement, status: Status) -> tuple[str, str]:
    if status is Status.COMPLETED:
        return "completed", f'{{"attempt":{settlement.claim.attempt}}}'
    data: dict[str, Any] = {"attempt": settlement.claim.attempt}
    if status is Status.CANCELLED:
        return "cancelled", compact(data)
    match settlement.outcome:
        case PartlySucceeded(_, error):
            return "completed_with_errors", compact(data | {"error": _public(error)})
        case GaveUp(error):
            return "failed", compact(data | {"error": _public(error)})
        case Retry(error, wait):
            return "retrying", compact(data | {"error": _public(error), "wait": round(wait, 3)})
        case Postponed(reason, wait):
            return "postponed", compact(data | {"reason": reason, "wait": round(wait, 3)})
        case Released():
            return "released", compact(data)
        case _:
            return status, compact(data)


def _public(error: dict[str, Any]) -> dict[str, Any]:
    """Events are watched by callers; the traceback stays in the job's errors."""
    return {name: value for name, value in error.items() if name != "detail"}


def _follow_up(settled: Settled, kinds: Kinds, moment: int) -> Work[None]:
    claim, status = settled.claim, settled.status
    if status is not None and status.ended:
        if status is Status.COMPLETED and claim.fingerprint is not None:
            yield Statement("store_cached", {"id": claim.id, "now": moment})
        yield from run_settling_hook(claim.id, claim.kind, kinds)
    if claim.key is not None:
        yield from reseat(claim.org_id or "", claim.key)


def run_settling_hook(id: int, kind: str, kinds: Kinds) -> Work[None]:
    """The application's own rows, in the transaction that ends the job."""
    settling = kinds[kind].settling if kind in kinds else None
    if settling is None:
        return
    rows = yield Statement("find_ending", {"id": id})
    id, uid, status, version, result, errors, payload, key, org_id, subject = rows[0]
    ending = Ending(
        id=id,
        uid=uid,
        status=Status(status),
        version=version,
        result=json.loads(result) if result else None,
        error=json.loads(errors)[-1] if errors else None,
        payload=json.loads(payload),
        key=key,
        org_id=org_id or None,
        subject=subject,
    )
    yield from settling(ending)


def without_hook(kinds: Kinds, name: str) -> Kinds:
    """The same kinds, but one ends its jobs without its hook: for when the hook itself fails."""
    return {**kinds, name: replace(kinds[name], settling=None)} if name in kinds else kinds


class Turn(msgspec.Struct, frozen=True):
    """What a worker's turn came to: how its last jobs were settled, and which ones are next."""

    settled: list[Settled]
    claims: list[Claim]


def turn(
    settlements: Sequence[Settlement],
    worker: str,
    claimable: Iterable[str],
    room: Room,
    lease: int,
    kinds: Kinds,
    *,
    beside: bool = False,
) -> Work[Turn]:
    """Settle the last batch and claim the next in one commit."""
    settled = (yield from settle(settlements, kinds)) if settlements else []
    take = claim_beside if beside else claim
    claims = (yield from take(worker, claimable, room, lease)) if room.total > 0 else []
    return Turn(settled, claims)


def renew(claims: Sequence[tuple[int, int]]) -> Work[dict[tuple[int, int], bool]]:
    """Prolong leases. Maps each claim still held to whether somebody asked to cancel its job; what is missing was lost."""
    moment = yield from now()
    rows = yield Statement("renew_leases", {"claims": compact(claims), "now": moment})
    return {(id, token): bool(cancelled) for id, token, cancelled in rows}


def cancel(uid: str, kinds: Kinds, reason: str) -> Work[int]:
    """Cancel a job: at once if it is queued; if it runs, from now on no other ending is possible. Returns the job's id.

    A queued job whose kind has a settling hook that this process does not know is marked, and ended by one that does.
    """
    rows = yield Statement("find_job", {"uid": uid})
    if not rows:
        raise NotFound(f"there is no job_{uid}")
    id, status, kind, _, asked, org_id, key = rows[0]
    if Status(status).ended or asked:
        return int(id)
    moment = yield from now()
    if status == Status.QUEUED and (yield from may_end(kind, kinds)):
        yield from cancel_queued(id, kind, org_id, key, kinds, reason, moment)
        return int(id)
    yield Statement("request_cancel", {"id": id, "reason": reason})
    yield from record(id, "cancelling", {"reason": reason}, moment)
    if key is not None:
        yield from reseat(org_id, key)
    return int(id)


def may_end(kind: str, kinds: Kinds) -> Work[bool]:
    if kind in kinds:
        return True
    rows = yield Statement("kind_settles", {"name": kind})
    return not rows or not rows[0][0]


def cancel_queued(id: int, kind: str, org_id: str, key: str | None, kinds: Kinds, reason: str, moment: int) -> Work[None]:
    if not (yield Statement("cancel_queued", {"id": id, "reason": reason, "now": moment})):
        return
    yield from record(id, "cancelled", {"reason": reason}, moment)
    yield from run_settling_hook(id, kind, kinds)
    if key is not None:
        yield from reseat(org_id, key)


def retry(uid: str, make: Callable[[Row], NewJob], room: Callable[[], Work[None]]) -> Work[Submitted]:
    """Run an ended job again as a new one that names the old.

    If its kind coalesces and a job of the same key is open, that one is newer and is the answer: an old payload must not
    take its place, nor run after it.
    """
    rows = yield Statement("find_for_retry", {"uid": uid})
    if not rows:
        raise NotFound(f"there is no job_{uid}")
    if not Status(rows[0][1]).ended:
        raise NotFinished(f"job_{uid} has not ended; cancel it first, or wait for it")
    new = make(rows[0])
    if new.key is not None and new.on_key is OnKey.COALESCE:
        newer = yield Statement("find_newer", {"org_id": new.org_id, "key": new.key, "kind": new.kind})
        if newer:
            yield from _raise_tier(newer[0][0], new)
            return _met(newer[0], new, Answer.SKIPPED)
    return (yield from submit(new, room))


def record(id: int, type: str, data: dict[str, Any], moment: int) -> Work[None]:
    yield Statement("insert_event", {"id": id, "now": moment, "type": type, "data": compact(data)})


def pause(kind: str, paused: bool) -> Work[None]:
    yield Statement("pause_kind", {"name": kind, "paused": int(paused)})


def register(kinds: Kinds) -> Work[None]:
    for kind in kinds.values():
        yield Statement("register_kind", {"name": kind.name, "settling": int(kind.settling is not None)})


def time_to_next_due() -> Work[float | None]:
    """Seconds until the next job that waits for its time. None if there is none."""
    moment = yield from now()
    ((next_due,),) = yield Statement("next_due")
    return None if next_due is None else max(0.0, (next_due - moment) / 1000)


class Survey(msgspec.Struct, frozen=True):
    """What an idle look at the database found: whether a claim would find anything, and which running jobs to stop.

    `due` says that it will find some only if it wakes those whose time has come.
    """

    ready: bool
    cancelling: list[tuple[int, int]]
    due: bool = False


def survey(kinds: Iterable[str], *, look_for_work: bool) -> Work[Survey]:
    """Look without writing, so that an idle worker never takes the write lock."""
    cancelling = [(id, token) for id, token in (yield Statement("list_cancelling"))]
    if not look_for_work:
        return Survey(False, cancelling)
    moment = yield from now()
    ((next_due,),) = yield Statement("next_due")
    if next_due is not None and next_due <= moment:
        return Survey(True, cancelling, due=True)
    paused = {name for (name,) in (yield Statement("list_paused"))}
    for kind in kinds:
        if kind not in paused and (yield Statement("any_ready", {"kind": kind})):
            return Survey(True, cancelling)
    return Survey(False, cancelling)


def require(rows: list[Row], id: int) -> Row:
    """The row of a fenced write, or the news that the claim was lost."""
    if not rows:
        raise ClaimLost(f"job {id} was given to another worker or ended; this one's write was refused")
    return rows[0]
