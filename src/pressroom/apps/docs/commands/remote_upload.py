"""An upload through the HTTP interface of a service."""

from collections.abc import AsyncGenerator, Mapping
from typing import IO, Any

import msgspec

from pressroom.apps.docs.commands.api_client import DocsClient, path_of
from pressroom.apps.docs.commands.job_progress import EndedJob, JobEvent
from pressroom.apps.docs.commands.upload_plan import UploadPlan, edition_of_view, is_concerned, plan_remotely
from pressroom.apps.docs.commands.upload_targets import Upload
from pressroom.apps.docs.domain.slugs import SlugPreview
from pressroom.apps.docs.model import AutoCreate
from pressroom.apps.docs.requests import BuildDraft
from pressroom.apps.docs.store.editions import ShownBuild
from pressroom.errors import NotFound


class RemoteUpload:
    def __init__(self, client: DocsClient, org: str, project: str) -> None:
        self._client, self._org, self._project = client, org, project
        self._here = path_of("orgs", org, "projects", project)

    async def create_project(self) -> None:
        try:
            await self._client.request("GET", self._here)
        except NotFound:
            await self._client.request("POST", path_of("orgs", self._org, "projects"), {"slug": self._project})

    async def plan(self, draft: BuildDraft) -> UploadPlan:
        org, here = path_of("orgs", self._org), self._here
        asked = {"git_ref": draft.git_ref, "project": self._project, "alternate_name": draft.alternate_name}
        preview = msgspec.convert(await self._client.request("POST", f"{org}/slug-preview", asked), SlugPreview)
        editions = [edition_of_view(view) for view in await self._client.request("GET", f"{here}/editions")]
        shown: dict[str, ShownBuild] = {}
        for edition in editions:
            if edition.build is not None and is_concerned(edition, draft):
                build = await self._client.request("GET", f"{here}/builds/{edition.build}")
                facts = (build["git_ref"], build["alternate_name"], build["number"] or 0)
                shown[edition.id] = ShownBuild(edition.build, *facts)
        auto_create = (await self._client.request("GET", here)).get("auto_create")
        auto_create = auto_create or (await self._client.request("GET", org))["auto_create"]
        return plan_remotely(draft, preview, editions, shown, msgspec.convert(auto_create, AutoCreate))

    async def announce(self, draft: BuildDraft) -> Upload:
        build = await self._client.request("POST", f"{self._here}/builds", draft)
        return Upload(build, build.get("upload_url"))

    async def send(self, upload: Upload, archive: IO[bytes], size: int) -> None:
        assert upload.upload_url is not None
        await self._client.put_archive(upload.upload_url, archive, size)

    async def start(self, upload: Upload) -> str:
        build = await self._client.request("PATCH", f"{self._here}/builds/{upload.id}", {"status": "uploaded"})
        return str(build["queue_url"])

    def events(self, job: str) -> AsyncGenerator[JobEvent]:
        return self._client.events(job.rpartition("/")[2])

    async def read_end(self, job: str) -> EndedJob:
        return await self._client.read_end(job.rpartition("/")[2])

    async def read_build(self, upload: Upload) -> Mapping[str, Any]:
        build = await self._client.request("GET", f"{self._here}/builds/{upload.id}")
        listed = await self._client.request("GET", f"{self._here}/editions")
        editions = [
            {"slug": one["slug"], "published_url": one["published_url"]} for one in listed if one.get("build") == build["id"]
        ]
        return {**build, "editions": editions}
