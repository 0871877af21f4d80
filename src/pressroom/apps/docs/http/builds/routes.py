"""`…/builds`: announce, upload, process, look at and compare builds."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.docs.http.access import ADMIN, READER, UPLOADER, require_role
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.builds import openapi
from pressroom.apps.docs.http.builds.views import (
    BuildChanges,
    BuildPlace,
    announced_build_view,
    build_detail_view,
    build_view,
    comparison_view,
    file_view,
)
from pressroom.apps.docs.http.replies import accepted, collection, resource
from pressroom.apps.docs.http.request_parts import (
    MisplacedValue,
    decode_body,
    parse_choice,
    parse_limit,
    parse_number_cursor,
    parse_uid_cursor,
)
from pressroom.apps.docs.requests import BuildDraft
from pressroom.apps.docs.uploads.staging import CAPABILITY
from pressroom.apps.docs.urls import PublishedUrls

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = BuildsApi(service, app)
    builds = "/orgs/{org}/projects/{project}/builds"
    routes.add(builds, api.list_builds, "GET", **openapi.LIST_BUILDS)
    routes.add(builds, api.announce_build, "POST", small_body=True, **openapi.ANNOUNCE_BUILD)
    routes.add(f"{builds}/{{build}}", api.get_build, "GET", **openapi.GET_BUILD)
    routes.add(f"{builds}/{{build}}", api.start_build, "PATCH", small_body=True, **openapi.START_BUILD)
    routes.add(f"{builds}/{{build}}", api.delete_build, "DELETE", small_body=True, **openapi.DELETE_BUILD)
    routes.add(f"{builds}/{{build}}/files", api.list_build_files, "GET", **openapi.LIST_FILES)
    routes.add(f"{builds}/{{build}}/problems", api.list_build_problems, "GET", **openapi.LIST_PROBLEMS)
    routes.add(f"{builds}/{{build}}/compare/{{other}}", api.compare_builds, "GET", **openapi.COMPARE)
    limit = app.settings.max_upload
    routes.add("/uploads/{build}", api.upload_archive, "PUT", body_limit=limit, **openapi.PUT_ARCHIVE)
    return routes


class BuildsApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._builds, self._projects = app.builds, app.projects
        self._published = PublishedUrls(app.settings)

    async def list_builds(self, request: Request, org: str, project: str) -> Response:
        """The builds of a project, newest first."""
        await require_role(self._service, request, org, READER)
        status = parse_choice(request, "status", openapi.STATUSES)
        limit, before, place = parse_limit(request), parse_uid_cursor(request), await self._place(request, org, project)
        found, total = await self._builds.list(org, project, status=status, before=before, limit=limit + 1)
        cursor = found[limit - 1].uid if len(found) > limit else None
        views = [build_view(build, place) for build in found[:limit]]
        return collection(self._service, request, views, cursor=cursor, total=total)

    async def announce_build(self, request: Request, org: str, project: str) -> Response:
        """Announce a build. Its archive is to be PUT to `upload_url`, which works for an hour; then tell that it is there.

        No Idempotency-Key is needed: a build that nothing is uploaded for is deleted. It also would keep the address of the
        upload, which is as good as a password."""
        caller = await require_role(self._service, request, org, UPLOADER)
        draft, place = await decode_body(request, BuildDraft), await self._place(request, org, project)
        announced = await self._builds.announce(
            org, project, draft, uploader=caller.name, base_url=self._service.address_for(request)
        )
        view = announced_build_view(announced.build, place, announced.upload_url)
        status = 200 if announced.upload_url is None else 201
        return reply(view, status=status, headers={"Location": view.self_url, "Cache-Control": "no-store"})

    async def get_build(self, request: Request, org: str, project: str, build: str) -> Response:
        """A build, with the editions that show it."""
        await require_role(self._service, request, org, READER)
        found = await self._builds.get(org, project, build)
        editions = await self._builds.list_editions_showing(found)
        return resource(request, build_detail_view(found, await self._place(request, org, project), list(editions)))

    async def start_build(self, request: Request, org: str, project: str, build: str) -> Response:
        """Tell that the archive of a build is uploaded: a job processes it. Told twice, it is the same job."""
        caller = await require_role(self._service, request, org, UPLOADER)
        changes = await decode_body(request, BuildChanges)
        if changes.status != openapi.UPLOADED:
            raise MisplacedValue(422, "invalid_argument", f"status can only be set to {openapi.UPLOADED}", ["body", "status"])
        started = await self._builds.start(org, project, build, actor=caller.name)
        view = build_view(started, await self._place(request, org, project))
        return accepted(view, view.queue_url or view.self_url)

    async def delete_build(self, request: Request, org: str, project: str, build: str) -> Response:
        """Delete a build that no edition shows. It can be restored until its retention is over."""
        caller = await require_role(self._service, request, org, ADMIN)
        await self._builds.delete(org, project, build, actor=caller.name)
        return Response(status_code=204)

    async def list_build_files(self, request: Request, org: str, project: str, build: str) -> Response:
        """The files of a build, by path."""
        await require_role(self._service, request, org, READER)
        limit = parse_limit(request, openapi.MOST_FILES, openapi.USUAL_FILES)
        first = parse_number_cursor(request) or 0
        files = await self._builds.list_files(await self._builds.get(org, project, build))
        cursor = str(first + limit) if first + limit < len(files) else None
        views = [file_view(file) for file in files[first : first + limit]]
        return collection(self._service, request, views, cursor=cursor, total=len(files))

    async def list_build_problems(self, request: Request, org: str, project: str, build: str) -> Response:
        """The broken links of a build, the first ones; `broken_links` of the build counts all."""
        await require_role(self._service, request, org, READER)
        problems = await self._builds.list_problems(await self._builds.get(org, project, build))
        return collection(self._service, request, problems, total=len(problems))

    async def compare_builds(self, request: Request, org: str, project: str, build: str, other: str) -> Response:
        """Which files were added, removed and changed between two builds, or between what two editions show."""
        await require_role(self._service, request, org, READER)
        found = await self._builds.compare(org, project, build, other)
        here = f"{ApiUrls.of(self._service, request).build(org, project, build)}/compare/{other}"
        return resource(request, comparison_view(found, build, other, here))

    async def upload_archive(self, request: Request, build: str) -> Response:
        """The archive of a build. The address is the one that announcing the build has answered."""
        await self._builds.receive(build, request.query_params.get(CAPABILITY, ""), request.stream())
        return Response(status_code=204)

    async def _place(self, request: Request, org: str, project: str) -> BuildPlace:
        owner, found = await self._projects.get_with_org(org, project)
        urls = ApiUrls.of(self._service, request)
        return BuildPlace(org, found.slug, urls, self._published.project(owner, found.slug))
