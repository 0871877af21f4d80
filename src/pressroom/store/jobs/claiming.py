"""Claim jobs under a lease, best first: by a look at what is ready, or by the names that a delivery handed over."""

from collections.abc import Collection, Iterable, Sequence
from operator import itemgetter

import msgspec

from pressroom import failpoints
from pressroom.model import (
    NOT_SUPPORTED,
    Claim,
    Released,
    Row,
    SingleRoundTrip,
    Statement,
    Status,
    Work,
)
from pressroom.store.jobs import concurrency_limits, fairness
from pressroom.store.jobs.endings import Settled, Settlement, settle
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import Kinds, now, promote_next_of_key, successor_of

type Again = dict[str, float | None]  # by uid: the seconds after which to ask again, or None if there is no point

REFUSED_FOR = 1.0  # seconds
_choose = fairness.choose_jobs

_BY_ORDER = itemgetter(3, 4)  # tier and seq of a claimed row


class FreeSlots(msgspec.Struct, frozen=True):
    """Free slots of a worker: in all, and for background work, which may not take the last one."""

    total: int
    background: int


def claim(
    worker: str, kinds: Iterable[str], free_slots: FreeSlots, lease: int, last_served_org: str = "", moment: int | None = None
) -> Work[list[Claim]]:
    """Take as many jobs as there are free slots, best first, under a lease. `last_served_org` is the organisation that was
    served last; "" before any was, and for the default one. `moment` is now, if it is known already.
    """
    kinds = list(kinds)
    if moment is None:
        moment = yield from now()
    seen = yield Statement("survey_queue")
    if not seen or _is_any_due(seen, moment):  # nothing is seen where no kind is registered
        yield Statement("wake_due", {"now": moment})
        yield from wake_due_keyed_jobs(moment)
        seen = yield Statement("survey_queue")
    any_limited = any(count is not None for _, count, *_ in seen)
    spare = (yield from concurrency_limits.list_spare_slots()) if any_limited else {}
    not_ready = {kind for kind, _, is_ready, _ in seen if not is_ready}
    startable = [kind for kind in kinds if kind not in not_ready and spare.get(kind, 1) > 0]
    by_tier = {0: free_slots.total, 1: free_slots.background}
    candidates, running = yield from fairness.find_candidates(kinds, startable, by_tier, last_served_org)
    chosen = _choose(candidates, by_tier, running, spare, last_served_org)
    if not chosen:
        return []
    failpoints.hit("claim.selected")
    ids = compact(chosen)
    rows = yield Statement("claim_jobs", {"ids": ids, "worker": worker, "lease": lease, "now": moment})
    return (yield from _record_starts(rows, moment))


def claim_concurrently(
    worker: str,
    kinds: Iterable[str],
    free_slots: FreeSlots,
    lease: int,
    last_served_org: str = "",
    *,
    single_round_trip: bool = False,
) -> Work[list[Claim]]:
    """As `claim`, beside others who do the same: in one statement, and without waking those whose time has come.

    Kinds with a limit are left alone: to count what is in progress one must be alone.
    """
    asked = {
        "kinds": compact(list(kinds)),
        "total": free_slots.total,
        "background": free_slots.background,
        "worker": worker,
        "lease": lease,
        "after": last_served_org,
    }
    if single_round_trip:
        rows = yield SingleRoundTrip("claim_in_one_round_trip", asked)
        if rows is not NOT_SUPPORTED:
            return _claims_in_order(rows)
    moment = yield from now()
    rows = yield Statement("claim_next", {**asked, "now": moment})
    return (yield from _record_starts(rows, moment))


def claim_named(
    worker: str, uids: Sequence[str], kinds: Iterable[str], lease: int, *, shared_lock: bool
) -> Work[tuple[list[Claim], Again]]:
    """Take the jobs that a delivery named, each if it may start now. For the others: when it is worth while to ask again.

    Who runs beside others cannot let those of a key join their line whose time has come; who does not, does.
    """
    moment = yield from now()
    if not shared_lock:
        yield from wake_due_keyed_jobs(moment)
    asked = {"uids": compact(uids), "kinds": compact(list(kinds)), "worker": worker, "lease": lease, "now": moment}
    rows = yield Statement("claim_named", {**asked, "limited": 0})
    if len(rows) < len(uids):
        taken = {row[1] for row in rows}
        rows += yield from concurrency_limits.claim_named_limited((uid for uid in uids if uid not in taken), asked)
    claims = yield from _record_starts(rows, moment)
    taken = {claim.uid for claim in claims}
    refused = [uid for uid in uids if uid not in taken]
    again: Again = {}
    if refused:
        for uid, status, waits_for, run_at in (yield Statement("find_named_states", {"uids": compact(refused)})):
            again[uid] = _seconds_until_retry(status, waits_for, run_at - moment)
    return claims, again


def claim_in_turn(
    worker: str,
    uids: Sequence[str],
    kinds: Sequence[str],
    free_slots: FreeSlots,
    lease: int,
    last_served_org: str,
    *,
    shared_lock: bool,
) -> Work[tuple[list[Claim], Again]]:
    """For as many slots as jobs were named: those whose turn it is, named or not, because several organisations wait.

    What is named and not its turn is to be offered again at once. If there is less to start than was named, names count again:
    a job whose time has come may be started by its name alone.
    """
    claims = yield from (claim_concurrently if shared_lock else claim)(worker, kinds, free_slots, lease, last_served_org)
    taken = {claim.uid for claim in claims}
    rest = [uid for uid in uids if uid not in taken]
    free = free_slots.total - len(claims)
    again: Again = {}
    if free and rest:
        more, again = yield from claim_named(worker, rest[:free], kinds, lease, shared_lock=shared_lock)
        claims = sorted([*claims, *more], key=lambda claim: (claim.tier, claim.seq))
    if rest[free:]:
        moment = yield from now()
        for uid, status, waits_for, run_at in (yield Statement("find_named_states", {"uids": compact(rest[free:])})):
            wait = _seconds_until_retry(status, waits_for, run_at - moment)
            again[uid] = 0.0 if wait == REFUSED_FOR else wait
    return claims, again


def _seconds_until_retry(status: str, waits_for: str | None, left: int) -> float | None:
    if status != Status.QUEUED or waits_for in ("key", "cancel"):
        return None  # it has ended or runs, or the job before it will announce it
    if waits_for == "time" and left > 0:
        return left / 1000
    return REFUSED_FOR  # its kind is paused or full, or another worker looks at it


def _record_starts(rows: list[Row], moment: int) -> Work[list[Claim]]:
    if not rows:
        return []
    yield Statement("record_starts", {"ids": compact([row[0] for row in rows]), "now": moment})
    return _claims_in_order(rows)


def _claims_in_order(rows: list[Row]) -> list[Claim]:
    return [Claim(*row) for row in sorted(rows, key=_BY_ORDER)]


def wake_due_keyed_jobs(moment: int) -> Work[None]:
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


def settle_and_claim(
    settlements: Sequence[Settlement],
    worker: str,
    claimable: Iterable[str],
    free_slots: FreeSlots,
    lease: int,
    kinds: Kinds,
    *,
    named: Sequence[str] = (),
    in_turn: bool = False,
    shared_lock: bool = False,
    last_served_org: str = "",
) -> Work[Turn]:
    """Settle the last batch and claim the next in one commit: those that a delivery named, or else the best.

    `last_served_org` is the organisation that this worker served last. `in_turn`: several wait, so names do not decide.
    """
    moment = (yield from now()) if settlements else None
    settled = (yield from settle(settlements, kinds, moment)) if settlements else []
    if named and in_turn:
        claims, again = yield from claim_in_turn(
            worker, named, list(claimable), free_slots, lease, last_served_org, shared_lock=shared_lock
        )
        return Turn(settled, claims, again)
    if named:
        claims, again = yield from claim_named(worker, named, claimable, lease, shared_lock=shared_lock)
        return Turn(settled, claims, again)
    if free_slots.total <= 0:
        return Turn(settled, [])
    if shared_lock:
        claims = yield from claim_concurrently(
            worker, claimable, free_slots, lease, last_served_org, single_round_trip=not settlements
        )
    else:
        claims = yield from claim(worker, claimable, free_slots, lease, last_served_org, moment)
    return Turn(settled, claims)


def release_unknown_claims(worker: str, held: Collection[tuple[int, int]], kinds: Kinds) -> Work[list[Settled]]:
    """Release what was claimed in a worker's name without its knowledge: the answer to its claim was lost on the way."""
    claims = [Claim(*row) for row in (yield Statement("list_claims_of", {"worker": worker}))]
    unknown = [Settlement(claim, Released()) for claim in claims if (claim.id, claim.token) not in held]
    return (yield from settle(unknown, kinds)) if unknown else []


def renew(claims: Sequence[tuple[int, int]]) -> Work[dict[tuple[int, int], bool]]:
    """Prolong leases. Maps each claim still held to whether a cancel of its job was requested; what is missing was lost."""
    moment = yield from now()
    rows = yield Statement("renew_leases", {"claims": compact(claims), "now": moment})
    return {(id, token): bool(cancelled) for id, token, cancelled in rows}


def time_to_next_due() -> Work[float | None]:
    """Seconds until the next job that waits for its time. None if there is none."""
    moment = yield from now()
    ((next_due,),) = yield Statement("next_due")
    return None if next_due is None else max(0.0, (next_due - moment) / 1000)


class Survey(msgspec.Struct, frozen=True):
    """What an idle look at the database found: whether a claim would find anything, and which running jobs to stop.

    `needs_exclusive_lock` says that it finds some only while no other claim runs: to wake those whose time has come, or to
    count how many of a kind are in progress. `limited` are the kinds that are counted. `shared`: jobs of several
    organisations are queued. `preempted` are those of the jobs asked about behind which a newer payload of their key waits.
    """

    ready: bool
    cancelling: list[tuple[int, int]]
    needs_exclusive_lock: bool = False
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
    ready, due, limited = (yield from _survey_ready_jobs(kinds)) if look_for_work else (False, False, frozenset[str]())
    return Survey(ready, cancelling, needs_exclusive_lock=due, limited=limited, shared=shared, preempted=preempted)


def _survey_ready_jobs(kinds: Iterable[str]) -> Work[tuple[bool, bool, frozenset[str]]]:
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
