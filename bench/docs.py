"""Documentation: from an upload to readers, what other writers notice of it, and what a page and a version cost.

Sites are generated (docs_generated_site.py). The rounds of all sides are taken in turns, each on a new database in a new
folder. Rows by the clock have one in processor time beside them, of this process and of those that it starts: other work
disturbs that less.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import docs_editions, docs_generated_site, docs_limits, docs_memory, http_servers, place
from bench.docs_builds import Processed, Spent, bytes_in, record_at_once, site_bench, submit_times, submits_beside, write_times
from bench.docs_generated_site import Site
from bench.figure import Figure, quantile, say
from bench.http import BYTES, PICTURE
from bench.http_load import Ask, rate
from bench.http_servers import Server
from pressroom.apps.docs.model import Build
from tests.apps.docs.edge_stage import edge_stage

TAR = "tar x of the same archive and one sync"
CPU = "s of CPU"
CHANGED = 0.01
IDLE = "while nothing else goes on"


@dataclass(frozen=True)
class DocsSizes:
    rounds: int
    seconds: float  # that one side of a round takes
    files: int  # of the site that is built
    build_rounds: int
    many: int  # files of the largest site
    few: int  # what its memory is compared with
    submits: int  # while nothing else goes on
    editions: int
    edition_rounds: int
    versions: int
    version_files: int


FULL = DocsSizes(
    rounds=5,
    seconds=3,
    files=5_000,
    build_rounds=3,
    many=50_000,
    few=500,
    submits=200,
    editions=100,
    edition_rounds=5,
    versions=10,
    version_files=1_000,
)
QUICK = DocsSizes(
    rounds=2,
    seconds=2,
    files=500,
    build_rounds=2,
    many=3_000,
    few=100,
    submits=30,
    editions=20,
    edition_rounds=2,
    versions=4,
    version_files=100,
)


def builds(folder: Path, sizes: DocsSizes) -> Iterator[Figure]:
    """From `PATCH {"status": "uploaded"}` until the edge answers with a page of the build."""
    site = Site(sizes.files)
    archive = docs_generated_site.packed(site, folder / "site.tar.gz")
    next_archive = docs_generated_site.packed(docs_generated_site.revised(site, CHANGED, seed=1), folder / "site-next.tar.gz")
    unpacked, first, second = [], [], []
    for number in range(sizes.build_rounds):
        unpacked.append(docs_limits.unpack_and_sync(archive, folder / f"unpacked-{number}"))
        one, two = asyncio.run(_build_both(folder / f"builds-{number}", archive, next_archive))
        first.append(one)
        second.append(two)
        say(f"docs: build {number + 1} of {sizes.build_rounds} (load {os.getloadavg()[0]:.1f})")
    name = f"a site of {sizes.files:,} files, uploaded to readable"
    yield from _spent(name, [one.readable for one in first], unpacked, TAR, "<= 3")
    name = f"a second build, {CHANGED:.0%} of its files changed"
    yield from _spent(
        f"{name}, to readable", [one.readable for one in second], [one.readable for one in first], "the first", "<= 0.4"
    )
    yield from _spent(
        f"{name}, to the end of its job", [one.whole for one in second], [one.whole for one in first], "the first"
    )


async def _build_both(home: Path, archive: Path, next_archive: Path) -> tuple[Processed, Processed]:
    async with site_bench(home) as bench:
        return await bench.process(archive), await bench.process(next_archive)


def _spent(name: str, ours: list[Spent], other: list[Spent], against: str, aim: str = "") -> Iterator[Figure]:
    ratios = [one.seconds / two.seconds for one, two in zip(ours, other, strict=True)]
    spread = f"rounds {min(ratios):.2f} to {max(ratios):.2f}"
    yield Figure(
        name, median(one.seconds for one in ours), median(one.seconds for one in other), "s", f"{against}; {spread}", aim
    )
    yield Figure("  in processor time", median(one.cpu for one in ours), median(one.cpu for one in other), CPU, against)


def writers(folder: Path, sizes: DocsSizes) -> Iterator[Figure]:
    """What everybody else who writes notices of a large site."""
    yield from asyncio.run(
        _beside_many(folder / "writers", docs_generated_site.packed(Site(sizes.many), folder / "many.tar.gz"), sizes)
    )


async def _beside_many(home: Path, archive: Path, sizes: DocsSizes) -> list[Figure]:
    when = f"while {sizes.many:,} files are processed"
    few = docs_generated_site.packed(Site(sizes.few), home.with_name("few.tar.gz"))
    async with site_bench(home) as bench:
        idle = await submit_times(bench.flow, sizes.submits)
        with write_times(bench.flow) as times:
            async with submits_beside(bench.flow) as busy:
                processed = await bench.process(archive)
                await bench.process(few)  # and what search knows of the large one is deleted
        at_once = await record_at_once(bench.flow, processed.build)
    say(f"docs: {sizes.many:,} files readable after {processed.readable.seconds:.0f} s, {len(busy)} submits beside them")
    (longest, what), (longest_cpu, _) = times.longest, times.longest_cpu
    one = f"the rows of all {sizes.many:,} files in one transaction"
    figures = [
        Figure(
            f"longest write transaction {when}", longest * 1000, at_once.seconds * 1000, "ms", f"{one}; {what}", "<= 250 ms"
        ),
        Figure("  in processor time", longest_cpu * 1000, at_once.cpu * 1000, "ms of CPU", one),
    ]
    for part in (0.5, 0.99):
        name = f"submit of another job {when}, p{part * 100:.0f}"
        figures.append(Figure(name, quantile(busy, part) * 1000, quantile(idle, part) * 1000, "ms", IDLE))
    return figures


def editions(folder: Path, sizes: DocsSizes) -> Iterator[Figure]:
    """One small build that all editions of a project track."""
    ours, bare = asyncio.run(docs_editions.switch(folder / "editions", sizes.editions, sizes.edition_rounds))
    name = f"{sizes.editions} editions moved by one build"
    yield from _spent(name, ours, bare, "a transaction for each edition, its statements bare")


def storage(folder: Path, sizes: DocsSizes) -> Iterator[Figure]:
    """Each version changes the text of 15 % of its pages. Generated, until there are measured versions of real sites."""
    for version_on_pages in (False, True):
        home = folder / f"versions-{version_on_pages}"
        sites = docs_generated_site.versions(sizes.version_files, sizes.versions, version_on_pages=version_on_pages)
        made = asyncio.run(_build_all(home, sites))
        whole = sum(build.total_size or 0 for build in made) / 1e6
        where = "its number on every page" if version_on_pages else "15 % of its pages changed"
        against = "the sum of their sizes; generated sites"
        name = f"{sizes.versions} versions, each with {where}"
        yield Figure(name, bytes_in(home / "pressroom.artifacts" / "blobs") / 1e6, whole, "MB", against)
        yield Figure("  with database and search index", bytes_in(home) / 1e6, whole, "MB", against)


async def _build_all(home: Path, sites: list[Site]) -> list[Build]:
    async with site_bench(home) as bench:
        made = []
        for number, site in enumerate(sites):
            archive = docs_generated_site.packed(site, home.with_name(f"{home.name}-{number}.tar.gz"))
            made.append((await bench.process(archive, ref=f"v1.{number}.0")).build)
        return made


def memory(folder: Path, sizes: DocsSizes) -> Iterator[Figure]:
    """The most that a worker ever held, in a process of its own (`python -m bench.docs_memory HOME ARCHIVE`)."""
    found = []
    for files in (sizes.many, sizes.few):
        archive = docs_generated_site.packed(Site(files), folder / ("many.tar.gz" if files == sizes.many else "few.tar.gz"))
        home = folder / f"memory-{files}"
        command = [sys.executable, "-m", docs_memory.__name__, str(home), str(archive)]
        said = subprocess.run(command, cwd=place.ROOT, check=True, capture_output=True, text=True).stdout.split()
        found.append([float(part) for part in said])
    against = f"a site of {sizes.few:,} files"
    yield Figure(f"worker's memory, {sizes.many:,} files", found[0][0], found[1][0], "MiB", against)
    yield Figure("  the largest process that it starts", found[0][1], found[1][1], "MiB", against)


def pages(folder: Path, sizes: DocsSizes) -> Iterator[Figure]:
    """In processor time, as other work on the machine does not count in it."""
    page = (b"<!doctype html><title>A page</title>" + os.urandom(PICTURE).hex().encode())[:PICTURE]
    home = folder / "docs"
    home.mkdir()
    asyncio.run(_fill(home, page))
    with ExitStack() as stack:
        ours = stack.enter_context(http_servers.edge(folder, home))
        bare = stack.enter_context(http_servers.bare(folder, page))
        sides = [(ours, f"{ours.url}/acme/guide/page.html"), (bare, f"{bare.url}/picture/")]
        if http_servers.nginx_program() is None:
            say("docs: there is no nginx (apt-get install nginx-light); that row is left out")
        else:
            nginx = stack.enter_context(http_servers.nginx(folder, page))
            sides.append((nginx, f"{nginx.url}/page.html"))
        found: list[list[float]] = [[] for _ in sides]
        for number in range(sizes.rounds):
            for side, (server, url) in enumerate(sides):
                found[side].append(_answers_per_second_of_cpu(server, url, sizes.seconds, folder))
            say(f"docs: round {number + 1} of {sizes.rounds}")
        mine, other, *others = (median(rates) for rates in found)
    name = f"GET of a page of {PICTURE // 1000} KB"
    yield Figure(name, mine, other, "answers/s of CPU", BYTES, aim=">= 0.6")
    for theirs in others:
        yield Figure(name, mine, theirs, "answers/s of CPU", "nginx, one process, from a folder")


def _answers_per_second_of_cpu(server: Server, url: str, seconds: float, folder: Path) -> float:
    before = server.cpu_seconds()
    answered = rate(Ask("GET", url), seconds, folder) * seconds
    return answered / (server.cpu_seconds() - before)


async def _fill(home: Path, page: bytes) -> None:
    async with edge_stage(f"sqlite:///{home / 'pressroom.db'}", artifacts=str(home / "pressroom.artifacts")) as stage:
        await stage.add_project()
        await stage.publish({"page.html": page, "index.html": b"<title>Home</title>"})
