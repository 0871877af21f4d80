"""What must come of a claim by name, as the model says: who is given, and when to ask again for the others."""

from collections import Counter
from collections.abc import Sequence

from pressroom.model import Status
from pressroom.store.jobs.claiming import REFUSED_FOR, Again
from tests.machine.mirror import Mirror
from tests.machine.model import Job, Model


def expected_by_name(
    model: Model, mirror: Mirror, uids: Sequence[str], kinds: Sequence[str], now: int, *, shared_lock: bool
) -> tuple[set[str], Again]:
    """RenderRequest after the model has settled what the turn settles, and before the mirror has looked.

    Of a limited kind the best are given, as many as there are slots. A name that nobody knows, or knows no more, is not
    answered at all.
    """
    named = [model.by_uid[uid] for uid in dict.fromkeys(uids) if uid in model.by_uid]
    waits = {job.uid: _waits_for(model, mirror, job, now, shared_lock=shared_lock) for job in named if job.id in model.open}
    running = model.running()
    given: set[str] = set()
    again: Again = {}
    for job in sorted(named, key=_order):
        if waits.get(job.uid) == "nothing" and _may_start(model, job, kinds, running):
            running[job.kind] += 1
            given.add(job.uid)
        elif job.id in mirror.jobs:
            again[job.uid] = _ask_again(job, waits.get(job.uid), now)
    return given, again


def _waits_for(model: Model, mirror: Mirror, job: Job, now: int, *, shared_lock: bool) -> str:
    if job.asked or job.status is Status.IN_PROGRESS:
        return "its end"
    if not _is_awake(mirror, job, now, shared_lock=shared_lock):
        return "time"
    if job.key is None:
        return "nothing"
    line = [other for other in model.open.values() if other.key == job.key and other.org == job.org]
    if any(other.status is Status.IN_PROGRESS for other in line):
        return "key"
    standing = [other for other in line if not other.asked and _is_awake(mirror, other, now, shared_lock=shared_lock)]
    return "nothing" if min(standing, key=_order) is job else "key"


def _is_awake(mirror: Mirror, job: Job, now: int, *, shared_lock: bool) -> bool:
    """Once awake it stays so, wherever the clock is put. `shared_lock` others nobody joins the line of a key."""
    row = mirror.open[job.id]
    if row.status != "queued":  # this very turn put it back
        return job.run_at <= now
    return row.waits_for != "time" or (row.run_at <= now and not (shared_lock and job.key is not None))


def _may_start(model: Model, job: Job, kinds: Sequence[str], running: Counter[str]) -> bool:
    slots = model.limits.get(job.kind)
    return job.kind in kinds and job.kind not in model.paused and (slots is None or running[job.kind] < slots)


def _ask_again(job: Job, waits_for: str | None, now: int) -> float | None:
    """Never, for what has ended, runs, or stands behind another of its key: whoever is before it sees to it."""
    match waits_for:
        case "time":
            return (job.run_at - now) / 1000 if job.run_at > now else REFUSED_FOR
        case "nothing":
            return REFUSED_FOR  # its kind is paused, full, or not asked for
    return None


def _order(job: Job) -> tuple[int, float]:
    """A place that is not known yet is behind all others."""
    return (job.tier, float("inf") if job.seq is None else job.seq)
