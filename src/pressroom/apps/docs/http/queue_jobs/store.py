"""Jobs of this app, with the names of what they are about: units of work."""

import json
from typing import Any

import msgspec

from pressroom.apps.docs.http.replies import KIND_PREFIX
from pressroom.errors import NotFound
from pressroom.ids import parse_uid
from pressroom.model import Job, Row, Statement, Work
from pressroom.store.jobs.queries import BEYOND
from pressroom.store.jobs.rows import job_of

EDITIONS = "editions"


class QueueJob(msgspec.Struct, frozen=True, kw_only=True):
    """`org` and `project` are slugs, of a project that is not purged. `editions` are those that the job has named, in the shape
    of design 004 (Q8), whatever its phase is by now."""

    job: Job
    org: str | None
    project: str | None
    editions: dict[str, Any]


class QueueJobFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What is left out does not filter. `project` is an id or a slug; `created_after` is in milliseconds."""

    kind: str = ""
    status: str = ""
    org_id: str | None = None
    project: str = ""
    created_after: int | None = None


class QueueJobNotFound(NotFound):
    """The same words for one of another organisation, or of another app (D32)."""

    def __init__(self) -> None:
        super().__init__("there is no such job; the id is wrong, or it was deleted after its retention")


def get_queue_job(id: str) -> Work[QueueJob]:
    """`id` in any spelling. Raises QueueJobNotFound."""
    try:
        uid = parse_uid(id)
    except NotFound:
        raise QueueJobNotFound from None
    rows = yield Statement("docs.find_queue_job", {"uid": uid, "prefix": f"{KIND_PREFIX}%"})
    if not rows:
        raise QueueJobNotFound
    return _queue_job_of(rows[0])


def list_queue_jobs(wanted: QueueJobFilter, before: int | None, limit: int) -> Work[list[QueueJob]]:
    """Newest first."""
    place = {
        "kind": f"{KIND_PREFIX}{wanted.kind}" if wanted.kind else "",
        "prefix": f"{KIND_PREFIX}%",
        "status": wanted.status,
        "org_id": wanted.org_id,
        "project": wanted.project,
        "created_after": wanted.created_after,
        "before": BEYOND if before is None else before,
        "limit": limit,
    }
    return [_queue_job_of(row) for row in (yield Statement("docs.list_queue_jobs", place))]


def _queue_job_of(row: Row) -> QueueJob:
    *shown, org, project = row
    items = shown[-1]
    return QueueJob(job=job_of(tuple(shown)), org=org, project=project, editions=_editions_of(items))


def _editions_of(items: str | None) -> dict[str, Any]:
    mine = [(name, state, error) for noun, name, state, error in json.loads(items or "[]") if noun == EDITIONS]
    if not mine:
        return {}
    return {
        "editions_total": len(mine),
        "editions_completed": [name for name, state, _ in mine if state == "completed"],
        "editions_failed": [{"slug": name, "error": error} for name, state, error in mine if state == "failed"],
        "editions_in_progress": [name for name, state, _ in mine if state == "in_progress"],
    }
