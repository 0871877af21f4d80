"""Kinds whose jobs could start and that no running worker takes. Nothing here writes."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

import msgspec

from pressroom.model import Statement, Work, from_ms
from pressroom.store.jobs.transitions import now
from pressroom.store.operators.worker_list import WorkerState, list_worker_states

PATIENCE = timedelta(seconds=60)  # a worker that is restarted is back by then
COUNTED = 1_000  # jobs of a kind and tier


class KindWithoutWorker(msgspec.Struct, frozen=True, kw_only=True):
    """`ready` jobs could start, the first of them since `ready_since`."""

    kind: str
    ready: int
    ready_since: datetime


class WorkerCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """`workers` are alive and not stopping."""

    at: datetime
    workers: int
    without_worker: list[KindWithoutWorker]


class ReadyJobs(msgspec.Struct, frozen=True):
    """Of one kind and tier. `since` is None if none is ready."""

    kind: str
    ready: int
    since: datetime | None


def compute_coverage(
    ready: Iterable[ReadyJobs],
    workers: Iterable[WorkerState],
    paused: Collection[str],
    at: datetime,
    *,
    patience: timedelta = PATIENCE,
) -> WorkerCoverage:
    """Paused kinds are meant to wait, and jobs that have been ready for less than `patience` may be about to start."""
    running = [worker for worker in workers if worker.alive and worker.state != "stopping"]
    taken = {kind for worker in running for kind in worker.kinds}
    found: dict[str, KindWithoutWorker] = {}
    for one in ready:
        if one.since is None or one.kind in taken or one.kind in paused:
            continue
        before = found.get(one.kind)
        found[one.kind] = KindWithoutWorker(
            kind=one.kind,
            ready=one.ready + (before.ready if before else 0),
            ready_since=min(one.since, before.ready_since) if before else one.since,
        )
    late = [found[kind] for kind in sorted(found) if at - found[kind].ready_since >= patience]
    return WorkerCoverage(at=at, workers=len(running), without_worker=late)


def read_coverage(*, patience: timedelta = PATIENCE) -> Work[WorkerCoverage]:
    """Counts no further than `COUNTED`, through the index of jobs that are ready."""
    moment = yield from now()
    rows = yield Statement("count_ready", {"org_id": None, "most": COUNTED})
    ready = [ReadyJobs(kind, count, from_ms(run_at)) for kind, _, count, _, run_at in rows if count]
    paused = {name for (name,) in (yield Statement("list_paused"))}
    return compute_coverage(ready, (yield from list_worker_states()), paused, from_ms(moment), patience=patience)


def describe_coverage(coverage: WorkerCoverage) -> list[str]:
    """A sentence for each kind, or a single one if no worker is running at all."""
    late = coverage.without_worker
    if late and not coverage.workers:
        return [f"no worker is running, and jobs are ready of: {', '.join(one.kind for one in late)}"]
    return [f"no running worker takes {one.kind}, of which {_describe_count(one.ready)} ready" for one in late]


def _describe_count(ready: int) -> str:
    return "1 job is" if ready == 1 else f"{ready:,} jobs are"
