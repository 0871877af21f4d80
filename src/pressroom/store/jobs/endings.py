"""How attempts and jobs end: settled, tried again, given back, cancelled. Units of work, as in `jobs`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from pressroom.base import json_text
from pressroom.errors import NotFound
from pressroom.model import (
    Claim,
    Ending,
    GaveUp,
    Outcome,
    PartlySucceeded,
    Postponed,
    Released,
    Retry,
    Statement,
    Status,
    Stopped,
    Succeeded,
    Work,
)
from pressroom.store.alerts import alerts
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import Kinds, now, promote_if_waiting, promote_next_of_key, record, successor_of
from pressroom.store.operators import failures
from pressroom.store.operators.failures import FailedJob

_STATUSES = {status.value: status for status in Status}
_UNFINISHED = (Retry, Released, Postponed)


class Settlement(msgspec.Struct, frozen=True):
    claim: Claim
    outcome: Outcome


class Settled(msgspec.Struct, frozen=True):
    """How a settlement turned out: the status the job now has, or None if the claim was lost."""

    claim: Claim
    outcome: Outcome
    status: Status | None
    superseded_by: str | None = None


def settle(settlements: Sequence[Settlement], kinds: Kinds, moment: int | None = None) -> Work[list[Settled]]:
    """Close attempts, each if its claim still owns the job, with all that belongs to their endings. `moment` is now."""
    if moment is None:
        moment = yield from now()
    unfinished = [one for one in settlements if isinstance(one.outcome, _UNFINISHED)]
    superseded = yield from _find_superseded(unfinished)
    numbers = yield from _reserve_retry_numbers(unfinished)
    lines = [_settlement_row(settlement, moment, numbers, superseded) for settlement in settlements]
    kept = yield Statement("settle_jobs", {"settlements": compact(lines), "now": moment})
    # By claim too: a stale attempt may be settled beside the live one, and its ending is not the live one's.
    statuses = {(id, token): _STATUSES[status] for id, token, status in kept}
    events, results, failed = [], [], []
    for settlement in settlements:
        id = settlement.claim.id
        status = statuses.get((id, settlement.claim.token))
        cancelled = status is Status.CANCELLED
        results.append(Settled(settlement.claim, settlement.outcome, status, superseded.get(id) if cancelled else None))
        if status is not None:
            events.append((id, *_event_of(settlement, status)))
        if status is Status.FAILED and isinstance(settlement.outcome, GaveUp):
            failed.append(FailedJob(id, settlement.claim.kind, settlement.outcome.error))
    if failed:
        yield from record_failures(failed, moment)
    yield Statement("insert_events", {"events": compact(events), "now": moment})
    for settled in results:
        if settled.status is not None and _needs_follow_up(settled.claim, kinds):
            yield from _follow_up(settled, kinds, moment)
    return results


def changes_only_own_row(claim: Claim, kinds: Kinds) -> bool:
    """Whether the end of this attempt changes no row but its own: then it may be settled beside others."""
    return not _needs_follow_up(claim, kinds)


def may_raise_alert(settlement: Settlement, kinds: Kinds) -> bool:
    """Whether it may change a row that other attempts change too: then it is settled alone."""
    claim = settlement.claim
    return isinstance(settlement.outcome, GaveUp) and claim.kind in kinds and kinds[claim.kind].alert


def record_failures(failed: Sequence[FailedJob], moment: int) -> Work[None]:
    """What every job leaves behind that ends as failed, in the transaction that ends it."""
    yield from failures.record(failed)
    yield from alerts.raise_alerts(failed, moment)


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


def _reserve_retry_numbers(settlements: Sequence[Settlement]) -> Work[list[int]]:
    retries = sum(isinstance(settlement.outcome, Retry | Postponed) for settlement in settlements)
    if not retries:
        return []
    ((last,),) = yield Statement("reserve_numbers", {"count": retries})
    return list(range(last, last - retries, -1))  # popped from the end: the first retry gets the lowest number


type Line = tuple[int, int, str, int | None, int | None, str | None, str | None, str | None, int, str | None]


def _settlement_row(settlement: Settlement, moment: int, numbers: list[int], superseded: Mapping[int, str]) -> Line:
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
            cause = settlement.outcome.error
            why["cause"] = _without_traceback(cause)
            why |= {name: value for name, value in cause.items() if name == "detail"}  # where operators alone are shown it
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
            return "completed_with_errors", compact(data | {"error": _without_traceback(error)})
        case GaveUp(error):
            return "failed", compact(data | {"error": _without_traceback(error)})
        case Retry(error, wait):
            return "retrying", compact(data | {"error": _without_traceback(error), "wait": round(wait, 3)})
        case Postponed(reason, wait):
            return "postponed", compact(data | {"reason": reason, "wait": round(wait, 3)})
        case Released():
            return "released", compact(data)
        case _:
            return status, compact(data)


def _without_traceback(error: dict[str, Any]) -> dict[str, Any]:
    """Events are watched by callers; the traceback stays in the job's errors."""
    return {name: value for name, value in error.items() if name != "detail"}


def _follow_up(settled: Settled, kinds: Kinds, moment: int) -> Work[None]:
    claim, status = settled.claim, settled.status
    if status is not None and status.ended:
        if status is Status.COMPLETED and claim.fingerprint is not None:
            yield Statement("store_cached", {"id": claim.id, "now": moment})
        for_hook = settled.outcome.for_hook if isinstance(settled.outcome, Succeeded | PartlySucceeded) else None
        yield from run_settling_hook(claim.id, claim.kind, kinds, for_hook, _known_ending(settled))
    if claim.key is not None:
        yield from promote_if_waiting(claim.org_id or "", claim.key)


def _known_ending(settled: Settled) -> Ending | None:
    """That of a first attempt that succeeded: it has left no errors, and while it ran nothing else of its row has changed."""
    claim, outcome = settled.claim, settled.outcome
    if settled.status is not Status.COMPLETED or claim.failures or claim.crashes or not isinstance(outcome, Succeeded):
        return None
    return Ending(
        id=claim.id,
        uid=claim.uid,
        status=settled.status,
        version=claim.version,
        result=json_text.decode(outcome.result),
        error=None,
        payload=json_text.decode(claim.payload),
        key=claim.key,
        org_id=claim.org_id or None,
        subject=claim.subject,
        for_hook=outcome.for_hook,
    )


def run_settling_hook(id: int, kind: str, kinds: Kinds, for_hook: Any = None, known: Ending | None = None) -> Work[None]:
    """The application's own rows, in the transaction that ends the job. What is not `known` of its ending is looked up."""
    settling = kinds[kind].settling if kind in kinds else None
    if settling is None:
        return
    if known is None:
        known = yield from _find_ending(id, for_hook)
    yield from settling(known)


def _find_ending(id: int, for_hook: Any) -> Work[Ending]:
    rows = yield Statement("find_ending", {"id": id})
    id, uid, status, version, result, errors, payload, key, org_id, subject = rows[0]
    return Ending(
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
        for_hook=for_hook,
    )


def without_hook(kinds: Kinds, name: str) -> Kinds:
    """The same kinds, but one ends its jobs without its hook: for when the hook itself fails."""
    return {**kinds, name: replace(kinds[name], settling=None)} if name in kinds else kinds


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
    if status == Status.QUEUED and (yield from can_run_settling_hook(kind, kinds)):
        yield from cancel_queued(id, kind, org_id, key, kinds, reason, moment)
        return int(id)
    yield Statement("request_cancel", {"id": id, "reason": reason})
    yield from record(id, "cancelling", {"reason": reason}, moment)
    if key is not None:
        yield from promote_next_of_key(org_id, key)
    return int(id)


def can_run_settling_hook(kind: str, kinds: Kinds) -> Work[bool]:
    if kind in kinds:
        return True
    rows = yield Statement("kind_has_settling_hook", {"name": kind})
    return not rows or not rows[0][0]


def cancel_queued(id: int, kind: str, org_id: str, key: str | None, kinds: Kinds, reason: str, moment: int) -> Work[None]:
    if not (yield Statement("cancel_queued", {"id": id, "reason": reason, "now": moment})):
        return
    yield from record(id, "cancelled", {"reason": reason}, moment)
    yield from run_settling_hook(id, kind, kinds)
    if key is not None:
        yield from promote_next_of_key(org_id, key)
