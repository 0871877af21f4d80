"""From an upload to editions (Q19 to Q24), in one job."""

from pressroom.apps.docs.model import BuildStatus, PublishStatus
from pressroom.model import Status
from tests.apps.docs.flow_stage import SITE, docs_flow


async def test_an_upload_becomes_what_its_edition_shows(database: str) -> None:
    async with docs_flow(database) as flow:
        build, job = await flow.process(SITE)
        assert job.status is Status.COMPLETED, job.errors
        assert (build.status, build.number, build.object_count) == (BuildStatus.COMPLETED, 1, 3)
        edition = await flow.edition()
        assert (edition.build, edition.publish_status) == (build.uid, PublishStatus.PUBLISHED)
        assert await flow.read(build, "usage/index.html") == SITE["usage/index.html"]
        assert await flow.history() == [build.uid]
