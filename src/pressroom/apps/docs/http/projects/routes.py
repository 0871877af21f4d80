"""`/orgs/{org}/projects`, and their dashboards."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import idempotency
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.docs.http.access import ADMIN, READER, UPLOADER, require_role
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.projects import openapi
from pressroom.apps.docs.http.projects.views import project_view
from pressroom.apps.docs.http.replies import accepted, accepted_job, collection, created, resource
from pressroom.apps.docs.http.request_parts import (
    decode_body,
    parse_choice,
    parse_limit,
    parse_slug_cursor,
    parse_uid_cursor,
)
from pressroom.apps.docs.requests import ProjectChanges, ProjectDraft
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.store import Transaction

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = ProjectsApi(service, app)
    project = "/orgs/{org}/projects/{project}"
    routes.add("/orgs/{org}/projects", api.list_projects, "GET", **openapi.LIST_PROJECTS)
    routes.add("/orgs/{org}/projects", api.create_project, "POST", **openapi.CREATE_PROJECT)
    routes.add(project, api.get_project, "GET", **openapi.GET_PROJECT)
    routes.add(project, api.change_project, "PATCH", **openapi.CHANGE_PROJECT)
    routes.add(project, api.delete_project, "DELETE", small_body=True, **openapi.DELETE_PROJECT)
    rebuild = f"{project}/dashboard/rebuild"
    routes.add(rebuild, api.rebuild_dashboard, "POST", small_body=True, **openapi.REBUILD_DASHBOARD)
    rebuild_all = "/orgs/{org}/dashboard/rebuild"
    routes.add(rebuild_all, api.rebuild_dashboards, "POST", small_body=True, **openapi.REBUILD_DASHBOARDS)
    return routes


class ProjectsApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._orgs, self._projects = app.orgs, app.projects
        self._published = PublishedUrls(app.settings)

    async def list_projects(self, request: Request, org: str) -> Response:
        """The projects of an organisation, by slug or newest first."""
        await require_role(self._service, request, org, READER)
        limit, order = parse_limit(request), parse_choice(request, "order", openapi.ORDERS, openapi.ORDERS[0])
        by_slug = order == openapi.ORDERS[0]
        after = parse_slug_cursor(request) if by_slug else parse_uid_cursor(request)
        owner, text, urls = await self._orgs.get(org), request.query_params.get("q", ""), ApiUrls.of(self._service, request)
        found, total = await self._projects.list(org, text=text, order=order, after=after, limit=limit + 1)
        cursor = None
        if len(found) > limit:
            cursor = found[limit - 1].slug if by_slug else found[limit - 1].id
        views = [project_view(owner, project, urls, self._published) for project in found[:limit]]
        return collection(self._service, request, views, cursor=cursor, total=total)

    async def create_project(self, request: Request, org: str) -> Response:
        """A new project, with its edition `__main`."""
        caller = await require_role(self._service, request, org, ADMIN)
        draft, urls = await decode_body(request, ProjectDraft), ApiUrls.of(self._service, request)

        async def act(_: Transaction | None) -> Response:
            project = await self._projects.create(org, draft)
            view = project_view(await self._orgs.get(org), project, urls, self._published)
            return created(view, view.self_url)

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def get_project(self, request: Request, org: str, project: str) -> Response:
        """A project."""
        await require_role(self._service, request, org, READER)
        owner, found = await self._projects.get_with_org(org, project)
        return resource(request, project_view(owner, found, ApiUrls.of(self._service, request), self._published))

    async def change_project(self, request: Request, org: str, project: str) -> Response:
        """Change a project. Rules hold for builds that are processed from now on."""
        await require_role(self._service, request, org, ADMIN)
        changed = await self._projects.change(org, project, await decode_body(request, ProjectChanges))
        view = project_view(await self._orgs.get(org), changed, ApiUrls.of(self._service, request), self._published)
        return reply(view)

    async def delete_project(self, request: Request, org: str, project: str) -> Response:
        """Delete a project. Readers find nothing any more; it can be restored until its retention is over."""
        caller = await require_role(self._service, request, org, ADMIN)
        await self._projects.delete(org, project, actor=caller.name)
        return Response(status_code=204)

    async def rebuild_dashboard(self, request: Request, org: str, project: str) -> Response:
        """Render the dashboard of a project again. It is rendered after every change of an edition anyway."""
        caller = await require_role(self._service, request, org, UPLOADER)

        async def act(_: Transaction | None) -> Response:
            urls = ApiUrls.of(self._service, request)
            (job,) = await self._projects.rebuild_dashboard(org, project, actor=caller.name)
            view = accepted_job(job, urls)
            return accepted(view, view.queue_url)

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def rebuild_dashboards(self, request: Request, org: str) -> Response:
        """Render the dashboards of all projects of an organisation again."""
        caller = await require_role(self._service, request, org, ADMIN)

        async def act(_: Transaction | None) -> Response:
            urls = ApiUrls.of(self._service, request)
            jobs = await self._projects.rebuild_dashboard(org, None, actor=caller.name)
            return accepted([accepted_job(job, urls) for job in jobs], f"{urls.base}/queue/jobs?kind=dashboard_sync")

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)
