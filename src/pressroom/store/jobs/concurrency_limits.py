"""Kinds of which only so many jobs may be in progress at once, over all processes of the database."""

from collections.abc import Iterable, Mapping
from typing import Any

from pressroom.errors import NotFound
from pressroom.model import Row, Statement, Work
from pressroom.store.jobs.rows import compact


def set_limit(kind: str, slots: int | None) -> Work[None]:
    """None takes the limit away."""
    if not (yield Statement("scale_kind", {"name": kind, "slots": slots})):
        raise NotFound(f"there is no kind {kind[:100]!r}; no process ever registered one")


def list_spare_slots() -> Work[dict[str, int]]:
    """How many more of each limited kind may start. Valid only in a unit that runs alone: another claim changes it."""
    return dict((yield Statement("list_spare_concurrency")))


def claim_named_limited(uids: Iterable[str], params: Mapping[str, Any]) -> Work[list[Row]]:
    """Of the named jobs those of limited kinds, as many as may start.

    Many may do this beside each other, so the limits are locked before anything is counted.
    """
    if not (yield Statement("lock_limits")):
        return []
    left = yield from list_spare_slots()
    chosen = []
    for uid, kind in (yield Statement("list_named", {"uids": compact(list(uids)), "now": params["now"]})):
        if left.get(kind, 0) > 0:
            left[kind] -= 1
            chosen.append(uid)
    return (yield Statement("claim_named", {**params, "uids": compact(chosen), "limited": 1})) if chosen else []
