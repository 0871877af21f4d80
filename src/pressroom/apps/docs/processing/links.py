"""Check the links of a build: before its editions are moved if the project holds them back for broken ones, else afterwards."""

import logging
from functools import partial

from pressroom.app import Core
from pressroom.apps.docs.model import Build
from pressroom.apps.docs.store import builds as rows
from pressroom.apps.docs.uploads.build_files import list_files, read_file
from pressroom.apps.docs.uploads.link_check import check_links
from pressroom.errors import NotFound, Unavailable
from pressroom.worker.context import RunningJob

log = logging.getLogger("pressroom.docs")


class BuildLinks:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def check(self, job: RunningJob, build: Build) -> Build:
        """The build with its broken links. Those that an earlier attempt has recorded are not looked for again."""
        if build.broken_links is not None:
            return build
        await job.message("Checking links")
        database = self._core.database
        report = await check_links(await list_files(database, build), partial(read_file, self._core.rendering.blobs))
        if report.unchecked:
            log.info("build %s: %s", build.uid, report.unchecked)
        await job.write(partial(rows.record_links, build.uid, report.broken, report.problems))
        return await database.read(partial(rows.get_build_by_uid, build.uid))

    async def check_published(self, job: RunningJob, build: Build) -> None:
        """A site that readers have has not failed because its links cannot be checked."""
        try:
            await self.check(job, build)
        except (NotFound, Unavailable, OSError) as problem:
            log.warning("the links of the build %s cannot be checked: %s", build.uid, problem)
