"""Jobs in the words of design 004 (Q37)."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.queue_jobs.store import QueueJob
from pressroom.apps.docs.http.replies import KIND_PREFIX
from pressroom.model import Job

_SAID_OF_EDITIONS = ("editions_skipped", "editions_detail")


class JobErrors(msgspec.Struct, frozen=True, kw_only=True):
    """The last error, and those of all attempts."""

    message: str
    type: str
    attempts: list[dict[str, Any]]


class QueueJobView(msgspec.Struct, frozen=True, kw_only=True):
    """`progress` names the editions from the phase `editions` on; earlier it has a `message`. The three dates are those of
    submitting, of the start of the last attempt, and of the end."""

    self_url: str
    project_url: str | None
    build_url: str | None
    id: str
    kind: str
    status: str
    phase: str | None
    subject: str | None
    org: str | None
    project: str | None
    build: str | None
    attempts: int
    max_attempts: int
    progress: dict[str, Any] | None
    errors: JobErrors | None
    cancel_requested: bool
    retry_of: str | None
    date_created: datetime
    date_started: datetime | None
    date_completed: datetime | None


def queue_job_view(found: QueueJob, urls: ApiUrls) -> QueueJobView:
    job = found.job
    project_url = build_url = None
    if found.org is not None and found.project is not None:
        project_url = urls.project(found.org, found.project)
        build_url = urls.build(found.org, found.project, job.build_id) if job.build_id else None
    return QueueJobView(
        self_url=urls.job(job.uid),
        project_url=project_url,
        build_url=build_url,
        id=job.uid,
        kind=job.kind.removeprefix(KIND_PREFIX),
        status=job.status.value,
        phase=job.phase,
        subject=job.subject,
        org=job.org_id,
        project=found.project,
        build=job.build_id,
        attempts=job.attempts,
        max_attempts=job.max_attempts,
        progress=_progress(found),
        errors=_errors(job),
        cancel_requested=job.cancel_requested,
        retry_of=job.retry_of,
        date_created=job.date_created,
        date_started=job.date_started,
        date_completed=job.date_completed,
    )


def _progress(found: QueueJob) -> dict[str, Any] | None:
    """A later phase does not hide how the editions fared, and neither does the end."""
    if found.job.progress is None:
        return None
    result = found.job.result if isinstance(found.job.result, dict) else {}
    said = {name: result[name] for name in _SAID_OF_EDITIONS if name in result}
    return found.editions | said | found.job.progress


def _errors(job: Job) -> JobErrors | None:
    if not job.errors:
        return None
    attempts = [{name: value for name, value in error.items() if name != "detail"} for error in job.errors]
    last = attempts[-1]
    return JobErrors(
        message=str(last.get("message") or job.last_error or ""), type=str(last.get("code") or "error"), attempts=attempts
    )
