"""A wiki at work: a file for its database, and the settings that it has by default."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import engines_cores
from bench.wiki_files import Files
from pressroom import Pressroom, Status
from pressroom.apps.wiki.folders import Folders
from pressroom.apps.wiki.model import make_draft
from pressroom.apps.wiki.rerender_requests import RerenderRequest
from pressroom.renderers.sandbox.engine_pools import EnginePools

WARM_UP = 20
LOOK_EVERY = 0.1  # seconds


@dataclass
class Spent:
    """`rate` is files in a second; `core` is milliseconds that one file took of a core, in this process and its presses."""

    rate: float = 0.0
    core: float = 0.0


@contextmanager
def measured(count: int, presses: EnginePools | None = None) -> Iterator[Spent]:
    spent = Spent()
    pools = presses.pools().values() if presses else ()
    pids = [os.getpid(), *(press.pid for pool in pools for press in pool.processes)]
    started, on_core = time.perf_counter(), engines_cores.spent(pids)
    yield spent
    spent.core = (engines_cores.spent(pids) - on_core) / count * 1000
    spent.rate = count / (time.perf_counter() - started)


async def both_ways(path: Path, files: Files) -> tuple[Spent, Spent]:
    """An import from the first file read to the last page kept, and then all of it rendered again."""
    async with opened(path) as press:
        with measured(files.count, press.rendering.presses) as importing:
            await import_files(press, files)
        with measured(files.count + WARM_UP, press.rendering.presses) as rendering:
            await rerender(press)
    return importing, rendering


async def import_files(press: Pressroom, files: Files) -> None:
    await Folders(press.app("wiki").articles).import_folder(
        files.folder, org_id=None, author="bench", comment="", on_progress=lambda what, done, total: None
    )
    await _until_idle(press)


async def rerender(press: Pressroom) -> None:
    await press.app("wiki").articles.rerender_all(None, RerenderRequest("all"))
    await _until_idle(press)


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Pressroom]:
    """With warm presses, and after the look for stale pages that every start brings."""
    async with Pressroom(f"sqlite:///{path}", grace=0.0) as press:
        await press.leader_tasks.apps_have_begun.wait()
        await asyncio.gather(*(_save(press, number) for number in range(WARM_UP)))
        yield press


async def _save(press: Pressroom, number: int) -> None:
    await press.app("wiki").articles.post(
        None, make_draft(f"Warm_{number}", f"# {number}", author="bench", previous=0), wait=30
    )


async def _until_idle(press: Pressroom) -> None:
    """By looking for jobs that are not over, and seldom: the looks are measured too."""
    while (await press.list(status=[Status.QUEUED, Status.IN_PROGRESS], limit=1)).jobs:  # noqa: ASYNC110
        await asyncio.sleep(LOOK_EVERY)
