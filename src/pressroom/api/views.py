"""Jobs as the service shows them."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from inspect import signature
from typing import Any

import msgspec

from pressroom.model import Job, Tier


class Links(msgspec.Struct, frozen=True):
    self: str
    events: str
    result: str
    cancel: str
    retry: str


class Estimate(msgspec.Struct, frozen=True):
    """Seconds until it has ended, from how long the latest of its kind took. Half end within p50, nine in ten within p90."""

    p50: float
    p90: float


class Place(msgspec.Struct, frozen=True):
    """Where a queued job stands: how many are before it, and what to expect."""

    ahead: int
    estimate: Estimate | None


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: str
    status: str
    tier: str
    phase: str | None
    progress: dict[str, Any] | None
    subject: str | None
    key: str | None
    attempts: int
    max_attempts: int
    errors: list[dict[str, Any]]
    last_error: str | None
    result: Any
    position: int | None
    estimate: Estimate | None
    parent: str | None
    retry_of: str | None
    superseded_by: str | None
    cancel_requested: bool
    date_created: datetime
    date_started: datetime | None
    date_completed: datetime | None
    run_at: datetime
    links: Links


# An app may show the jobs of its kinds in its own words: it is given the usual view and returns its own.
type JobFormatter = Callable[[Job, JobView], Awaitable[Any]]


def view(job: Job, place: Place | None = None, *, prefix: str = "") -> JobView:
    here = f"{prefix}/jobs/job_{job.uid}"
    return JobView(
        id=f"job_{job.uid}",
        kind=job.kind,
        status=job.status.value,
        tier=Tier(job.tier).name.lower(),
        phase=job.phase,
        progress=job.progress,
        subject=job.subject,
        key=job.key,
        attempts=job.attempts,
        max_attempts=job.max_attempts,
        errors=[{name: value for name, value in error.items() if name != "detail"} for error in job.errors],
        last_error=job.last_error,
        result=job.result,
        position=None if place is None else place.ahead + 1,
        estimate=None if place is None else place.estimate,
        parent=job.parent and f"job_{job.parent}",
        retry_of=job.retry_of and f"job_{job.retry_of}",
        superseded_by=job.superseded_by and f"job_{job.superseded_by}",
        cancel_requested=job.cancel_requested,
        date_created=job.date_created,
        date_started=job.date_started,
        date_completed=job.date_completed,
        run_at=job.run_at,
        links=Links(
            self=here, events=f"{here}/events", result=f"{here}/result", cancel=f"{here}/cancel", retry=f"{here}/retry"
        ),
    )


def view_types(formatters: Mapping[str, JobFormatter]) -> tuple[Any, ...]:
    """All that a job may be shown as: the usual view, and what the formatters say that they return."""
    return (JobView, *dict.fromkeys(signature(formatter).return_annotation for formatter in formatters.values()))


async def format_job(job: Job, shown: JobView, formatters: Mapping[str, JobFormatter]) -> Any:
    formatter = formatters.get(job.kind)
    return shown if formatter is None else await formatter(job, shown)
