"""The units of work behind leadership: take it, keep it, give it up, look who has it.

Leading saves work and nothing else: what a leader does is safe for any process at any time.
"""

from typing import NamedTuple

from pressroom.model import Statement, Work
from pressroom.store.jobs.transitions import now


class Leader(NamedTuple):
    """Who leads, and for how many milliseconds more."""

    worker: str
    process: str
    term: int
    left: int


def find(name: str) -> Work[Leader | None]:
    moment = yield from now()
    rows = yield Statement("find_leader", {"name": name})
    if not rows:
        return None
    worker, process, term, until = rows[0]
    return Leader(worker, process, term, until - moment)


def acquire_leadership(name: str, worker: str, process: str, lease: int, dead_worker: str | None = None) -> Work[int | None]:
    """The term in which this worker leads for another lease. None if another worker does.

    `dead_worker` is a leader whose process is known to be gone: there is no need to wait for its lease.
    """
    moment = yield from now()
    asked = {"name": name, "worker": worker, "process": process, "lease": lease, "dead": dead_worker or worker, "now": moment}
    rows = yield Statement("take_leadership", asked)
    return rows[0][0] if rows else None


def resign(name: str, worker: str) -> Work[None]:
    yield Statement("resign_leadership", {"name": name, "worker": worker})
