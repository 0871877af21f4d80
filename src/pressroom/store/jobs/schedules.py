"""Schedules and their ticks."""

import json

from pressroom.definitions import Schedule
from pressroom.model import Statement, Work
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.submitting import CheckedJob, submit
from pressroom.store.jobs.transitions import now


def save_schedule(schedule: Schedule) -> Work[None]:
    moment = yield from now()
    yield Statement(
        "save_schedule",
        {
            "name": schedule.name,
            "cron": schedule.cron,
            "kind": schedule.kind,
            "payload": compact(schedule.payload),
            "missed": schedule.missed,
            "key": schedule.key,
            "now": moment,
        },
    )


def list_schedules() -> Work[list[tuple[Schedule, int]]]:
    """Each schedule with its last tick."""
    rows = yield Statement("list_schedules")
    return [
        (Schedule(name, cron, kind, json.loads(payload), missed, key), last)
        for name, cron, kind, payload, missed, key, last in rows
    ]


def fire(schedule: Schedule, tick: int, new: CheckedJob) -> Work[bool]:
    """Submit a tick's job, unless the tick was fired already."""
    if not (yield Statement("fire_tick", {"schedule": schedule.name, "tick": tick, "job": new.uid})):
        return False
    submitted = yield from submit(new)
    if submitted.uid != new.uid:  # it met a job of its key or input, and that is the one
        yield Statement("point_tick", {"schedule": schedule.name, "tick": tick, "job": submitted.uid})
    yield Statement("advance_schedule", {"name": schedule.name, "tick": tick})
    return True


def skip_to(schedule: Schedule, tick: int) -> Work[None]:
    yield Statement("advance_schedule", {"name": schedule.name, "tick": tick})
