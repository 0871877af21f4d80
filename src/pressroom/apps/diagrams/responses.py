"""The responses of `POST /render`, and how they explain what the cache had to do with them."""

from datetime import datetime
from typing import Any

import msgspec
from starlette.responses import Response

from pressroom.api.replies import reply
from pressroom.api.waiting import WaitPreference
from pressroom.apps.diagrams.renders import expiry_of
from pressroom.errors import JobFailed
from pressroom.model import Answer, Job, Status, Submitted, from_ms
from pressroom.store.artifacts.render_cache import Hit

# The HTTP status of a render's own error, for a caller that waited. Any other error is a 500.
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
    """A job that a request waited for and that failed, with the HTTP status that fits its error."""

    def __init__(self, job: Job) -> None:
        error = {"code": "cancelled", "message": job.last_error or "cancelled"}
        if job.status is Status.FAILED and job.errors:
            error = dict(job.errors[-1])
        super().__init__(job.uid, error)
        self.status = STATUSES.get(str(error.get("code")), 500)  # type: ignore[misc]


def cache_note_of_hit(hit: Hit) -> tuple[CacheNote, str]:
    age = max(0, hit.at - hit.made_at) // 1000
    return CacheNote(True, f"rendered from the same input {age} s ago"), f"pressroom; hit; ttl={hit.remaining_ms // 1000}"


def cache_note(submitted: Submitted) -> tuple[CacheNote, str]:
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


class RenderResponses:
    """Their links are absolute if there is a base URL."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    def hit_response(self, hit: Hit, preference: WaitPreference) -> Response:
        note, status = cache_note_of_hit(hit)
        return self._picture_response(hit.link, hit.job, from_ms(hit.expires_at), note, status, preference)

    def job_response(self, job: Job, submitted: Submitted, preference: WaitPreference) -> Response:
        note, status = cache_note(submitted)
        return self._picture_response(job.result["short_link"], job.uid, expiry_of(job), note, status, preference)

    def pending_response(self, job: str, word: str, note: CacheNote, status: str, preference: WaitPreference) -> Response:
        job_url = f"{self._base_url}/jobs/job_{job}"
        body = Pending(jobId=f"job_{job}", status=word, statusUrl=job_url, cache=note)
        return reply(body, status=202, headers=_headers(status, preference) | {"Location": job_url, "Retry-After": "1"})

    def picture_url(self, link: str) -> str:
        return f"{self._base_url}/d/{link}"

    def _picture_response(
        self, link: str, job: str, expires: datetime | None, note: CacheNote, status: str, preference: WaitPreference
    ) -> Response:
        body = Given(
            shortlink=link,
            url=self.picture_url(link),
            cached=note.hit,
            jobId=f"job_{job}",
            statusUrl=f"{self._base_url}/jobs/job_{job}",
            expiresAt=expires,
            cache=note,
        )
        return reply(body, headers=_headers(status, preference) | {"Content-Location": self.picture_url(link)})


def _headers(cache_status: str, preference: WaitPreference) -> dict[str, Any]:
    headers = {"Cache-Status": cache_status, "Vary": "Prefer, Accept"}
    if preference.applied is not None:
        headers["Preference-Applied"] = preference.applied
    return headers
