"""What can be done to jobs: units of work over both databases.

Each function here is a generator (see `model.Work`): it yields statements, is sent rows, and decides. It runs inside a
transaction that the caller begins and commits, so what one of them does happens whole or not at all.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter

import msgspec

from pressroom import failpoints
from pressroom.errors import NotFinished, NotFound, QueueFull
from pressroom.fingerprint import Fingerprint
from pressroom.model import (
    NOT_SUPPORTED,
    Answer,
    Claim,
    OnKey,
    Released,
    Row,
    SingleRoundTrip,
    Statement,
    Status,
    Submitted,
    Work,
)
from pressroom.store.jobs import concurrency_limits, fairness
from pressroom.store.jobs.endings import Settled, Settlement, settle
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import Kinds, now, promote_next_of_key, record, successor_of


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


type Again = dict[str, float | None]  # by uid: the seconds after which to ask again, or None if there is no point

type RoomCheck = Callable[[Sequence[NewJob]], Work[None]]  # raises QueueFull if these may not come in

REFUSED_FOR = 1.0  # seconds
_choose = fairness.choose
_BY_ORDER = itemgetter(3, 4)  # tier and seq of a claimed row


class FreeSlots(msgspec.Struct, frozen=True):
    """Free slots of a worker: in all, and for background work, which may not take the last one."""

    total: int
    background: int


def submit(new: NewJob, room: RoomCheck | None = None) -> Work[Submitted]:
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
        yield from room((new,))
    id = yield from _insert(new, run_at, moment)
    return Submitted(id=id, uid=new.uid, kind=new.kind, answer=Answer.NEW, version=1, differs=differs)


def submit_many(jobs: Sequence[NewJob], room: RoomCheck | None = None) -> Work[list[Submitted]]:
    """As `submit` of each, in their order. Keys without an open job take a few statements for all."""
    keys = {(new.org_id, new.key) for new in jobs if new.fingerprint is None and new.key is not None and new.retry_of is None}
    if len(keys) == len(jobs) and not (yield Statement("any_open_key", {"keys": compact(list(keys))})):
        return (yield from submit_plain(jobs, room))
    answers = []
    for new in jobs:
        answers.append((yield from submit(new, room)))
    return answers


def submit_plain(jobs: Sequence[NewJob], room: RoomCheck | None = None, *, at_once: bool = False) -> Work[list[Submitted]]:
    """Many jobs without fingerprints, whose keys have no open job: a few statements serve them all, or one where there are no
    keys and the database can do it in one round trip.

    Without any job it makes the same statements, and uses up a number.
    """
    if room is not None:
        yield from room(jobs)
    count = len(jobs) or 1
    if at_once:
        lines = [_plain_line(None, new, (new.delay, new.run_at)) for new in jobs]
        asked = {"jobs": compact(lines), "payloads": compact([new.payload for new in jobs]), "count": count}
        done = yield SingleRoundTrip("submit_in_one_round_trip", asked)
        if done is not NOT_SUPPORTED:
            return _accepted(jobs, done[0][0])
    moment = yield from now()
    ((last,),) = yield Statement("reserve_numbers", {"count": count})
    first = last - count + 1
    rows, payloads = [], []
    for id, new in enumerate(jobs, first):
        run_at = max(moment + new.delay, new.run_at or 0)
        rows.append(_plain_line(id, new, (run_at, "time" if run_at > moment else None)))
        payloads.append((id, new.payload))
    yield Statement("insert_jobs", {"jobs": compact(rows), "now": moment})
    yield Statement("insert_payloads", {"payloads": compact(payloads)})
    yield Statement("record_submits", {"first": first, "last": last, "now": moment})
    return _accepted(jobs, last)


def _plain_line(id: int | None, new: NewJob, when: tuple[int, int | str | None]) -> Row:
    """A job as insert_jobs.sql and submit_in_one_round_trip.sql take it."""
    return (
        id,
        new.uid,
        new.kind,
        int(new.tier),
        *when,
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
        new.key,
    )


def _accepted(jobs: Sequence[NewJob], last: int) -> list[Submitted]:
    numbered = enumerate(jobs, last - len(jobs) + 1)
    return [Submitted(id=id, uid=new.uid, kind=new.kind, answer=Answer.NEW, version=1) for id, new in numbered]


def _find_answer(new: NewJob, input: Fingerprint, moment: int) -> Work[Submitted | None]:
    asked = {"fingerprint": input.digest, "key": new.key, "org_id": new.org_id, "now": moment}
    found = yield Statement("find_cached", asked)
    if found:
        yield Statement("count_cache_hit", {"fingerprint": input.digest, "now": moment})
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
    yield from promote_next_of_key(new.org_id, new.key)
    return Submitted(id=id, uid=uid, kind=new.kind, answer=Answer.COALESCED, version=version)


def _raise_tier(id: int, new: NewJob) -> Work[None]:
    yield Statement("raise_tier", {"id": id, "tier": int(new.tier)})
    if new.key is not None:
        yield from promote_next_of_key(new.org_id, new.key)


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
        yield from promote_next_of_key(new.org_id, new.key)
    return int(id)


def _insert_input(id: int, new: NewJob) -> Work[None]:
    if new.fingerprint is not None:
        yield Statement("insert_input", {"id": id, "fields": compact(new.fingerprint.fields), "cache_for": new.cache_for})


def refuse_when_full(limit: int, coming: Counter[str], *, retry_after: float, counted: Callable[[int], None]) -> Work[None]:
    """`coming` counts new jobs by organisation. In a full queue each of these may fill its share, and no more.

    A share is the limit divided by the organisations that have jobs in the queue or are coming. Each was admitted by its share
    of that moment, so with n organisations the queue never holds more than its limit times 1 + 1/2 + ... + 1/n.
    """
    ((queued,),) = yield Statement("count_queued", {"limit": limit})
    counted(queued)
    if queued + coming.total() <= limit:
        return
    ((active,),) = yield Statement("count_queued_orgs", {"limit": limit})
    held = {}
    for org_id in coming:
        ((held[org_id],),) = yield Statement("count_queued_of_org", {"org_id": org_id, "limit": limit})
    active += sum(not count for count in held.values())
    share = max(min(1, limit), limit // active)
    if any(held[org_id] + count > share for org_id, count in coming.items()):
        raise QueueFull(limit, retry_after)


def claim(worker: str, kinds: Iterable[str], room: FreeSlots, lease: int, after: str = "") -> Work[list[Claim]]:
    """Take as many jobs as there is room for, best first, under a lease. `after` is the organisation that was served last."""
    kinds = list(kinds)
    moment = yield from now()
    seen = yield Statement("survey_queue")
    if not seen or _is_any_due(seen, moment):  # nothing is seen where no kind is registered
        yield Statement("wake_due", {"now": moment})
        yield from wake_keyed(moment)
        seen = yield Statement("survey_queue")
    spare = {kind: count for kind, count, *_ in seen if count is not None}
    not_ready = {kind for kind, _, is_ready, _ in seen if not is_ready}
    startable = [kind for kind in kinds if kind not in not_ready and spare.get(kind, 1) > 0]
    by_tier = {0: room.total, 1: room.background}
    candidates, running = yield from fairness.find_candidates(kinds, startable, by_tier, after)
    chosen = _choose(candidates, by_tier, running, spare, after)
    if not chosen:
        return []
    failpoints.hit("claim.selected")
    ids = compact(chosen)
    rows = yield Statement("claim_jobs", {"ids": ids, "worker": worker, "lease": lease, "now": moment})
    return (yield from _claimed(rows, moment))


def claim_beside(
    worker: str, kinds: Iterable[str], room: FreeSlots, lease: int, after: str = "", *, at_once: bool = False
) -> Work[list[Claim]]:
    """As `claim`, beside others who do the same: in one statement, and without waking those whose time has come.

    Kinds with a limit are left alone: to count what is in progress one must be alone.
    """
    asked = {
        "kinds": compact(list(kinds)),
        "total": room.total,
        "background": room.background,
        "worker": worker,
        "lease": lease,
        "after": after,
    }
    if at_once:
        rows = yield SingleRoundTrip("claim_in_one_round_trip", asked)
        if rows is not NOT_SUPPORTED:
            return _in_order(rows)
    moment = yield from now()
    rows = yield Statement("claim_next", {**asked, "now": moment})
    return (yield from _claimed(rows, moment))


def claim_named(
    worker: str, uids: Sequence[str], kinds: Iterable[str], lease: int, *, shared_lock: bool
) -> Work[tuple[list[Claim], Again]]:
    """Take the jobs that a delivery named, each if it may start now. For the others: when it is worth while to ask again.

    Who runs beside others cannot let those of a key join their line whose time has come; who does not, does.
    """
    moment = yield from now()
    if not shared_lock:
        yield from wake_keyed(moment)
    asked = {"uids": compact(uids), "kinds": compact(list(kinds)), "worker": worker, "lease": lease, "now": moment}
    rows = yield Statement("claim_named", {**asked, "limited": 0})
    if len(rows) < len(uids):
        taken = {row[1] for row in rows}
        rows += yield from concurrency_limits.take_named((uid for uid in uids if uid not in taken), asked)
    claims = yield from _claimed(rows, moment)
    taken = {claim.uid for claim in claims}
    refused = [uid for uid in uids if uid not in taken]
    again: Again = {}
    if refused:
        for uid, status, waits_for, run_at in (yield Statement("find_named_states", {"uids": compact(refused)})):
            again[uid] = _when_to_ask_again(status, waits_for, run_at - moment)
    return claims, again


def claim_in_turn(
    worker: str, uids: Sequence[str], kinds: Sequence[str], room: FreeSlots, lease: int, after: str, *, shared_lock: bool
) -> Work[tuple[list[Claim], Again]]:
    """For as many slots as jobs were named: those whose turn it is, named or not, because several organisations wait.

    What is named and not its turn is to be offered again at once. If there is less to start than was named, names count again:
    a job whose time has come may be started by its name alone.
    """
    claims = yield from (claim_beside if shared_lock else claim)(worker, kinds, room, lease, after)
    taken = {claim.uid for claim in claims}
    rest = [uid for uid in uids if uid not in taken]
    free = room.total - len(claims)
    again: Again = {}
    if free and rest:
        more, again = yield from claim_named(worker, rest[:free], kinds, lease, shared_lock=shared_lock)
        claims = sorted([*claims, *more], key=lambda claim: (claim.tier, claim.seq))
    if rest[free:]:
        moment = yield from now()
        for uid, status, waits_for, run_at in (yield Statement("find_named_states", {"uids": compact(rest[free:])})):
            wait = _when_to_ask_again(status, waits_for, run_at - moment)
            again[uid] = 0.0 if wait == REFUSED_FOR else wait
    return claims, again


def _when_to_ask_again(status: str, waits_for: str | None, left: int) -> float | None:
    if status != Status.QUEUED or waits_for in ("key", "cancel"):
        return None  # it has ended or runs, or the job before it will announce it
    if waits_for == "time" and left > 0:
        return left / 1000
    return REFUSED_FOR  # its kind is paused or full, or another worker looks at it


def _claimed(rows: list[Row], moment: int) -> Work[list[Claim]]:
    if not rows:
        return []
    yield Statement("record_starts", {"ids": compact([row[0] for row in rows]), "now": moment})
    return _in_order(rows)


def _in_order(rows: list[Row]) -> list[Claim]:
    return [Claim(*row) for row in sorted(rows, key=_BY_ORDER)]


def wake_keyed(moment: int) -> Work[None]:
    """Jobs whose time has come join the line of their key."""
    for org_id, key in (yield Statement("wake_keyed", {"now": moment})):
        yield from promote_next_of_key(org_id, key)


class Turn(msgspec.Struct, frozen=True):
    """What a worker's turn came to: how its last jobs were settled, and which ones are next.

    `again` is about jobs that were asked for by name and not given.
    """

    settled: list[Settled]
    claims: list[Claim]
    again: Again = {}


def turn(
    settlements: Sequence[Settlement],
    worker: str,
    claimable: Iterable[str],
    room: FreeSlots,
    lease: int,
    kinds: Kinds,
    *,
    named: Sequence[str] = (),
    in_turn: bool = False,
    shared_lock: bool = False,
    after: str = "",
) -> Work[Turn]:
    """Settle the last batch and claim the next in one commit: those that a delivery named, or else the best.

    `after` is the organisation that this worker served last. `in_turn`: several wait, so names do not decide.
    """
    settled = (yield from settle(settlements, kinds)) if settlements else []
    if named and in_turn:
        claims, again = yield from claim_in_turn(worker, named, list(claimable), room, lease, after, shared_lock=shared_lock)
        return Turn(settled, claims, again)
    if named:
        claims, again = yield from claim_named(worker, named, claimable, lease, shared_lock=shared_lock)
        return Turn(settled, claims, again)
    if room.total <= 0:
        return Turn(settled, [])
    if shared_lock:
        claims = yield from claim_beside(worker, claimable, room, lease, after, at_once=not settlements)
    else:
        claims = yield from claim(worker, claimable, room, lease, after)
    return Turn(settled, claims)


def give_back(worker: str, held: Collection[tuple[int, int]], kinds: Kinds) -> Work[list[Settled]]:
    """Release what was claimed in a worker's name without its knowledge: the answer to its claim was lost on the way."""
    claims = [Claim(*row) for row in (yield Statement("list_claims_of", {"worker": worker}))]
    unknown = [Settlement(claim, Released()) for claim in claims if (claim.id, claim.token) not in held]
    return (yield from settle(unknown, kinds)) if unknown else []


def renew(claims: Sequence[tuple[int, int]]) -> Work[dict[tuple[int, int], bool]]:
    """Prolong leases. Maps each claim still held to whether a cancel of its job was requested; what is missing was lost."""
    moment = yield from now()
    rows = yield Statement("renew_leases", {"claims": compact(claims), "now": moment})
    return {(id, token): bool(cancelled) for id, token, cancelled in rows}


def retry(uid: str, make: Callable[[Row], NewJob], room: RoomCheck) -> Work[Submitted]:
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


def pause(kind: str, paused: bool) -> Work[None]:
    if not (yield Statement("pause_kind", {"name": kind, "paused": int(paused)})):
        raise NotFound(f"there is no kind {kind[:100]!r}; no process ever registered one")


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

    `due` says that it will find some only if it runs alone: to wake those whose time has come, or to count how many of a
    kind are in progress. `limited` are the kinds that are counted. `shared`: jobs of several organisations are queued.
    `preempted` are those of the jobs asked about behind which a newer payload of their key waits.
    """

    ready: bool
    cancelling: list[tuple[int, int]]
    due: bool = False
    limited: frozenset[str] = frozenset()
    shared: bool = False
    preempted: list[int] = []


def survey(
    kinds: Iterable[str], *, look_for_work: bool, by_name: bool = False, preemptible: Iterable[int] = ()
) -> Work[Survey]:
    """Look without writing, so that an idle worker never takes the write lock. `by_name`: a delivery names jobs to it.

    `preemptible` are running jobs that a newer payload of their key is to stop.
    """
    cancelling = [(id, token) for id, token in (yield Statement("list_cancelling"))]
    shared = by_name and bool((yield Statement("several_orgs_wait"))[0][0])
    preempted = []
    for id in preemptible:
        if (yield from successor_of(id)) is not None:
            preempted.append(id)
    ready, due, limited = (yield from _look_around(kinds)) if look_for_work else (False, False, frozenset[str]())
    return Survey(ready, cancelling, due=due, limited=limited, shared=shared, preempted=preempted)


def _look_around(kinds: Iterable[str]) -> Work[tuple[bool, bool, frozenset[str]]]:
    """Whether there is work, whether it is found only by who runs alone, and the kinds that have a limit."""
    moment = yield from now()
    seen = yield Statement("survey_queue")
    limited = frozenset(kind for kind, spare, *_ in seen if spare is not None)
    if _is_any_due(seen, moment):
        return True, True, limited
    ready = {kind for kind, spare, startable, _ in seen if startable and (spare is None or spare > 0)} & set(kinds)
    return bool(ready), not ready.isdisjoint(limited), limited


def _is_any_due(seen: Sequence[Row], moment: int) -> bool:
    return any(next_due is not None and next_due <= moment for *_, next_due in seen)
