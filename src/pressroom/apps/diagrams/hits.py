"""The input cache: what was rendered from an input before, found without writing, and renewed before it expires."""

import msgspec

from pressroom.model import Statement, Work
from pressroom.store.steps import now


class Hit(msgspec.Struct, frozen=True):
    """A cache entry. Times are in milliseconds; `at` is when it was found."""

    job: str
    link: str
    artifact: str
    made_at: int
    expires_at: int
    at: int

    @property
    def left(self) -> int:
        return self.expires_at - self.at


class Found(msgspec.Struct, frozen=True):
    """What is known of an input before it is submitted."""

    fingerprint: str
    hit: Hit | None
    in_flight: bool = False
    in_line: int = 0  # jobs of the kind that run or wait


def look(fingerprint: str) -> Work[Hit | None]:
    moment = yield from now()
    rows = yield Statement("find_hit", {"fingerprint": fingerprint, "now": moment})
    if not rows:
        return None
    job, link, artifact, made_at, expires_at = rows[0]
    return Hit(job, link, artifact, made_at, expires_at, moment)


def survey(fingerprint: str, kind: str, limit: int) -> Work[Found]:
    """For those who would wait: also whether it is rendered just now, and how long the line is."""
    hit = yield from look(fingerprint)
    if hit is not None:
        return Found(fingerprint, hit)
    in_flight = yield Statement("find_in_flight", {"fingerprint": fingerprint, "key": None})
    ((in_line,),) = yield Statement("count_line", {"kind": kind, "limit": limit})
    return Found(fingerprint, None, bool(in_flight), in_line)


def renew(fingerprint: str, kept_for: int) -> Work[Hit | None]:
    """Entry, artifact and link together: none of them outlives the others."""
    moment = yield from now()
    until = moment + kept_for
    renewed = yield Statement("renew_cached", {"fingerprint": fingerprint, "now": moment, "expires_at": until})
    for (artifact,) in renewed:
        yield Statement("renew_artifact", {"uid": artifact, "expires_at": until})
    return (yield from look(fingerprint))
