"""Why a job was rendered instead of answered from the cache, and how often its own result was reused."""

from datetime import datetime

import msgspec

from pressroom.base.fingerprint import Fingerprint
from pressroom.definitions import Kind
from pressroom.model import Status
from pressroom.web.job.details import JobDetails


class CacheExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """`verdict` in a few words, and why. `nearest` is a job whose result was close, and `differs` in what it was not."""

    verdict: str
    why: str
    nearest: str | None = None
    differs: list[str] = []
    joined: int = 0
    coalesced: int = 0
    hits: int = 0
    answers_until: datetime | None = None
    replaced_by: str | None = None


def explain_cache(details: JobDetails, kind: Kind | None) -> CacheExplanation:
    job = details.job
    joined, coalesced = details.counts.get("joined", 0), details.counts.get("coalesced", 0)
    if job.fingerprint is None:
        return CacheExplanation(verdict="Not asked", why=_why_not_looked_up(details, kind), coalesced=coalesced)
    nearest, differs = _most_similar(details)
    entry = details.entry
    is_own_entry = entry is not None and entry.uid == job.uid
    return CacheExplanation(
        verdict="A miss",
        why=_why_missed(details),
        nearest=nearest,
        differs=differs,
        joined=joined,
        coalesced=coalesced,
        hits=entry.hits if entry is not None and is_own_entry else 0,
        answers_until=entry.expires_at if entry is not None and is_own_entry and entry.expires_at > details.at else None,
        replaced_by=entry.uid if entry is not None and not is_own_entry and job.status is Status.COMPLETED else None,
    )


def _why_not_looked_up(details: JobDetails, kind: Kind | None) -> str:
    if details.job.retry_of is not None:
        return "It is a retry, so no earlier result is taken."
    if kind is not None and kind.cache_for is None:
        return f"Results of the kind {kind.name} are not kept to answer others."
    return "It was submitted without a fingerprint, so it cannot be compared with earlier results."


def _why_missed(details: JobDetails) -> str:
    if any(one.fields == details.fields for one in details.neighbours):
        return "The same had been made before, but another job of its key was open: an older result would have undone that one."
    return "When it was submitted, there was no result of the same input that it could have been answered with."


def _most_similar(details: JobDetails) -> tuple[str | None, list[str]]:
    """The cache entry that differs least. Entries that are gone cannot be compared any more."""
    mine = Fingerprint(details.job.fingerprint or "", details.fields or {})
    compared = [(mine.differs_from(one.fields), one.uid) for one in details.neighbours]
    differing = [pair for pair in compared if pair[0]]
    if details.fields is None or not differing:
        return None, []
    differs, uid = min(differing, key=lambda pair: len(pair[0]))
    return uid, differs
