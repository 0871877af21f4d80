"""The queue at a glance: what waits, what runs, what ended within the last hour. Nothing here writes."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from pressroom.model import Statement, Status, Tier, Work, from_ms
from pressroom.store.alerts import alerts
from pressroom.store.jobs.transitions import now
from pressroom.store.operators.worker_coverage import KindWithoutWorker, ReadyJobs, WorkerCoverage, compute_coverage
from pressroom.store.operators.worker_list import list_worker_states


class KindBacklog(msgspec.Struct, frozen=True):
    kind: str
    tier: Tier
    queued: int
    ready: int
    oldest: datetime
    ready_since: datetime | None = None  # of those that may start, the oldest


class RunningCount(msgspec.Struct, frozen=True):
    kind: str
    running: int
    oldest: datetime


class EndedCount(msgspec.Struct, frozen=True):
    kind: str
    org_id: str | None
    status: Status
    count: int
    mean: timedelta | None


class QueueStats(msgspec.Struct, frozen=True):
    """The queue at a glance. `ended` counts the last hour, and `workers` those that run. `without_worker` are kinds whose jobs
    have been ready for a minute and that none of these takes."""

    at: datetime
    backlog: list[KindBacklog]
    running: list[RunningCount]
    ended: list[EndedCount]
    paused: list[str]
    limits: dict[str, int] = {}
    workers: int = 0
    without_worker: list[KindWithoutWorker] = []
    open_alerts: int = 0

    @property
    def queued(self) -> int:
        return sum(line.queued for line in self.backlog)

    @property
    def coverage(self) -> WorkerCoverage:
        return WorkerCoverage(at=self.at, workers=self.workers, without_worker=self.without_worker)


def stats() -> Work[QueueStats]:
    moment = yield from now()
    waiting = [
        KindBacklog(kind, Tier(tier), count, ready, from_ms(oldest), None if since is None else from_ms(since))
        for kind, tier, count, ready, oldest, since in (yield Statement("count_backlog"))
    ]
    running = yield Statement("count_running")
    ended = yield Statement("count_ended", {"since": moment - 3_600_000})
    paused = [name for (name,) in (yield Statement("list_paused"))]
    limited = yield Statement("list_limits")
    ready = [ReadyJobs(line.kind, line.ready, line.ready_since) for line in waiting]
    coverage = compute_coverage(ready, (yield from list_worker_states()), paused, from_ms(moment))
    return QueueStats(
        from_ms(moment),
        waiting,
        [RunningCount(kind, count, from_ms(oldest)) for kind, count, oldest in running],
        [EndedCount(kind, org or None, Status(status), count, _milliseconds(mean)) for kind, org, status, count, mean in ended],
        paused,
        dict(limited),
        coverage.workers,
        coverage.without_worker,
        (yield from alerts.count_open(None)),
    )


def _milliseconds(milliseconds: Any) -> timedelta | None:
    return None if milliseconds is None else timedelta(milliseconds=float(milliseconds))
