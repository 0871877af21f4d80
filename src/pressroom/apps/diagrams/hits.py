"""The input cache: what was rendered from an input before, found without writing."""

import msgspec

from pressroom.fair_slots import share_of
from pressroom.model import Statement, Work
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now


class Hit(msgspec.Struct, frozen=True):
    """A cache entry. Times are in milliseconds; `at` is when it was found."""

    job: str
    link: str
    artifact: str
    made_at: int
    expires_at: int
    last_used: int
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
    is_full: bool = False  # there is no room for another, nor for one of this organisation's share


def look(fingerprint: str) -> Work[Hit | None]:
    moment = yield from now()
    rows = yield Statement("find_render_hit", {"fingerprint": fingerprint, "now": moment})
    if not rows:
        return None
    job, link, artifact, made_at, expires_at, last_used = rows[0]
    return Hit(job, link, artifact, made_at, expires_at, last_used, moment)


def survey(fingerprint: str, kind: str, limit: int, org_id: str) -> Work[Found]:
    """For those who would wait: also whether it is rendered just now, how long the line is, and whether it is full."""
    hit = yield from look(fingerprint)
    if hit is not None:
        return Found(fingerprint, hit)
    in_flight = yield Statement("find_in_flight", {"fingerprint": fingerprint, "key": None})
    ((in_line,),) = yield Statement("count_waiting_for_render", {"kind": kind, "limit": limit})
    is_full = not in_flight and in_line >= limit and (yield from _has_its_share(kind, limit, org_id))
    return Found(fingerprint, None, bool(in_flight), in_line, is_full)


def _has_its_share(kind: str, limit: int, org_id: str) -> Work[bool]:
    """Whether an organisation has all of its part of a full line. The others are counted no further than there is room."""
    running = [org for org, running_kind in (yield Statement("list_running_orgs")) if running_kind == kind]
    active = {org_id, *running}
    held = running.count(org_id)
    for tier in (0, 1):
        asked = {"kind": kind, "tier": tier, "limit": limit}
        active.update(org for (org,) in (yield Statement("list_ready_orgs", {**asked, "after": ""})))
        held += len((yield Statement("find_ready_of_orgs", {**asked, "orgs": compact([org_id])})))
    return held >= share_of(limit, active)
