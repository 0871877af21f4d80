"""Why a job was rendered, and who was spared rendering it again: what can still be known of it."""

from datetime import datetime

import msgspec

from pressroom.fingerprint import Fingerprint
from pressroom.model import Kind, Status
from pressroom.web.job.dossier import Dossier


class Explained(msgspec.Struct, frozen=True, kw_only=True):
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


def explained(dossier: Dossier, kind: Kind | None) -> Explained:
    job = dossier.job
    joined, coalesced = dossier.counts.get("joined", 0), dossier.counts.get("coalesced", 0)
    if job.fingerprint is None:
        return Explained(verdict="Not asked", why=_why_not_asked(dossier, kind), coalesced=coalesced)
    nearest, differs = _nearest(dossier)
    entry = dossier.entry
    is_mine = entry is not None and entry.uid == job.uid
    return Explained(
        verdict="A miss",
        why=_why_missed(dossier),
        nearest=nearest,
        differs=differs,
        joined=joined,
        coalesced=coalesced,
        hits=entry.hits if entry is not None and is_mine else 0,
        answers_until=entry.expires_at if entry is not None and is_mine and entry.expires_at > dossier.at else None,
        replaced_by=entry.uid if entry is not None and not is_mine and job.status is Status.COMPLETED else None,
    )


def _why_not_asked(dossier: Dossier, kind: Kind | None) -> str:
    if dossier.job.retry_of is not None:
        return "It is a retry: whoever retries wants it done again, so no earlier result is taken."
    if kind is not None and kind.cache_for is None:
        return f"Results of the kind {kind.name} are not kept to answer others."
    return "It was submitted without a fingerprint, so nobody knows which results it equals."


def _why_missed(dossier: Dossier) -> str:
    if any(one.fields == dossier.fields for one in dossier.neighbours):
        return "The same had been made before, but another job of its key was open: an older result would have undone that one."
    return "When it was submitted, there was no result of the same input that it could have been answered with."


def _nearest(dossier: Dossier) -> tuple[str | None, list[str]]:
    """The cache entry that differs least. Entries that are gone cannot be compared any more."""
    mine = Fingerprint(dossier.job.fingerprint or "", dossier.fields or {})
    compared = [(mine.differs_from(one.fields), one.uid) for one in dossier.neighbours]
    differing = [pair for pair in compared if pair[0]]
    if dossier.fields is None or not differing:
        return None, []
    differs, uid = min(differing, key=lambda pair: len(pair[0]))
    return uid, differs
