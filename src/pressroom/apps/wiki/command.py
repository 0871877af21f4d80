"""What the command line does with the wiki."""

from pathlib import Path
from typing import Literal

import msgspec

from pressroom.apps.wiki.articles import Articles
from pressroom.apps.wiki.folders import Folders, Taken, Tell
from pressroom.apps.wiki.orders import Order
from pressroom.model import Job, Status
from pressroom.queue import Queue


class Fares(msgspec.Struct, frozen=True):
    """How the renders of a batch fare; `over` when none of them waits and none will come."""

    waiting: int
    rendered: int
    failed: int
    over: bool


class WikiCommands:
    def __init__(self, queue: Queue, articles: Articles) -> None:
        self._queue = queue
        self._articles = articles
        self._folders = Folders(articles)

    async def take_in(self, folder: Path, *, org_id: str | None, author: str, comment: str, tell: Tell) -> Taken:
        return await self._folders.take_in(folder, org_id=org_id, author=author, comment=comment, tell=tell)

    async def put_out(self, folder: Path, *, org_id: str | None, tell: Tell) -> int:
        return await self._folders.put_out(folder, org_id=org_id, tell=tell)

    async def rerender(self, which: Literal["all", "stale"], *, org_id: str | None) -> str:
        return (await self._articles.rerender_all(org_id, Order(which))).uid

    async def fares(self, batch: str) -> Fares:
        found = await self._articles.batch(batch)
        over = found.job.status.ended and not found.waiting
        unqueued = found.job.status in (Status.FAILED, Status.CANCELLED)
        return Fares(found.waiting, found.rendered, found.failed + unqueued, over)

    async def failures(self, batch: str, most: int) -> list[str]:
        """Each with what is wrong, and where."""
        children = await self._queue.list(parent=batch, status=Status.FAILED, limit=most)
        return [_line(await self._queue.get(job)) for job in (*children.jobs, await self._queue.get(batch)) if _failed(job)]


def _failed(job: Job) -> bool:
    return job.status is Status.FAILED


def _line(job: Job) -> str:
    error = job.errors[-1] if job.errors else {}
    place = f" (line {error['line']}, column {error.get('column', '?')})" if error.get("line") else ""
    return f"{(job.subject or job.uid).removeprefix('wiki ')}: {error.get('message', 'it failed')}{place}"
