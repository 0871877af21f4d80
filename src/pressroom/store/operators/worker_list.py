"""The workers of a database, as an operator wants to see them. Nothing here writes."""

import json
from datetime import datetime

import msgspec

from pressroom.model import Statement, Work, from_ms
from pressroom.store.jobs.transitions import now


class WorkerState(msgspec.Struct, frozen=True, kw_only=True):
    """One worker. `alive` is whether it was seen within its lease, by the database's clock.

    `state` is working, paused (all of its kinds are) or stopping.
    """

    id: str
    host: str
    pid: int
    version: str
    delivery: str
    state: str
    alive: bool
    leader: bool
    slots: int
    running: int
    kinds: list[str]
    date_started: datetime
    date_seen: datetime


def list_worker_states() -> Work[list[WorkerState]]:
    moment = yield from now()
    paused = {name for (name,) in (yield Statement("list_paused"))}
    found = []
    for row in (yield Statement("list_worker_states", {"now": moment})):
        id, host, pid, version, delivery, taken, slots, running, stopping, lease, started, seen, leads = row
        kinds = json.loads(taken)
        found.append(
            WorkerState(
                id=id,
                host=host,
                pid=pid,
                version=version,
                delivery=delivery,
                state="stopping" if stopping else "paused" if kinds and paused.issuperset(kinds) else "working",
                alive=seen + lease > moment,
                leader=bool(leads),
                slots=slots,
                running=running,
                kinds=kinds,
                date_started=from_ms(started),
                date_seen=from_ms(seen),
            )
        )
    return found
