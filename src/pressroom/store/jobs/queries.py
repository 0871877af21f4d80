"""Reading jobs and events. Nothing here writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pressroom.errors import NotFound
from pressroom.model import Event, Job, Row, Statement, Status, Tier, Work, to_ms
from pressroom.store.jobs.rows import compact, event_of, job_of
from pressroom.store.jobs.transitions import Kinds

_OPEN = frozenset({Status.QUEUED, Status.IN_PROGRESS})
_TROUBLED = frozenset({Status.FAILED, Status.COMPLETED_WITH_ERRORS, Status.CANCELLED})
BEYOND = 1 << 62


@dataclass(frozen=True)
class JobFilter:
    """Which jobs to list. What is left out does not filter. `org_id` is "" for those of the default organisation."""

    status: Sequence[Status] = ()
    kind: str | None = None
    tier: Tier | None = None
    org_id: str | None = None
    project_id: str | None = None
    subject: str | None = None
    key: str | None = None
    parent: str | None = None
    worker: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None


def get(uid: str) -> Work[Job]:
    rows = yield Statement("get_job", {"uid": uid})
    if not rows:
        raise NotFound(f"there is no job_{uid}; the id is wrong, or it was deleted after its retention")
    *row, payload = rows[0]
    return job_of(tuple(row), payload)


def list_jobs(wanted: JobFilter, before: int, limit: int) -> Work[list[Job]]:
    """Jobs newest first, with ids below `before`. They come without their payloads."""
    params = {
        "statuses": compact(list(wanted.status)) if wanted.status else None,
        "kind": wanted.kind,
        "tier": wanted.tier,
        "org_id": wanted.org_id,
        "project_id": wanted.project_id,
        "subject": wanted.subject,
        "key": wanted.key,
        "parent": wanted.parent,
        "worker": wanted.worker,
        "created_after": to_ms(wanted.created_after) if wanted.created_after else None,
        "created_before": to_ms(wanted.created_before) if wanted.created_before else None,
        "before": before,
        "limit": limit,
    }
    rows = yield Statement(_statement_for(wanted), params)
    return [job_of(row) for row in rows]


def _statement_for(wanted: JobFilter) -> str:
    """The statement whose index leaves the least to read."""
    states = frozenset(wanted.status)
    if wanted.key is not None:
        return "list_jobs_by_key"
    if wanted.parent is not None:
        return "list_jobs_by_parent"
    if states and states <= _OPEN:
        return "list_open_jobs"
    if states and states <= _TROUBLED:
        return "list_troubled_jobs"
    return "list_jobs"


def events_of(job_id: int, after: int, limit: int = 500) -> Work[list[Event]]:
    rows = yield Statement("events_of_job", {"job_id": job_id, "after": after, "limit": limit})
    return [event_of(row) for row in rows]


def read_job_news(uid: str, job_id: int, after: int) -> Work[tuple[list[Event], bool]]:
    """What happened since, and whether the job has ended, from one look: between two it might end unseen."""
    events = yield from events_of(job_id, after)
    job = yield Statement("find_job", {"uid": uid})
    return events, not job or Status(job[0][1]).ended


def events_after(after: int, limit: int = 500) -> Work[list[Event]]:
    rows = yield Statement("events_after", {"after": after, "limit": limit})
    return [event_of(row) for row in rows]


def list_filtered_events(
    after: int, org_id: str | None, kind: str | None, key_prefix: str | None = None, span: int = 2_000
) -> Work[tuple[list[Event], int]]:
    """Events of some jobs, and how far was looked: where nothing was chosen, the next look begins further on all the same."""
    last = min((yield from last_event_id()), after + span)
    chosen = {"org_id": org_id, "kind": kind, "key_prefix": key_prefix}
    rows = yield Statement("chosen_events_after", {"after": after, "last": last, **chosen})
    return [event_of(row) for row in rows], max(after, last)


def last_event_id() -> Work[int]:
    ((last,),) = yield Statement("last_event")
    return int(last)


def list_notices(ids: Sequence[int], kinds: Kinds) -> Work[list[Row]]:
    """Those of some jobs that may start now: uid, kind, tier, and the payload if the kind has `message_fields`."""
    with_payload = [kind.name for kind in kinds.values() if kind.message_fields is not None]
    return (yield Statement("list_notices", {"ids": compact(ids), "with_payload": compact(with_payload)}))


def list_paused_kinds() -> Work[frozenset[str]]:
    return frozenset(name for (name,) in (yield Statement("list_paused")))


def list_waiting_jobs(kinds: Kinds, limit: int = 500) -> Work[list[Row]]:
    """The first jobs of each kind that may start now, as `notices` tells of them."""
    left_alone = yield from list_paused_kinds()
    found: list[Row] = []
    for name, kind in kinds.items():
        if name not in left_alone:
            with_payload = int(kind.message_fields is not None)
            found += yield Statement("list_waiting", {"kind": name, "limit": limit, "with_payload": with_payload})
    return found


def has_any_blob() -> Work[bool]:
    """Whether any bytes were ever kept. Where none were there is nothing to collect."""
    return bool((yield Statement("any_blob")))
