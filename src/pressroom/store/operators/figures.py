"""What the desk shows of a queue besides the operator's questions: how the last hour went, what the cache saved, and which
kinds and schedules there are.

Nothing here writes, and nothing takes longer because there are more jobs than are counted.
"""

import json
from datetime import datetime, timedelta

import msgspec

from pressroom.definitions import Missed, Schedule
from pressroom.errors import NotFound
from pressroom.model import Row, Statement, Status, Work, from_ms
from pressroom.store.jobs.transitions import now

COUNTED = 100_000  # jobs that ended; more would take longer than a look may
ENTRIES = 10_000  # of the cache
SCHEDULES = 500
MINUTES = 60
A_MINUTE = 60_000  # milliseconds


class MinuteEndings(msgspec.Struct):
    """How many jobs ended, and how. What was cancelled says nothing of how well things work, so `rate` leaves it out."""

    ended: int = 0
    failed: int = 0
    with_errors: int = 0
    cancelled: int = 0

    @property
    def errors(self) -> int:
        return self.failed + self.with_errors

    @property
    def rate(self) -> float:
        judged = self.ended - self.cancelled
        return self.errors / judged if judged else 0.0

    def add_endings(self, status: str, number: int) -> None:
        self.ended += number
        match status:
            case Status.FAILED:
                self.failed += number
            case Status.COMPLETED_WITH_ERRORS:
                self.with_errors += number
            case Status.CANCELLED:
                self.cancelled += number


class Minute(MinuteEndings, kw_only=True):
    """The minute that begins at `at`."""

    at: datetime


class LastHour(msgspec.Struct, frozen=True, kw_only=True):
    """The last hour in whole minutes; the last one goes on. `capped` if more ended than are counted: the first are left out."""

    since: datetime
    capped: bool
    total: MinuteEndings
    kinds: dict[str, MinuteEndings]
    minutes: list[Minute]


class CacheFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Every live entry was a miss once, and a hit as often as it answered. `capped` if there are more than were looked at."""

    hits: int
    misses: int
    saved: timedelta
    capped: bool

    @property
    def rate(self) -> float:
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


class KindState(msgspec.Struct, frozen=True):
    """`slots` is how many may be in progress at once; None is no limit."""

    name: str
    paused: bool
    slots: int | None


class ScheduleState(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule with the last tick that was dealt with. `ran_at` is the last that submitted a job, within a day."""

    name: str
    cron: str
    kind: str
    missed: Missed
    key: str | None
    last_tick: datetime
    ran_at: datetime | None
    job: str | None
    status: str | None
    paused: bool


def read_last_hour(org_id: str | None) -> Work[LastHour]:
    moment = yield from now()
    since = (moment // A_MINUTE - MINUTES + 1) * A_MINUTE
    rows = yield Statement("dashboard_endings", {"since": since, "org_id": org_id, "most": COUNTED})
    total, kinds = MinuteEndings(), dict[str, MinuteEndings]()
    minutes = [Minute(at=from_ms(since + number * A_MINUTE)) for number in range(MINUTES)]
    for kind, status, minute, number, _, _ in rows:
        if number:
            for counts in (total, kinds.setdefault(kind, MinuteEndings()), minutes[min(minute, MINUTES - 1)]):
                counts.add_endings(status, number)
    capped = sum(everybodys for *_, everybodys in rows) >= COUNTED
    first = min(first for *_, first, _ in rows) if capped else since
    return LastHour(since=from_ms(first), capped=capped, total=total, kinds=dict(sorted(kinds.items())), minutes=minutes)


def count_running(org_id: str | None) -> Work[dict[str, int]]:
    """How many jobs of each kind are in progress."""
    return dict((yield Statement("dashboard_running", {"org_id": org_id})))


def read_cache_figures(org_id: str | None) -> Work[CacheFigures]:
    moment = yield from now()
    asked = {"now": moment, "most": ENTRIES}
    if org_id is None:
        rows = yield Statement("dashboard_cache", asked)
    else:
        rows = yield Statement("dashboard_cache_of_org", asked | {"org_id": org_id})
    ((entries, hits, saved),) = rows
    return CacheFigures(hits=hits, misses=entries, saved=timedelta(milliseconds=saved), capped=entries >= ENTRIES)


def kinds() -> Work[list[KindState]]:
    return [KindState(name, bool(paused), slots) for name, paused, slots in (yield Statement("dashboard_kinds"))]


def kind(name: str) -> Work[KindState]:
    """Raises NotFound for a kind that no process ever registered."""
    rows = yield from _query_by_name("dashboard_kind", name)
    for found, paused, slots in rows:
        return KindState(found, bool(paused), slots)
    raise NotFound(f"there is no kind {name[:100]!r}; no process ever registered one")


def schedules() -> Work[tuple[datetime, list[ScheduleState]]]:
    """By name, SCHEDULES at most; and what the time is where they are kept."""
    moment = yield from now()
    rows = yield Statement("dashboard_schedules", {"most": SCHEDULES})
    return from_ms(moment), [
        ScheduleState(
            name=name,
            cron=cron,
            kind=kind,
            missed=Missed(missed),
            key=key,
            last_tick=from_ms(last_tick),
            ran_at=None if tick is None else from_ms(tick),
            job=job,
            status=status,
            paused=bool(paused),
        )
        for name, cron, kind, missed, key, last_tick, tick, job, status, paused in rows
    ]


def schedule(name: str) -> Work[Schedule]:
    """Raises NotFound."""
    rows = yield from _query_by_name("dashboard_schedule", name)
    for found, cron, kind, payload, missed, key in rows:
        return Schedule(found, cron, kind, json.loads(payload), missed, key)
    raise schedule_not_found(name)


def schedule_not_found(name: str) -> NotFound:
    return NotFound(f"there is no schedule {name[:100]!r}")


def _query_by_name(statement: str, name: str) -> Work[list[Row]]:
    """Nothing is named with U+0000, and PostgreSQL will not even be asked for it."""
    return [] if "\0" in name else (yield Statement(statement, {"name": name}))
