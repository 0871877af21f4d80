"""The data of the overview and queues pages, cached so that concurrent requests share one query."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial

from pressroom.api.service import Service
from pressroom.overview import SLOW
from pressroom.store.operators import figures
from pressroom.store.operators.overview import Active, ActiveList, BacklogReport
from pressroom.store.operators.worker_coverage import KindWithoutWorker, ReadyJobs, compute_coverage
from pressroom.store.operators.worker_list import WorkerState

MIN_CACHE_SECONDS = 1.0  # seconds
CACHE_FACTOR = 10  # a slow query is cached for this many times its duration: pages take a tenth of the database at most
MAX_ORGANISATIONS = 1_000  # organisations whose last query is cached


@dataclass(frozen=True)
class DashboardData:
    backlog: BacklogReport
    running: dict[str, int]
    active: ActiveList
    hour: figures.LastHour
    cache: figures.CacheFigures
    members: Sequence[WorkerState]

    @property
    def slow(self) -> list[Active]:
        """Those that have run for too long. They come first among the active."""
        return [job for job in self.active.items if job.seconds > SLOW.total_seconds()]

    @property
    def without_worker(self) -> list[KindWithoutWorker]:
        """Kinds that no running worker takes, of the jobs that are seen here."""
        ready = [ReadyJobs(line.kind, line.ready, line.ready_since) for line in self.backlog.items]
        return compute_coverage(ready, self.members, self.backlog.paused, self.backlog.at).without_worker

    @property
    def is_quiet(self) -> bool:
        return not (self.backlog.queued or self.running or self.hour.total.ended)


class SharedQuery:
    """One query of the queue, shared by all requests until it is stale."""

    def __init__(self, loading: Coroutine[None, None, DashboardData]) -> None:
        self._began = self._ended = time.monotonic()
        self._task = asyncio.create_task(loading)
        self._task.add_done_callback(self._record_end)

    async def result(self) -> DashboardData:
        return await asyncio.shield(self._task)  # a cancelled request does not cancel it for the others

    @property
    def is_fresh(self) -> bool:
        return not self._task.done() or self._seconds_left > 0

    async def wait_until_stale(self) -> None:
        """Wait until its result is stale."""
        await asyncio.wait({self._task})
        await asyncio.sleep(self._seconds_left)

    @property
    def _seconds_left(self) -> float:
        if self._task.cancelled() or self._task.exception() is not None:
            return 0.0
        return max(0.0, self._began + max(MIN_CACHE_SECONDS, CACHE_FACTOR * (self._ended - self._began)) - time.monotonic())

    def _record_end(self, _: "asyncio.Task[DashboardData]") -> None:
        self._ended = time.monotonic()


class DashboardCache:
    """Caches one query per organisation, for a second or somewhat longer."""

    def __init__(self, query: Callable[[str | None], Coroutine[None, None, DashboardData]]) -> None:
        self._load = query
        self._queries: dict[str | None, SharedQuery] = {}

    async def get(self, org_id: str | None, *, after: bool = False) -> DashboardData:
        """The cached data, or a new query.

        `after` is for a page that was notified of a change: older data will not do, so it waits until the cached query is stale
        and shares the next one with all other pages that were notified.
        """
        query = self._queries.get(org_id)
        if query is not None and after:
            await query.wait_until_stale()
            query = None if self._queries.get(org_id) is query else self._queries.get(org_id)
        if query is None or not query.is_fresh:
            query = self._start_query(org_id)
        return await query.result()

    def _start_query(self, org_id: str | None) -> SharedQuery:
        if len(self._queries) >= MAX_ORGANISATIONS:
            self._queries.clear()
        query = self._queries[org_id] = SharedQuery(self._load(org_id))
        return query


def make_dashboard_cache(service: Service) -> DashboardCache:
    overview, database = service.queue.overview, service.rendering.database

    async def query(org_id: str | None) -> DashboardData:
        backlog, running, active, hour, cache, members = await asyncio.gather(
            overview.backlog(org_id=org_id),
            database.read(partial(figures.count_running, org_id)),
            overview.active(org_id=org_id),
            database.read(partial(figures.read_last_hour, org_id)),
            database.read(partial(figures.read_cache_figures, org_id)),
            service.queue.members(),
        )
        return DashboardData(backlog, running, active, hour, cache, members)

    return DashboardCache(query)
