"""The input cache: what was rendered from an input before, found without writing."""

import msgspec

from pressroom.base.fingerprint import Fingerprint
from pressroom.model import Statement, Work
from pressroom.store.artifacts.render_cache import Hit, find_hit
from pressroom.store.jobs.rows import compact
from pressroom.submission.fair_slots import org_share


class CacheLookup(msgspec.Struct, frozen=True):
    """What is known of an input before it is submitted."""

    fingerprint: Fingerprint
    hit: Hit | None
    in_flight: bool = False
    active_jobs: int = 0  # of the kind, running or waiting
    is_full: bool = False  # there is no room for another, nor for one of this organisation's share


def look_up_with_room(fingerprint: Fingerprint, kind: str, limit: int, org_id: str) -> Work[CacheLookup]:
    """For a caller that would wait: also whether it is rendered just now, and whether there is room for another job."""
    hit = yield from find_hit(fingerprint.digest)
    if hit is not None:
        return CacheLookup(fingerprint, hit)
    in_flight = yield Statement("find_in_flight", {"fingerprint": fingerprint.digest, "key": None})
    ((active_jobs,),) = yield Statement("count_waiting_for_render", {"kind": kind, "limit": limit})
    is_full = not in_flight and active_jobs >= limit and (yield from _has_its_share(kind, limit, org_id))
    return CacheLookup(fingerprint, None, bool(in_flight), active_jobs, is_full)


def _has_its_share(kind: str, limit: int, org_id: str) -> Work[bool]:
    """Whether an organisation has all of its part of a full line. The others are counted no further than there is room."""
    running = [org for org, running_kind in (yield Statement("list_running_orgs")) if running_kind == kind]
    active = {org_id, *running}
    held = running.count(org_id)
    for tier in (0, 1):
        filters = {"kind": kind, "tier": tier, "limit": limit}
        active.update(org for (org,) in (yield Statement("list_ready_orgs", {**filters, "after": ""})))
        held += len((yield Statement("find_ready_of_orgs", {**filters, "orgs": compact([org_id])})))
    return held >= org_share(limit, active)
