"""What was answered survives a power loss: the commit is on the disk before the answer. What may be lost costs no fsync.

A killed process cannot show this, because the kernel keeps what it wrote. On SQLite the tests record when the file layer
syncs the write-ahead log; on PostgreSQL a trigger records how each change is committed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from pressroom import Pressroom, Request, Schedule, kind
from pressroom.artifact_lifecycle import store_artifact
from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.artifacts.disk import Disk
from pressroom.clock import ManualClock
from pressroom.model import Statement, Work
from tests import looking

HOURLY = Schedule("hourly", "0 * * * *", kind="held")
NO_BEAT = 3600.0  # a lease so long that no heartbeat comes while a test runs


class Synced(apsw.VFS):
    """SQLite's own file layer, and a list of the write-ahead logs that it synced."""

    def __init__(self) -> None:
        self.logs: list[str] = []
        super().__init__("synced", "unix", makedefault=True)

    def xOpen(self, name: "str | apsw.URIFilename | None", flags: list[int]) -> "SyncedFile":  # noqa: N802
        return SyncedFile(self.logs, name, flags)


class SyncedFile(apsw.VFSFile):
    def __init__(self, logs: list[str], name: "str | apsw.URIFilename | None", flags: list[int]) -> None:
        self._logs = logs
        self._name = str(name.filename() if isinstance(name, apsw.URIFilename) else name)
        super().__init__("unix", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        if self._name.endswith("-wal"):
            self._logs.append(self._name)


@pytest.fixture
def synced() -> Iterator[list[str]]:
    layer = Synced()
    yield layer.logs
    layer.unregister()


class Gate:
    def __init__(self) -> None:
        self.came = 0
        self.opened = asyncio.Event()


@asynccontextmanager
async def working(address: str, clock: ManualClock | None = None) -> AsyncIterator[tuple[Pressroom, Gate]]:
    """With a kind whose handler reports progress and then waits for the test."""
    gate = Gate()

    @kind("held", timeout=None)
    async def held(job: Any, payload: Any) -> str:
        await job.phase("begun")
        gate.came += 1
        await gate.opened.wait()
        return "done"

    clock = clock or ManualClock()
    async with Pressroom(address, kinds=[held], schedules=[HOURLY], workers=1, lease=NO_BEAT, clock=clock) as press:
        yield press, gate
        gate.opened.set()


async def test_on_sqlite_an_answer_comes_after_the_sync_and_a_claim_needs_none(
    file: str, synced: list[str], eventually: Callable[..., Any]
) -> None:
    async with working(file) as (press, gate):

        async def syncs_of(act: Any) -> int:
            before = len(synced)
            await act
            return len(synced) - before

        async def submit_within_a_transaction() -> None:
            async with press.transaction() as tx:
                await press.submit("held", delay=3600, within=tx)

        job = await press.submit("held")
        assert synced, "it was submitted"
        assert await syncs_of(eventually(lambda: gate.came)) == 0, "a claim and its progress may be lost: it is run again"

        gate.opened.set()
        assert await syncs_of(press.wait(job, timeout=60)) > 0
        assert await syncs_of(press.pause("held")) > 0, "from here on the worker writes nothing"
        later = await press.submit("held", delay=3600)
        assert await syncs_of(press.cancel(later)) > 0
        assert await syncs_of(press.retry(later)) > 0
        assert await syncs_of(submit_within_a_transaction()) > 0


async def test_on_sqlite_a_tick_that_was_fired_is_on_the_disk(file: str, synced: list[str]) -> None:
    clock = ManualClock()
    async with working(file, clock) as (press, _):
        await press.pause("held")
        await press.maintenance.stop()  # from here on the test fires
        clock.advance(hours=1)
        before = len(synced)

        assert await press.maintenance.fire_schedules() == 1

        assert len(synced) > before


async def test_a_commit_that_is_shared_is_durable_if_one_of_those_who_share_it_asks_for_it(database: str) -> None:
    """Whoever comes first does not decide for the others."""
    levels: list[str] = []

    def level() -> Work[None]:
        asked = "PRAGMA synchronous" if database.startswith("sqlite:") else "SELECT current_setting('synchronous_commit')"
        ((found,),) = yield Statement(asked)
        levels.append(str(found))

    async with Pressroom(database, workers=None) as press:
        store = press._database

        async def run_together(*durable: bool) -> list[str]:
            """They wait behind a transaction that is held, and so join the same group."""
            levels.clear()
            async with press.transaction() as tx:
                waiting = [asyncio.create_task(store.run(level, name="x", durable=one)) for one in durable]
                while store._writers[0].inbox.qsize() < len(durable):  # noqa: ASYNC110
                    await asyncio.sleep(0)
                await tx.execute("SELECT 1")
            await asyncio.gather(*waiting)
            return sorted(set(levels))

        full, normal = ("2", "1") if database.startswith("sqlite:") else ("on", "off")
        assert await run_together(False, True) == [full]
        assert await run_together(True, False) == [full]
        assert await run_together(False, False) == [normal]
        assert await run_together(True) == [full]


RECORDED = """
CREATE TABLE public.recorded (what TEXT NOT NULL, durable TEXT NOT NULL);
CREATE FUNCTION public.record_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.recorded VALUES (NEW.{column}, current_setting('synchronous_commit'));
    RETURN NULL;
END $$;
CREATE TRIGGER recorded AFTER INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION public.record_commit();
"""


async def test_on_postgres_what_is_answered_waits_for_the_disk_and_a_claim_does_not(
    on_server: str, eventually: Callable[..., Any]
) -> None:
    looking.change(on_server, RECORDED.format(table="job", column="status"))
    looking.change(on_server, f"ALTER DATABASE {on_server.rpartition('/')[2]} SET synchronous_commit = off")  # not for us

    def recorded() -> list[tuple[Any, ...]]:
        return looking.rows(on_server, "SELECT DISTINCT what, durable FROM public.recorded ORDER BY what, durable")

    async with working(on_server) as (press, gate):
        job = await press.submit("held")
        await eventually(lambda: gate.came)
        assert recorded() == [("in_progress", "off"), ("queued", "on")]

        gate.opened.set()
        await press.wait(job, timeout=60)
        await press.cancel(await press.submit("held", delay=3600))
        await press.submit_many([Request("held", delay=timedelta(hours=1))] * 2)
        assert recorded() == [("cancelled", "on"), ("completed", "on"), ("in_progress", "off"), ("queued", "on")]


async def test_on_sqlite_bytes_are_deleted_after_their_condemnation_is_on_the_disk(
    file: str, tmp_path: Path, synced: list[str]
) -> None:
    """Else a power loss could leave a row that promises bytes which are gone."""
    clock = ManualClock()
    deleted_after: list[int] = []

    class Watched(Disk):
        async def delete(self, keys: Any) -> None:
            deleted_after.append(len(synced) - before)
            await super().delete(keys)

    async with Pressroom(file, workers=None, clock=clock) as press:
        disk = Watched(tmp_path / "watched", clock)
        await store_artifact(disk, press._database, b"hello", media_type="text/plain")
        before = len(synced)
        clock.advance(days=2)

        collected = await collect_garbage(disk, press._database)

    assert (collected.condemned, collected.deleted) == (1, 1)
    assert deleted_after == [1]


async def test_on_postgres_bytes_are_deleted_after_their_condemnation_is_on_the_disk(on_server: str, tmp_path: Path) -> None:
    clock = ManualClock()
    looking.change(on_server, RECORDED.format(table="blob", column="state"))
    async with Pressroom(on_server, workers=None, clock=clock) as press:
        disk = Disk(tmp_path / "watched", clock)
        await store_artifact(disk, press._database, b"hello", media_type="text/plain")
        clock.advance(days=2)
        await collect_garbage(disk, press._database)

    recorded = looking.rows(on_server, "SELECT what, durable FROM public.recorded")
    assert recorded == [("marked", "off"), ("deleting", "on"), ("deleted", "off")]
