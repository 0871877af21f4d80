"""The same story on two databases side by side. After every rule, whoever looks at them must see no difference."""

from collections.abc import Iterator
from typing import Any

import msgspec

from pressroom.model import Claim, Row, Statement, Status, Submitted, Work
from pressroom.store.jobs import queries
from pressroom.store.jobs.claiming import Survey, Turn
from pressroom.store.jobs.endings import Settled
from pressroom.store.jobs.queries import BEYOND, JobFilter
from pressroom.store.operators import stats as queue_stats
from tests.machine.law import demand
from tests.machine.machine import QueueMachine
from tests.machine.world import World

# Numbers may differ, for on a server one that was given to somebody who died is not given again. Places count by their order.
_PLACES = "SELECT uid FROM job WHERE status = 'queued' ORDER BY tier, seq"
_READY = "SELECT uid FROM job WHERE status = 'queued' AND waits_for IS NULL ORDER BY tier, seq"
_PAYLOADS = "SELECT uid, body FROM job JOIN job_payload ON job_payload.job_id = job.id ORDER BY uid"
_CACHE = """
SELECT render_cache.fingerprint, uid, hits, expires_at, render_cache.date_created, fields
  FROM render_cache
  JOIN job ON job.id = render_cache.job_id
 ORDER BY render_cache.fingerprint
"""
_TICKS = "SELECT schedule, tick, job, last_tick FROM schedule_tick JOIN schedule ON schedule.name = schedule ORDER BY tick"
_KEPT = "SELECT uid, retention, prune_after FROM job ORDER BY uid"


class TwinMachine(QueueMachine):
    """Its stages are two."""

    def compare(self) -> None:
        one, other = (_seen_in(world) for world in self.worlds)
        for (what, here), (_, there) in zip(one, other, strict=True):
            if here != there:
                here, there = _where_they_differ(here, there)
                demand(False, "twins", "the {} differ: {} here, {} there", what, here, there)


def _seen_in(world: World) -> list[tuple[str, Any]]:
    """From what says most to what says least: the first difference is the one that is told."""
    said, world.told[:] = [*_plainly(world.told)], []
    return [("answers", said), *world.stage.run(_visible()), ("hooks", list(world.model.hooked))]


def _plainly(told: list[object]) -> Iterator[object]:
    """What was answered, without numbers."""
    for one in told:
        match one:
            case Submitted():
                yield _without(one, "id")
            case Turn(settled, claims, again):
                yield [_ending_of(settlement) for settlement in settled]
                yield [_without(claim, "id", "seq") for claim in claims]
                yield again
            case [Settled(), *_]:
                yield sorted(map(_ending_of, one), key=str)
            case Survey():
                yield (one.ready, one.needs_exclusive_lock, one.limited)
            case [Submitted() | Claim(), *_]:
                yield from _plainly(one)
            case bool() | Status() | None:
                yield one


def _ending_of(settled: Settled) -> tuple[str, Status | None, str | None]:
    return (settled.claim.uid, settled.status, settled.superseded_by)


def _visible() -> Work[list[tuple[str, Any]]]:
    jobs = yield from queries.list_jobs(JobFilter(), BEYOND, 10_000)
    events = yield from queries.events_after(0, 100_000)
    stats = yield from queue_stats.stats()
    seen: list[tuple[str, Any]] = [
        ("jobs", {job.uid: _without(job, "id", "seq") for job in jobs}),
        ("histories", _by_job((event.uid, (event.type, event.at, event.data)) for event in events)),
        ("figures", msgspec.structs.asdict(stats)),
    ]
    asked = {"places": _PLACES, "ready": _READY, "payloads": _PAYLOADS, "cache": _CACHE, "ticks": _TICKS, "kept": _KEPT}
    for what, sql in asked.items():
        seen.append((what, (yield Statement(sql))))
    return seen


def _by_job(events: Iterator[tuple[str, Any]]) -> dict[str, list[Row]]:
    histories: dict[str, list[Any]] = {}
    for uid, event in events:
        histories.setdefault(uid, []).append(event)
    return histories


def _without(struct: Any, *names: str) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(struct).items() if name not in names}


def _where_they_differ(here: Any, there: Any) -> tuple[Any, Any]:
    """The smallest part of both that tells the difference."""
    match here, there:
        case dict(), dict():
            names = [name for name in here.keys() | there.keys() if here.get(name) != there.get(name)]
            name = min(names)
            if name in here and name in there:
                inner = _where_they_differ(here[name], there[name])
                return (name, inner[0]), (name, inner[1])
            return {name: here.get(name)}, {name: there.get(name)}
        case list(), list() if len(here) == len(there):
            return next((_where_they_differ(one, other) for one, other in zip(here, there, strict=True) if one != other))
    return here, there
