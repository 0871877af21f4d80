"""Jobs are ready, and no running worker takes their kind: the log, the commands, the metrics and the health tell of it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pressroom import Pressroom, kind
from pressroom.store.jobs import worker_records
from pressroom.testing import ManualClock
from pressroom.worker.coverage_watch import CoverageWatch

DAY = 86_400_000


@kind("build")
def build(job: object, payload: Any) -> None: ...


@kind("tidy")
def tidy(job: object, payload: Any) -> None: ...


class Place:
    def __init__(self, press: Pressroom, clock: ManualClock, caplog: pytest.LogCaptureFixture) -> None:
        self.press = press
        self.clock = clock
        self._caplog = caplog
        self.leads = True
        self.watch = CoverageWatch(press._database, lambda: self.leads)

    async def worker(self, *kinds: str, uid: str = "one", lease: int = DAY, stopping: bool = False) -> None:
        card = worker_records.WorkerRecord(uid, "elsewhere/1/2/3/4", kinds, 1, 0, lease=lease, stopping=stopping)
        await self.press._database.run(lambda: worker_records.save_worker(card), name="heartbeat")

    async def remove(self, uid: str = "one") -> None:
        await self.press._database.run(lambda: worker_records.delete_worker(uid), name="heartbeat")

    async def look(self, *, after: float = 0) -> list[str]:
        """What the log says about a look at the queue, some seconds later."""
        self.clock.advance(seconds=after)
        self._caplog.clear()
        await self.watch.check()
        return [record.getMessage() for record in self._caplog.records if record.levelno == logging.WARNING]

    async def kinds(self) -> list[str]:
        coverage = await self.press.worker_coverage()
        assert coverage.without_worker == (await self.press.stats()).without_worker
        return [one.kind for one in coverage.without_worker]


@asynccontextmanager
async def place(database: str, caplog: pytest.LogCaptureFixture) -> AsyncIterator[Place]:
    clock = ManualClock()
    async with Pressroom(database, kinds=[build, tidy], workers=None, clock=clock) as press:
        yield Place(press, clock, caplog)


async def test_a_kind_without_a_worker_is_told_after_a_minute(database: str, caplog: pytest.LogCaptureFixture) -> None:
    async with place(database, caplog) as here:
        await here.worker("tidy")
        await here.press.submit("build")
        await here.press.submit("tidy")

        here.clock.advance(seconds=59)
        early = await here.kinds()
        here.clock.advance(seconds=1)
        (late,) = (await here.press.stats()).without_worker

        assert early == []
        assert (late.kind, late.ready) == ("build", 1)
        assert (await here.press.stats()).workers == 1


async def test_paused_kinds_and_jobs_that_are_not_due_may_wait(database: str, caplog: pytest.LogCaptureFixture) -> None:
    async with place(database, caplog) as here:
        await here.worker("tidy")
        await here.press.submit("build", delay=86_400)
        here.clock.advance(minutes=5)
        delayed = await here.kinds()
        await here.press.submit("build")
        await here.press.pause("build")
        here.clock.advance(minutes=5)
        paused = await here.kinds()
        await here.press.resume("build")

        assert (delayed, paused, await here.kinds()) == ([], [], ["build"])


@pytest.mark.parametrize("gone", [{"lease": 1000}, {"stopping": True}], ids=["silent", "stopping"])
async def test_a_worker_that_is_silent_or_stops_does_not_count(
    database: str, caplog: pytest.LogCaptureFixture, gone: dict[str, Any]
) -> None:
    async with place(database, caplog) as here:
        await here.worker("tidy", uid="other")
        await here.worker("build", **gone)
        await here.press.submit("build")
        here.clock.advance(minutes=2)

        assert await here.kinds() == ["build"]


async def test_a_kind_that_only_another_process_knows_is_told_too(database: str, caplog: pytest.LogCaptureFixture) -> None:
    @kind("press")
    def press_kind(job: object, payload: Any) -> None: ...

    async with place(database, caplog) as here:
        async with Pressroom(database, kinds=[press_kind], workers=None, clock=here.clock) as elsewhere:
            await elsewhere.submit("press")
        here.clock.advance(minutes=2)

        assert await here.kinds() == ["press"]


async def test_the_leader_warns_once_again_every_ten_minutes_and_when_it_is_over(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with place(database, caplog) as here:
        await here.worker("tidy", uid="other")
        await here.press.submit("build")
        await here.press.submit("build")
        sentence = "no running worker takes build, of which 2 jobs are ready"

        assert await here.look() == []
        assert await here.look(after=59) == []
        assert await here.look(after=1) == [sentence]
        assert await here.look(after=10) == []
        assert await here.look(after=589) == []
        assert await here.look(after=1) == [sentence]
        await here.worker("build")
        assert await here.look(after=10) == ["build is no longer without a worker, or has no jobs that are ready"]
        assert await here.look(after=10) == []


async def test_a_worker_that_is_restarted_is_not_warned_of(database: str, caplog: pytest.LogCaptureFixture) -> None:
    """Its jobs may have been ready for long: it was slow, and not absent."""
    async with place(database, caplog) as here:
        await here.worker("tidy", uid="other")
        await here.worker("build")
        await here.press.submit("build")
        assert await here.look(after=3600) == []

        await here.remove()
        assert await here.look(after=10) == []
        await here.worker("build")
        assert await here.look(after=10) == []
        assert await here.look(after=600) == []


async def test_without_any_worker_that_is_what_is_told(database: str, caplog: pytest.LogCaptureFixture) -> None:
    """A service that does not lead tells it, since there is no leader."""
    async with place(database, caplog) as here:
        here.leads = False
        await here.press.submit("build")
        await here.press.submit("tidy")

        assert await here.look() == []
        assert await here.look(after=60) == ["no worker is running, and jobs are ready of: build, tidy"]
        await here.worker("tidy")
        assert await here.look(after=10) == ["a worker is running again"]
        assert await here.look(after=600) == []  # of build the leader tells


async def test_another_leader_begins_anew(database: str, caplog: pytest.LogCaptureFixture) -> None:
    async with place(database, caplog) as here:
        await here.worker("tidy")
        await here.press.submit("build")
        await here.look()
        assert len(await here.look(after=60)) == 1

        here.leads = False
        assert await here.look(after=10) == []
        here.leads = True
        assert await here.look(after=10) == []
        assert len(await here.look(after=60)) == 1


async def test_the_leader_of_real_workers_watches(
    file: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    monkeypatch.setattr("pressroom.worker.coverage_watch.INTERVAL", 0.01)
    clock = ManualClock()
    async with Pressroom(file, kinds=[build, tidy], workers=1, only=["tidy"], clock=clock, lease=3600) as press:
        await press.submit("build")
        await eventually(lambda: press.maintenance._coverage_watch._since)
        clock.advance(seconds=61)

        await eventually(lambda: "no running worker takes build, of which 1 job is ready" in caplog.text)


async def test_a_service_without_workers_watches(
    file: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    monkeypatch.setattr("pressroom.worker.coverage_watch.INTERVAL", 0.01)
    async with place(file, caplog) as here:
        await here.press.submit("build")
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as together:
            together.create_task(here.press.local_workers.watch_coverage(stopping))
            await eventually(lambda: here.clock.advance(seconds=1) or "no worker is running" in caplog.text)
            stopping.set()

        assert "no worker is running, and jobs are ready of: build" in caplog.text
