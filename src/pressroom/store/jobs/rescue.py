"""Rescue jobs whose worker died, end deferred cancels, and delete what is past its retention."""

from collections.abc import Sequence
from dataclasses import dataclass

from pressroom.model import Statement, Status, Work
from pressroom.store.jobs.endings import can_run_settling_hook, cancel_queued, record_failures, run_settling_hook
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import Kinds, now, promote_next_of_key, record, successor_of
from pressroom.store.operators.failures import FailedJob


@dataclass(frozen=True, slots=True)
class LostJob:
    """A claim whose worker went silent, or is known to be dead."""

    id: int
    claim: int
    kind: str
    worker: str
    dead: bool
    crashes: int


def find_lost(dead: Sequence[str], overdue: int = 0) -> Work[list[LostJob]]:
    """Jobs whose lease ran out, `overdue` milliseconds ago or longer, or whose worker is in `dead`."""
    moment = yield from now()
    rows = yield Statement("list_expired", {"now": moment - overdue, "dead": compact(dead)})
    return [LostJob(id, claim, kind, worker, worker in dead, crashes) for id, claim, kind, worker, crashes in rows]


def rescue(lost: LostJob, kinds: Kinds, wait: float) -> Work[Status | None]:
    """Take one job away from its silent worker. None if the worker was quicker, or if another process must end it.

    It goes back to its place in the queue, with the crash counted and a pause before it runs again. It ends instead if a
    cancel was waiting, if it took too many workers down with it, or if a newer payload of its key already waits.
    """
    moment = yield from now()
    rows = yield Statement("find_lost", {"id": lost.id, "claim": lost.claim, "now": moment, "dead": int(lost.dead)})
    if not rows:
        return None
    org_id, key, crashes, max_crashes, asked, reason = rows[0]
    successor = (yield from successor_of(lost.id)) if key is not None else None
    ending = _ending_of(crashes + 1, max_crashes, reason if asked else None, successor)
    history = {"worker": lost.worker, "crashes": crashes + 1}
    if ending is None:
        yield Statement("requeue_lost", {"id": lost.id, "now": moment, "run_at": moment + int(wait * 1000)})
        yield from record(lost.id, "lost", history, moment)
    elif not (yield from can_run_settling_hook(lost.kind, kinds)):
        return None
    else:
        yield Statement("end_lost", {"id": lost.id, "now": moment} | ending.columns)
        if ending.status is Status.FAILED:
            yield from record_failures([FailedJob(lost.id, lost.kind, ending.error)], moment)
        yield from record(lost.id, ending.status, history | {"error": ending.error}, moment)
        yield from run_settling_hook(lost.id, lost.kind, kinds)
    if key is not None:
        yield from promote_next_of_key(org_id, key)
    return Status.QUEUED if ending is None else ending.status


@dataclass(frozen=True, slots=True)
class _RescueEnding:
    status: Status
    error: dict[str, str]
    superseded_by: str | None = None

    @property
    def columns(self) -> dict[str, str | None]:
        return {
            "status": self.status,
            "message": self.error["message"],
            "error": compact(self.error),
            "superseded_by": self.superseded_by,
        }


def _ending_of(crashes: int, max_crashes: int, cancelled: str | None, successor: str | None) -> _RescueEnding | None:
    if cancelled is not None:
        return _RescueEnding(Status.CANCELLED, {"code": "cancelled", "message": cancelled})
    if crashes >= max_crashes:
        message = f"the worker died {crashes} times while running this job; it will not be tried again"
        return _RescueEnding(Status.FAILED, {"code": "worker_crash", "message": message})
    if successor is not None:
        return _RescueEnding(Status.CANCELLED, {"code": "superseded", "message": f"superseded by job_{successor}"}, successor)
    return None


def any_lease_too_long() -> Work[bool]:
    moment = yield from now()
    ((found,),) = yield Statement("any_lease_too_long", {"now": moment})
    return bool(found)


def clamp_leases() -> Work[None]:
    moment = yield from now()
    yield Statement("clamp_leases", {"now": moment})


@dataclass(frozen=True, slots=True)
class DeferredCancel:
    """A queued job that was cancelled by a process that did not know how to end its kind."""

    id: int
    kind: str
    org_id: str
    key: str | None
    reason: str


def find_deferred_cancels(kinds: Kinds) -> Work[list[DeferredCancel]]:
    rows = yield Statement("list_deferred_cancels")
    return [DeferredCancel(*row) for row in rows if row[1] in kinds]


def end_deferred_cancel(deferred: DeferredCancel, kinds: Kinds) -> Work[None]:
    moment = yield from now()
    yield from cancel_queued(deferred.id, deferred.kind, deferred.org_id, deferred.key, kinds, deferred.reason, moment)


def prune(limit: int) -> Work[int]:
    """Delete what is past its retention and referred to by nothing. Looks and deletes in one transaction."""
    moment = yield from now()
    yield Statement("delete_expired_cache", {"now": moment})
    yield Statement("delete_old_ticks", {"before": moment - 86_400_000})
    yield Statement("delete_silent_workers", {"before": moment - 3_600_000})
    ids = [id for (id,) in (yield Statement("list_prunable", {"now": moment, "limit": limit}))]
    if not ids:
        return 0
    return len((yield Statement("delete_jobs", {"ids": compact(ids)})))
