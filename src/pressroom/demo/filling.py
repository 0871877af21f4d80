"""Fill a database with a day."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random

from pressroom.clock import SystemClock
from pressroom.config import Settings
from pressroom.demo import kinds
from pressroom.demo.crew import Crew, Hand
from pressroom.demo.receivers import Receivers
from pressroom.demo.story import DAY, HOUR, MINUTE, Day
from pressroom.demo.timeline import MovedClock, Timeline
from pressroom.errors import InvalidArgument
from pressroom.pressroom import Pressroom
from pressroom.queue import PAGE_LIMIT
from pressroom.store.jobs import worker_records
from pressroom.store.jobs.worker_records import WorkerRecord
from pressroom.worker.process import simulated_identity

type Tell = Callable[[str, int, int], None]  # what, how many of it are done, and of how many

MINUTES = DAY // MINUTE
SILENT = WorkerRecord(
    "press-3.demo.291", simulated_identity("press-3", 291), ["render"], 4, 0, "press-3", 291, "0.0.9", "embedded"
)


@dataclass(frozen=True)
class Filled:
    """How many jobs there are now, by status, and the secret of a token that may do everything."""

    jobs: Mapping[str, int]
    secret: str


async def fill(settings: Settings, *, jobs: int, seed: int, add: bool, tell: Tell) -> Filled:
    """Raises InvalidArgument for a database that is somebody's already."""
    end = SystemClock().now_ms()
    clock = MovedClock(end - DAY)
    timeline = Timeline(clock)
    ours, schedules = kinds.make(timeline.sleep), kinds.SCHEDULES
    async with Pressroom(settings=settings, kinds=ours, schedules=schedules, workers=None, clock=clock) as press:
        if not add and (await press.list(limit=1)).jobs:
            raise InvalidArgument(f"{settings.place} has jobs; name another database, or let more stand beside them with --add")
        press.webhooks.client = Receivers(Random(seed))
        hands = _hands(press, [kind.name for kind in ours])
        crew = Crew(press, timeline, seed, hands, upgraded_at=end - 5 * HOUR)
        day = Day(press, timeline, crew, seed, end, jobs)
        await crew.show_up()
        day.begin()
        timeline.begin(_fall_silent(press, timeline, end - 25 * MINUTE))
        try:
            await timeline.run_until(end, lambda moment: tell("minutes", MINUTES - (end - moment) // MINUTE, MINUTES))
        finally:
            await timeline.leave()
        await crew.show_up()
        for app in press.installed:
            if app.demo is not None:
                await app.demo(press.apps[app.name])
        return Filled(await _count(press), day.admin)


def _hands(press: Pressroom, application: list[str]) -> list[Hand]:
    everything = [*sorted(press.rendering.kinds), *application]
    return [
        Hand("press-1.demo.417", "press-1", 417, everything, 8),
        Hand("press-2.demo.388", "press-2", 388, everything, 4),
        Hand("press-1.demo.418", "press-1", 418, [press.webhooks.kind.name], 16),
    ]


async def _fall_silent(press: Pressroom, timeline: Timeline, moment: int) -> None:
    """A worker that was seen until then, and not since."""
    await timeline.sleep_until(moment)
    await press.rendering.database.run(partial(worker_records.save_worker, SILENT), name="heartbeat", durable=False)


async def _count(press: Pressroom) -> Mapping[str, int]:
    counted: Counter[str] = Counter()
    cursor = None
    while True:
        page = await press.list(limit=PAGE_LIMIT, cursor=cursor)
        counted.update(job.status for job in page.jobs)
        if (cursor := page.cursor) is None:
            return counted
