"""The last step of a job that moved editions: the pages that they show can be searched."""

import logging

from pressroom.apps.docs.model import Build
from pressroom.apps.docs.search.search import Search
from pressroom.errors import NotFound, Unavailable
from pressroom.worker.context import RunningJob

log = logging.getLogger("pressroom.docs")


async def index_pages(job: RunningJob, search: Search, build: Build) -> None:
    """A site is published whether it can be searched or not; `reconcile` indexes what was left out."""
    await job.message("Indexing pages for search")
    try:
        await search.index_build(build)
    except (NotFound, Unavailable, OSError) as problem:
        log.warning("the pages of the build %s cannot be searched yet: %s", build.uid, problem)
