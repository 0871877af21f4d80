"""What `POST /render` answers, and how it explains what the cache had to do with it."""

from datetime import datetime
from typing import Any

import msgspec
from starlette.responses import Response

from pressroom.api.replies import reply
from pressroom.api.waiting import Patience
from pressroom.apps.diagrams.hits import Hit
from pressroom.apps.diagrams.renders import expiry_of
from pressroom.errors import JobFailed
from pressroom.model import Answer, Job, Status, Submitted, from_ms

# What a render's own error is for those who waited for it. Whatever else went wrong is ours.
STATUSES = {
    "source_invalid": 400,
    "too_large": 413,
    "backpressure": 429,
    "engine_missing": 501,
    "timeout": 504,
    "cancelled": 409,
}


class CacheNote(msgspec.Struct, frozen=True):
    """`differs` names the inputs by which the nearest entry of the cache missed."""

    hit: bool
    reason: str
    differs: list[str] | None = None


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that is there."""

    shortlink: str
    url: str
    cached: bool
    jobId: str  # noqa: N815
    statusUrl: str  # noqa: N815
    expiresAt: datetime | None  # noqa: N815
    cache: CacheNote


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A job to look at again."""

    jobId: str  # noqa: N815
    status: str
    statusUrl: str  # noqa: N815
    cache: CacheNote


class RenderFailed(JobFailed):
    """A job that somebody waited for and that failed, with the status that fits its error."""

    def __init__(self, job: Job) -> None:
        error = {"code": "cancelled", "message": job.last_error or "cancelled"}
        if job.status is Status.FAILED and job.errors:
            error = dict(job.errors[-1])
        super().__init__(job.uid, error)
        self.status = STATUSES.get(str(error.get("code")), 500)  # type: ignore[misc]


def note_of_hit(hit: Hit) -> tuple[CacheNote, str]:
    age = max(0, hit.at - hit.made_at) // 1000
    return CacheNote(True, f"rendered from the same input {age} s ago"), f"pressroom; hit; ttl={hit.left // 1000}"


def note_of(submitted: Submitted) -> tuple[CacheNote, str]:
    """The explanation, and the same as a Cache-Status header (RFC 9211)."""
    match submitted.answer:
        case Answer.HIT:
            return CacheNote(True, "rendered from the same input before"), "pressroom; hit"
        case Answer.JOINED:
            return CacheNote(False, "the same input is being rendered just now"), "pressroom; fwd=miss; collapsed"
    if submitted.differs is None:
        return CacheNote(False, "the cache has nothing to compare it with"), "pressroom; fwd=miss"
    differs = ", ".join(submitted.differs)
    return (
        CacheNote(False, f"the nearest input differs in: {differs}", submitted.differs),
        f'pressroom; fwd=miss; detail="{differs}"',
    )


class Desk:
    """Words answers with links that are absolute if there is a base URL."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    def hit(self, hit: Hit, patience: Patience) -> Response:
        note, status = note_of_hit(hit)
        return self._given(hit.link, hit.job, from_ms(hit.expires_at), note, status, patience)

    def made(self, job: Job, submitted: Submitted, patience: Patience) -> Response:
        note, status = note_of(submitted)
        return self._given(job.result["short_link"], job.uid, expiry_of(job), note, status, patience)

    def pending(self, job: str, word: str, note: CacheNote, status: str, patience: Patience) -> Response:
        where = f"{self._base_url}/jobs/job_{job}"
        told = Pending(jobId=f"job_{job}", status=word, statusUrl=where, cache=note)
        return reply(told, status=202, headers=_headers(status, patience) | {"Location": where, "Retry-After": "1"})

    def where(self, link: str) -> str:
        return f"{self._base_url}/d/{link}"

    def _given(
        self, link: str, job: str, expires: datetime | None, note: CacheNote, status: str, patience: Patience
    ) -> Response:
        told = Given(
            shortlink=link,
            url=self.where(link),
            cached=note.hit,
            jobId=f"job_{job}",
            statusUrl=f"{self._base_url}/jobs/job_{job}",
            expiresAt=expires,
            cache=note,
        )
        return reply(told, headers=_headers(status, patience) | {"Content-Location": self.where(link)})


def _headers(cache_status: str, patience: Patience) -> dict[str, Any]:
    headers = {"Cache-Status": cache_status, "Vary": "Prefer, Accept"}
    if patience.applied is not None:
        headers["Preference-Applied"] = patience.applied
    return headers
