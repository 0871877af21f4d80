"""The queue at a glance, looked at once for all who look at the same time."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial

from cachetools import LRUCache

from pressroom.api.service import Service
from pressroom.overview import SLOW
from pressroom.store.operators import dashboard
from pressroom.store.operators.overview import Active, ActiveList, BacklogReport
from pressroom.store.operators.worker_coverage import KindWithoutWorker, ReadyJobs, compare
from pressroom.store.operators.worker_list import WorkerState

KEPT = 1.0  # seconds
SHARE = 10  # a look that took long is kept for so many times as long: pages take a tenth of the database at most
PLACES = 1_000  # organisations whose last look is remembered


@dataclass(frozen=True)
class Glance:
    backlog: BacklogReport
    running: dict[str, int]
    active: ActiveList
    hour: dashboard.LastHour
    cache: dashboard.CacheFigures
    members: Sequence[WorkerState]

    @property
    def slow(self) -> list[Active]:
        """Those that have run for too long. They come first among the active."""
        return [job for job in self.active.items if job.seconds > SLOW.total_seconds()]

    @property
    def without_worker(self) -> list[KindWithoutWorker]:
        """Kinds that no running worker takes, of the jobs that are seen here."""
        ready = [ReadyJobs(line.kind, line.ready, line.ready_since) for line in self.backlog.items]
        return compare(ready, self.members, self.backlog.paused, self.backlog.at).without_worker

    @property
    def is_quiet(self) -> bool:
        return not (self.backlog.queued or self.running or self.hour.total.ended)


class Look:
    """One look at the queue, and for how long it will do."""

    def __init__(self, looking: Coroutine[None, None, Glance]) -> None:
        self._began = self._ended = time.monotonic()
        self._task = asyncio.create_task(looking)
        self._task.add_done_callback(self._note_end)

    async def seen(self) -> Glance:
        return await asyncio.shield(self._task)  # who turns away does not take it from the others

    @property
    def will_do(self) -> bool:
        return not self._task.done() or self._left > 0

    async def over(self) -> None:
        """Once it will do no longer."""
        await asyncio.wait({self._task})
        await asyncio.sleep(self._left)

    @property
    def _left(self) -> float:
        if self._task.cancelled() or self._task.exception() is not None:
            return 0.0
        return max(0.0, self._began + max(KEPT, SHARE * (self._ended - self._began)) - time.monotonic())

    def _note_end(self, _: "asyncio.Task[Glance]") -> None:
        self._ended = time.monotonic()


class Glances:
    """Keeps one look for each organisation, for a second or somewhat longer."""

    def __init__(self, look: Callable[[str | None], Coroutine[None, None, Glance]]) -> None:
        self._look = look
        self._kept: LRUCache[str | None, Look] = LRUCache(PLACES)

    async def at(self, org_id: str | None, *, after: bool = False) -> Glance:
        """What is kept, or else a new look.

        `after` is for who was told that something changed: what was seen before that will not do, so they wait until the next
        look is due, together with all others who were told.
        """
        kept = self._kept.get(org_id)
        if kept is not None and after:
            await kept.over()
            kept = None if self._kept.get(org_id) is kept else self._kept.get(org_id)
        if kept is None or not kept.will_do:
            kept = self._look_anew(org_id)
        return await kept.seen()

    def _look_anew(self, org_id: str | None) -> Look:
        look = self._kept[org_id] = Look(self._look(org_id))
        return look


def glances(service: Service) -> Glances:
    overview, database = service.queue.overview, service.rendering.database

    async def look(org_id: str | None) -> Glance:
        backlog, running, active, hour, cache, members = await asyncio.gather(
            overview.backlog(org_id=org_id),
            database.read(partial(dashboard.running, org_id)),
            overview.active(org_id=org_id),
            database.read(partial(dashboard.last_hour, org_id)),
            database.read(partial(dashboard.cache, org_id)),
            service.queue.members(),
        )
        return Glance(backlog, running, active, hour, cache, members)

    return Glances(look)
