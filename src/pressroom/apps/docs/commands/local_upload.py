"""An upload into the database of the settings. Workers of this process, or of another one, process the build."""

from collections.abc import AsyncGenerator, Mapping
from typing import IO, TYPE_CHECKING, Any

from pressroom.apps.docs.commands.job_progress import EndedJob, JobEvent, ended_job
from pressroom.apps.docs.commands.places import AUTHOR
from pressroom.apps.docs.commands.upload_plan import UploadPlan, plan_locally
from pressroom.apps.docs.commands.upload_targets import Upload, read_archive
from pressroom.apps.docs.commands.views import build_fields
from pressroom.apps.docs.requests import BuildDraft, OrgDraft, ProjectDraft
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import NotFound

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp


class LocalUpload:
    def __init__(self, app: "DocsApp", org: str, project: str) -> None:
        self._app, self._org, self._project = app, org, project

    async def create_project(self) -> None:
        await ensure_project(self._app, self._org, self._project)

    async def plan(self, draft: BuildDraft) -> UploadPlan:
        return await plan_locally(self._app, self._org, self._project, draft)

    async def announce(self, draft: BuildDraft) -> Upload:
        announced = await self._app.builds.announce(self._org, self._project, draft, uploader=AUTHOR, base_url="")
        return Upload(build_fields(announced.build), announced.upload_url)

    async def send(self, upload: Upload, archive: IO[bytes], size: int) -> None:  # noqa: ARG002
        await self._app.staging.receive(upload.id, read_archive(archive), self._app.settings.max_upload)

    async def start(self, upload: Upload) -> str:
        build = await self._app.builds.start(self._org, self._project, upload.id, actor=AUTHOR)
        assert build.job_uid is not None
        return build.job_uid

    def events(self, job: str) -> AsyncGenerator[JobEvent]:
        return self._app.core.queue.watch(job)

    async def read_end(self, job: str) -> EndedJob:
        return ended_job(await self._app.core.queue.wait_until_ended(job))

    async def read_build(self, upload: Upload) -> Mapping[str, Any]:
        org, _ = await self._app.projects.get_with_org(self._org, self._project)
        build = await self._app.builds.get(self._org, self._project, upload.id)
        urls = PublishedUrls(self._app.settings)
        slugs = await self._app.builds.list_editions_showing(build)
        editions = [{"slug": slug, "published_url": urls.edition(org, self._project, slug)} for slug in slugs]
        return {**build_fields(build), "editions": editions}


async def ensure_project(app: "DocsApp", org: str, project: str) -> None:
    """Make the organisation and the project that are missing, with what is usual."""
    try:
        await app.orgs.get(org)
    except NotFound:
        await app.orgs.create(OrgDraft(slug=org))
    try:
        await app.projects.get(org, project)
    except NotFound:
        await app.projects.create(org, ProjectDraft(slug=project))
