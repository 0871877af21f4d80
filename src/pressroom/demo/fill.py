"""Fill a database with a day."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random

from pressroom.clock import SystemClock
from pressroom.config import Settings
from pressroom.demo import kinds
from pressroom.demo.receivers import Receivers
from pressroom.demo.scenario import DAY, HOUR, MINUTE, DemoDay
from pressroom.demo.simulated_workers import SimulatedWorker, SimulatedWorkers
from pressroom.demo.timeline import SettableClock, Timeline
from pressroom.errors import InvalidArgument
from pressroom.pressroom import Pressroom
from pressroom.queue import PAGE_LIMIT
from pressroom.store.jobs import worker_records
from pressroom.store.jobs.worker_records import WorkerRecord
from pressroom.worker.process import simulated_identity

type ReportProgress = Callable[[str, int, int], None]  # what, how many of it are done, and of how many

MINUTES = DAY // MINUTE
SILENT_WORKER = WorkerRecord(
    "press-3.demo.291", simulated_identity("press-3", 291), ["render"], 4, 0, "press-3", 291, "0.0.9", "embedded"
)


@dataclass(frozen=True)
class FillResult:
    """How many jobs there are now, by status, and the secret of a token that may do everything."""

    jobs: Mapping[str, int]
    secret: str


async def fill_database(settings: Settings, *, jobs: int, seed: int, add: bool, report: ReportProgress) -> FillResult:
    """Raises InvalidArgument for a database that holds jobs already, unless `add`."""
    end = SystemClock().now_ms()
    clock = SettableClock(end - DAY)
    timeline = Timeline(clock)
    ours, schedules = kinds.make_kinds(timeline.sleep), kinds.SCHEDULES
    async with Pressroom(settings=settings, kinds=ours, schedules=schedules, workers=None, clock=clock) as press:
        if not add and (await press.list(limit=1)).jobs:
            raise InvalidArgument(
                f"{settings.database_label} has jobs; name another database, or let more stand beside them with --add"
            )
        press.webhooks.client = Receivers(Random(seed))
        simulated = _make_workers(press, [kind.name for kind in ours])
        workers = SimulatedWorkers(press, timeline, seed, simulated, upgraded_at=end - 5 * HOUR)
        day = DemoDay(press, timeline, workers, seed, end, jobs)
        await workers.save_heartbeats()
        day.start()
        timeline.start_activity(_add_silent_worker(press, timeline, end - 25 * MINUTE))
        try:
            await timeline.run_until(end, lambda moment: report("minutes", MINUTES - (end - moment) // MINUTE, MINUTES))
        finally:
            await timeline.cancel_all()
        await workers.save_heartbeats()
        for app in press.installed:
            if app.demo is not None:
                await app.demo(press.apps[app.name])
        return FillResult(await _count_jobs(press), day.admin)


def _make_workers(press: Pressroom, application: list[str]) -> list[SimulatedWorker]:
    everything = [*sorted(press.rendering.kinds), *application]
    return [
        SimulatedWorker("press-1.demo.417", "press-1", 417, everything, 8),
        SimulatedWorker("press-2.demo.388", "press-2", 388, everything, 4),
        SimulatedWorker("press-1.demo.418", "press-1", 418, [press.webhooks.kind.name], 16),
    ]


async def _add_silent_worker(press: Pressroom, timeline: Timeline, moment: int) -> None:
    """A worker that was seen until then, and not since."""
    await timeline.sleep_until(moment)
    await press.rendering.database.run(partial(worker_records.save_worker, SILENT_WORKER), name="heartbeat", durable=False)


async def _count_jobs(press: Pressroom) -> Mapping[str, int]:
    counted: Counter[str] = Counter()
    cursor = None
    while True:
        page = await press.list(limit=PAGE_LIMIT, cursor=cursor)
        counted.update(job.status for job in page.jobs)
        if (cursor := page.cursor) is None:
            return counted
