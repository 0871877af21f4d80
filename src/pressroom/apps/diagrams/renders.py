"""The kind `diagram`: a render with slots of its own, kept for as long as design 003 says."""

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from pressroom.api.views import JobView
from pressroom.apps.diagrams.slots import Slots
from pressroom.config import Settings
from pressroom.model import Job, Kind, Status, Submitted, Tier
from pressroom.queue import Queue
from pressroom.renderers.documents import Asked
from pressroom.rendering import Rendering

NAME = "diagram"

_WORDS = {
    Status.QUEUED: "pending",
    Status.IN_PROGRESS: "rendering",
    Status.COMPLETED: "completed",
    Status.COMPLETED_WITH_ERRORS: "completed",
    Status.FAILED: "failed",
    Status.CANCELLED: "failed",
}


class Diagrams:
    """Submits diagrams and waits for them. Every door of the app, its own and Kroki's, goes through here."""

    def __init__(self, rendering: Rendering, settings: Settings) -> None:
        self._rendering = rendering
        self._slots = Slots(settings.queue_max_concurrent, settings.queue_max_waiting)
        self.kind: Kind = rendering.make_kind(
            NAME,
            self._handle,
            tier=Tier.INTERACTIVE,
            retention=timedelta(seconds=settings.job_retention),
            cache_for=timedelta(seconds=settings.diagram_cache_ttl),
            on_backpressure="fail",
            timeout=120,
        )

    async def submit(self, queue: Queue, asked: Asked, **how: Any) -> Submitted:
        """Raises what is wrong with the request; a wrong source is told by the job."""
        return await self._rendering.submit(queue, asked, kind=NAME, **how)

    async def _handle(self, job: Any, payload: Any) -> Any:
        async with self._slots.slot():
            return await self._rendering.handle(job, payload)


class DiagramView(msgspec.Struct, frozen=True, kw_only=True):
    """A job in the words of design 003."""

    jobId: str  # noqa: N815
    status: str
    statusUrl: str  # noqa: N815
    shortlink: str | None
    url: str | None
    error: str | None
    line: int | None
    column: int | None
    inputHash: str | None  # noqa: N815
    createdAt: Any  # noqa: N815
    startedAt: Any  # noqa: N815
    completedAt: Any  # noqa: N815
    job: JobView


def speak(base_url: str, job: Job, shown: JobView) -> DiagramView:
    link = job.result.get("short_link") if isinstance(job.result, Mapping) else None
    error = job.errors[-1] if job.errors and job.status in (Status.FAILED,) else {}
    return DiagramView(
        jobId=shown.id,
        status=_WORDS[job.status],
        statusUrl=shown.links.self,
        shortlink=link,
        url=None if link is None else f"{base_url}/d/{link}",
        error=job.last_error if _WORDS[job.status] == "failed" else None,
        line=error.get("line"),
        column=error.get("column"),
        inputHash=input_hash(job.payload) if isinstance(job.payload, Mapping) else None,
        createdAt=job.date_created,
        startedAt=job.date_started,
        completedAt=job.date_completed,
        job=shown,
    )


def input_hash(payload: Mapping[str, Any]) -> str | None:
    """Design 003's name for an input: SHA-256 of `source|format|outputType`."""
    source = payload.get("source")
    if source is None:
        return None
    return hashlib.sha256(f"{source}|{payload.get('language')}|{payload.get('output')}".encode()).hexdigest()
