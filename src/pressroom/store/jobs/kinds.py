"""Kinds as rows: registered, paused, resumed."""

from pressroom.errors import NotFound
from pressroom.model import (
    Statement,
    Work,
)
from pressroom.store.jobs.transitions import Kinds, now


def set_paused(kind: str, paused: bool) -> Work[None]:
    if not (yield Statement("pause_kind", {"name": kind, "paused": int(paused)})):
        raise NotFound(f"there is no kind {kind[:100]!r}; no process ever registered one")


def register(kinds: Kinds) -> Work[None]:
    moment = yield from now()
    for kind in kinds.values():
        row = {
            "name": kind.name,
            "settling": int(kind.settling is not None),
            "uses_delivery": int(kind.uses_delivery),
            "alert": int(kind.alert),
            "now": moment,
        }
        yield Statement("register_kind", row)
