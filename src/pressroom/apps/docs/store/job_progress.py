"""How far a job of the docs app is, or was: its phases and its editions. Units of work."""

import json
from datetime import datetime, timedelta

import msgspec

from pressroom.model import Job, Row, Statement, Work, from_ms

MAX_EVENTS = 100
MAX_ITEMS = 1_000


class JobPhase(msgspec.Struct, frozen=True):
    """`ended` is None while it runs."""

    name: str
    began: datetime
    ended: datetime | None

    @property
    def duration(self) -> timedelta | None:
        return None if self.ended is None else self.ended - self.began


class JobItem(msgspec.Struct, frozen=True):
    name: str
    state: str
    error: str | None


def list_phases(job: Job) -> Work[list[JobPhase]]:
    """Of the last attempt, in their order."""
    rows = yield Statement("docs.list_job_phases", {"job_id": job.id, "limit": MAX_EVENTS})
    return phases_of(rows[::-1])


def phases_of(events: list[Row]) -> list[JobPhase]:
    """A phase ends where the next begins, or with its attempt."""
    phases: list[JobPhase] = []
    for type, at, data in events:
        moment = from_ms(at)
        if type == "started":
            phases = []
        elif phases and phases[-1].ended is None:
            phases[-1] = msgspec.structs.replace(phases[-1], ended=moment)
        if type == "phase":
            phases.append(JobPhase(str(json.loads(data).get("phase") or ""), moment, None))
    return phases


def list_items(job: Job, noun: str) -> Work[list[JobItem]]:
    place = {"job_id": job.id, "claim": job.claim, "noun": noun, "limit": MAX_ITEMS}
    return [JobItem(*row) for row in (yield Statement("docs.list_job_items", place))]
