"""The page of a build: how it was processed, what it holds, where it is shown, and what differs from another build."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from pressroom.apps.docs.errors import BuildNotFound
from pressroom.apps.docs.model import Build, BuildStatus, Org, Project
from pressroom.apps.docs.pages.paths import project_path
from pressroom.apps.docs.pages.project_page import project_target
from pressroom.apps.docs.pages.sites_page import refused_form
from pressroom.apps.docs.pages.views import (
    EMPTY_FORM,
    FilledForm,
    build_title,
    get_own_project,
    parse_build_id,
    read_query,
    render_page,
    web_link,
)
from pressroom.apps.docs.store.job_progress import JobItem, JobPhase, list_items, list_phases
from pressroom.apps.docs.store.summaries import find_previous_build, list_largest_files, measure_media_types
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import NotFound, PressroomError, Refused
from pressroom.model import Job, Work
from pressroom.web.job.history import Progress, progress_of
from pressroom.web.site import PageRequest

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

SHOWN_FILES = 15
SHOWN_PROBLEMS = 100
SHOWN_CHANGES = 200  # paths of each sort
CHOSEN_BUILDS = 50  # to compare with


ANNOTATION_TITLES = {
    "ci_platform": "CI platform",
    "commit_sha": "Commit",
    "github_repository": "Repository",
    "github_run_id": "Run ID",
    "github_run_url": "Run",
    "github_run_attempt": "Attempt of the run",
    "github_workflow": "Workflow",
    "github_actor": "Actor",
    "github_event_name": "Event",
}


class ProcessedBuild(msgspec.Struct, frozen=True):
    """What the build's job did. The job is deleted after its retention; the build stays."""

    job: Job
    phases: Sequence[JobPhase]
    items: Sequence[JobItem]
    progress: Progress | None
    skipped: Sequence["SkippedItem"]  # editions that the build matches and does not move


class SkippedItem(msgspec.Struct, frozen=True):
    slug: str
    reason: str = ""


class Annotation(msgspec.Struct, frozen=True):
    title: str
    text: str
    link: str | None = None


class BuildPages:
    def __init__(self, app: "DocsApp") -> None:
        self._app = app
        self._urls = PublishedUrls(app.settings)

    async def show(self, request: PageRequest, org: str, project: str, id: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        return await self._build_page(request, owner, shown, await self._find_build(shown, id))

    async def _find_build(self, project: Project, id: str) -> Build:
        uid = parse_build_id(id)
        if uid is None:
            raise BuildNotFound
        return await self._app.builds.get(project.org, project.slug, uid)

    async def _build_page(
        self,
        request: PageRequest,
        org: Org,
        project: Project,
        build: Build,
        form: FilledForm = EMPTY_FORM,
        problem: PressroomError | None = None,
    ) -> Response:
        text = read_query(request, "files")
        files, media_types = [], []
        if build.artifact is not None:
            files = await request.read(partial(list_largest_files, build.artifact, text=text, limit=SHOWN_FILES))
            media_types = await request.read(partial(measure_media_types, build.artifact))
        problems = await self._app.builds.list_problems(build)
        return render_page(
            request,
            "build.html",
            problem=problem,
            org=org,
            project=project,
            build=build,
            processed=await self._find_processing(request, build),
            editions=await self._app.builds.list_editions_showing(build),
            files=files,
            file_text=text,
            media_types=media_types,
            problems=problems[:SHOWN_PROBLEMS],
            previous=await request.read(partial(find_previous_build, build)),
            others=await self._comparable_builds(project, build),
            annotations=describe_annotations(build.annotations, project.source_url),
            site_url=self._urls.build(org, project.slug, build.uid),
            form=form,
        )

    async def _find_processing(self, request: PageRequest, build: Build) -> ProcessedBuild | None:
        """None before the upload is complete, and once the job is deleted."""
        if build.job_uid is None:
            return None
        try:
            job = await request.site.service.queue.get(build.job_uid)
        except NotFound:
            return None

        def read_processing() -> Work[ProcessedBuild]:
            phases = yield from list_phases(job)
            items = yield from list_items(job, "editions")
            return ProcessedBuild(job, phases, items, progress_of(job), skipped_of(job))

        return await request.read(read_processing)

    async def _comparable_builds(self, project: Project, build: Build) -> list[Build]:
        if build.artifact is None:
            return []
        builds, _ = await self._app.builds.list(project.org, project.slug, status=BuildStatus.COMPLETED, limit=CHOSEN_BUILDS)
        return [one for one in builds if one.uid != build.uid]

    async def compare(self, request: PageRequest, org: str, project: str, id: str) -> Response:
        """`?with=` is the id of another build, or the slug of an edition; by default the build before."""
        owner, shown = await get_own_project(request, self._app, org, project)
        build = await self._find_build(shown, id)
        other = read_query(request, "with", 128)
        if not other:
            previous = await request.read(partial(find_previous_build, build))
            if previous is None:
                raise NotFound("there is no completed build of this ref before this one; choose another to compare with")
            other = previous.uid
        before = await self._find_compared(shown, other)
        compared = await self._app.builds.compare(org, shown.slug, other, build.uid)
        return render_page(
            request,
            "build_compare.html",
            org=owner,
            project=shown,
            build=build,
            before=before,
            other=other,
            compared=compared,
            limit=SHOWN_CHANGES,
            others=await self._comparable_builds(shown, build),
            before_url=None if before is None else self._urls.build(owner, shown.slug, before.uid),
            after_url=self._urls.build(owner, shown.slug, build.uid),
        )

    async def _find_compared(self, project: Project, other: str) -> Build | None:
        """The build of an id, or the one that an edition shows."""
        uid = parse_build_id(other)
        if uid is None:
            uid = (await self._app.editions.get(project.org, project.slug, other)).build
        return None if uid is None else await self._app.builds.get(project.org, project.slug, uid)

    async def delete(self, request: PageRequest, org: str, project: str, id: str) -> Response:
        owner, shown = await get_own_project(request, self._app, org, project)
        build = await self._find_build(shown, id)
        try:
            await self._app.builds.delete(org, shown.slug, build.uid, actor=request.caller.name)
        except Refused as refusal:
            return await self._build_page(request, owner, shown, build, refused_form(request, "delete", refusal), refusal)
        await request.record_audit("docs.build.delete", f"build {build.uid}", before={"project": project_target(shown)})
        notice = f"“{build_title(build)}” is deleted. Until it is purged, it can be restored from purgatory."
        return request.redirect(project_path(shown), notice)


def skipped_of(job: Job) -> list[SkippedItem]:
    """What the result of the job tells, or its progress while it runs."""
    told = [value for value in (job.result, job.progress) if isinstance(value, dict)]
    skipped: Any = next((value["editions_skipped"] for value in told if "editions_skipped" in value), [])
    try:
        return msgspec.convert(skipped, list[SkippedItem])
    except msgspec.ValidationError:
        return []


def describe_annotations(annotations: dict[str, Any], source_url: str) -> list[Annotation]:
    """The commit and the run of CI lead to their pages, where the uploader or the project says which those are."""
    repository = annotations.get("github_repository")
    base = web_link(f"https://github.com/{repository}") if repository else web_link(source_url)
    listed = []
    for name, value in sorted(annotations.items()):
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        link = web_link(value)
        if name == "commit_sha" and base and text.isalnum():
            link = f"{base.rstrip('/')}/commit/{text}"
        listed.append(Annotation(ANNOTATION_TITLES.get(name, name.replace("_", " ").capitalize()), text, link))
    return listed
