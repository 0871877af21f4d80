"""Builds from `uploaded` to readable: a docs app with an edge, both in this process, and what is looked at beside them."""

import asyncio
import os
import resource
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from bench.job import PAYLOAD, noop
from pressroom.apps.docs.edge.making import make_edge
from pressroom.apps.docs.model import MAIN, Build
from pressroom.apps.docs.processing.inventory import SITE
from pressroom.apps.docs.store.builds import list_editions_showing
from pressroom.apps.docs.uploads.build_files import list_files
from pressroom.model import Work
from pressroom.store.artifacts import recording
from pressroom.store.engine.work_requests import WorkRequest
from tests.apps.docs.flow_stage import DocsFlow, docs_flow

LOOK_EVERY = 0.02  # seconds
SUBMIT_EVERY = 0.1
CHUNK = 1024 * 1024
WITHIN = 1_800.0  # seconds that a build may take


@dataclass
class Spent:
    """`seconds` by the clock; `cpu` of this process and of those that it started and that have ended since."""

    seconds: float = 0.0
    cpu: float = 0.0


@contextmanager
def measured() -> Iterator[Spent]:
    spent = Spent()
    started, on_cpu = time.perf_counter(), _cpu_seconds()
    yield spent
    spent.seconds, spent.cpu = time.perf_counter() - started, _cpu_seconds() - on_cpu


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@dataclass
class Processed:
    """One build. `readable`: until the edge answers with a page of it. `whole`: until its job has ended, so that its links are
    checked and its pages can be searched too."""

    build: Build
    readable: Spent
    whole: Spent


class SiteBench:
    """`flow` has the organisation acme with the project guide."""

    def __init__(self, flow: DocsFlow) -> None:
        self.flow = flow

    async def process(self, archive: Path, ref: str = "main") -> Processed:
        build = await self._upload(archive, ref)
        with measured() as whole:
            with measured() as readable:
                started = await self.flow.start(build)
                await self._wait_until_readable(build.uid)
            build = await self._wait_until_ended(started)
        return Processed(build, readable, whole)

    async def _upload(self, archive: Path, ref: str) -> Build:
        """Announced and received. It is written to the disk, as by a PUT."""
        announced = await self.flow.announce(await asyncio.to_thread(archive.read_bytes), ref)
        await self.flow.app.staging.receive(announced.build.uid, _chunks(archive), self.flow.app.settings.max_upload)
        return announced.build

    async def _wait_until_readable(self, build: str) -> None:
        """The pointers are looked at in the database: an edge that was asked within the last second may show what was there for
        up to a second longer, and one that was not shows the build at once."""
        async with asyncio.timeout(WITHIN):
            while not (slugs := await self.flow.app.core.database.read(partial(list_editions_showing, build))):  # noqa: ASYNC110
                await asyncio.sleep(LOOK_EVERY)
        edge = make_edge(self.flow.app.core, self.flow.app.dashboards)
        path = "" if MAIN in slugs else f"v/{slugs[0]}/"
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=edge), base_url="http://127.0.0.1:8001") as http:
            answer = await http.get(f"/acme/guide/{path}index.html")
        if answer.status_code != 200 or answer.headers["X-Docverse-Build"] != build:
            raise RuntimeError(f"the edge answered {answer.status_code} with {answer.headers.get('X-Docverse-Build')}")

    async def _wait_until_ended(self, build: Build) -> Build:
        assert build.job_uid is not None
        job = await self.flow.press.wait_until_ended(build.job_uid, timeout=WITHIN)
        if job.status != "completed":
            raise RuntimeError(f"the build ended as {job.status}: {job.errors}")
        return await self.flow.build(build.uid)


@asynccontextmanager
async def site_bench(home: Path) -> AsyncIterator[SiteBench]:
    """On a new database with a folder of artifacts beside it."""
    await asyncio.to_thread(home.mkdir)
    database = f"sqlite:///{home / 'pressroom.db'}"
    async with docs_flow(database, artifacts=str(home / "pressroom.artifacts"), kinds=[noop]) as flow:
        yield SiteBench(flow)


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


@dataclass
class WriteTimes:
    """Seconds that each transaction of the database writer took, from BEGIN to the end of COMMIT, and what it wrote."""

    seconds: list[tuple[float, str]] = field(default_factory=list)
    cpu: list[tuple[float, str]] = field(default_factory=list)

    @property
    def longest(self) -> tuple[float, str]:
        return max(self.seconds)

    @property
    def longest_cpu(self) -> tuple[float, str]:
        return max(self.cpu)


@contextmanager
def write_times(flow: DocsFlow) -> Iterator[WriteTimes]:
    """In the thread that writes. Another writer, of this process or of another one, waits no longer than that for its turn."""
    database: Any = flow.press._database
    (writer,) = database._writers
    times = WriteTimes()
    inner: Callable[[list[WorkRequest]], None] = writer._commit_together

    def commit_together(group: list[WorkRequest]) -> None:
        started, on_cpu = time.perf_counter(), time.thread_time()
        inner(group)
        names = ", ".join(sorted({request.name for request in group}))
        times.seconds.append((time.perf_counter() - started, names))
        times.cpu.append((time.thread_time() - on_cpu, names))

    writer._commit_together = commit_together
    try:
        yield times
    finally:
        writer._commit_together = inner


@asynccontextmanager
async def submits_beside(flow: DocsFlow) -> AsyncIterator[list[float]]:
    """Seconds that each submit of another job took meanwhile, each on the disk. One was due every tenth of a second, and is
    counted from then."""
    waits: list[float] = []

    async def submit() -> None:
        due = time.perf_counter()
        while True:
            await flow.press.submit(noop.name, PAYLOAD)
            waits.append(time.perf_counter() - due)
            due = max(due + SUBMIT_EVERY, time.perf_counter())
            await asyncio.sleep(due - time.perf_counter())

    submitting = asyncio.create_task(submit())
    try:
        yield waits
    finally:
        submitting.cancel()
        with suppress(asyncio.CancelledError):
            await submitting


async def submit_times(flow: DocsFlow, count: int) -> list[float]:
    """The same while nothing else goes on."""
    async with submits_beside(flow) as waits:
        while len(waits) < count:  # noqa: ASYNC110
            await asyncio.sleep(SUBMIT_EVERY)
    return waits


async def record_at_once(flow: DocsFlow, build: Build) -> Spent:
    """Record the files of a build a second time, all in one transaction of the database writer."""
    database = flow.app.core.database
    files = await list_files(database, build)

    def unit() -> Work[None]:
        uid = yield from recording.begin_artifact("bench", files=len(files), size=0, media_type=SITE)
        yield from recording.add_files(uid, files)

    with write_times(flow) as times:
        await database.run(unit, name="record")
    return Spent(times.longest[0], times.longest_cpu[0])


def bytes_in(folder: Path) -> int:
    """Of the files below a folder, by their lengths."""
    return sum(os.path.getsize(Path(root) / name) for root, _, names in os.walk(folder) for name in names)
