"""How far the renders of a batch are, for those who wait for all of them."""

from typing import TYPE_CHECKING

import msgspec

from pressroom.model import Job, Status

if TYPE_CHECKING:
    from pressroom.apps.wiki.articles import Articles
    from pressroom.queue import Queue


class BatchProgress(msgspec.Struct, frozen=True):
    """`over` when no render of the batch waits and none will come."""

    waiting: int
    rendered: int
    failed: int
    over: bool


async def read_progress(articles: "Articles", batch: str) -> BatchProgress:
    found = await articles.batch(batch)
    over = found.job.status.ended and not found.waiting
    unqueued = found.job.status in (Status.FAILED, Status.CANCELLED)
    return BatchProgress(found.waiting, found.rendered, found.failed + unqueued, over)


async def describe_failures(queue: "Queue", batch: str, most: int) -> list[str]:
    """Each with what is wrong, and where."""
    children = await queue.list(parent=batch, status=Status.FAILED, limit=most)
    jobs = [await queue.get(job) for job in (*children.jobs, await queue.get(batch))]
    return [_describe(job) for job in jobs if job.status is Status.FAILED]


def _describe(job: Job) -> str:
    error = job.errors[-1] if job.errors else {}
    place = f" (line {error['line']}, column {error.get('column', '?')})" if error.get("line") else ""
    return f"{(job.subject or job.uid).removeprefix('wiki ')}: {error.get('message', 'it failed')}{place}"
