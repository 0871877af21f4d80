"""`/orgs/{org}/dashboard-template`, and the same of a project."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.docs.http.access import ADMIN, READER, require_role
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.replies import accepted, accepted_job, resource
from pressroom.apps.docs.http.request_parts import decode_body
from pressroom.apps.docs.http.templates import openapi
from pressroom.apps.docs.http.templates.views import template_view
from pressroom.apps.docs.requests import TemplateDraft

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = TemplatesApi(service, app)
    place, described = "/orgs/{org}/projects/{project}/dashboard-template", openapi.OF_PROJECT
    routes.add(place, api.get_project_template, "GET", **described["get"])
    routes.add(place, api.put_project_template, "PUT", small_body=True, **described["put"])
    routes.add(place, api.delete_project_template, "DELETE", small_body=True, **described["delete"])
    routes.add(f"{place}/sync", api.sync_project_template, "POST", small_body=True, **described["sync"])
    place, described = "/orgs/{org}/dashboard-template", openapi.OF_ORG
    routes.add(place, api.get_org_template, "GET", **described["get"])
    routes.add(place, api.put_org_template, "PUT", small_body=True, **described["put"])
    routes.add(place, api.delete_org_template, "DELETE", small_body=True, **described["delete"])
    routes.add(f"{place}/sync", api.sync_org_template, "POST", small_body=True, **described["sync"])
    return routes


class TemplatesApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._templates = app.templates

    async def get_project_template(self, request: Request, org: str, project: str) -> Response:
        """The dashboard template of a project."""
        return await self._get(request, org, project)

    async def put_project_template(self, request: Request, org: str, project: str) -> Response:
        """Bind a project to a dashboard template in a git repository, and fetch it."""
        return await self._put(request, org, project)

    async def delete_project_template(self, request: Request, org: str, project: str) -> Response:
        """Unbind a project's dashboard template: its organisation's is used, or the built-in one."""
        return await self._delete(request, org, project)

    async def sync_project_template(self, request: Request, org: str, project: str) -> Response:
        """Fetch a project's dashboard template now."""
        return await self._sync(request, org, project)

    async def get_org_template(self, request: Request, org: str) -> Response:
        """The dashboard template of the projects that have none of their own."""
        return await self._get(request, org, None)

    async def put_org_template(self, request: Request, org: str) -> Response:
        """Bind an organisation to a dashboard template in a git repository, and fetch it."""
        return await self._put(request, org, None)

    async def delete_org_template(self, request: Request, org: str) -> Response:
        """Unbind an organisation's dashboard template: the built-in one is used."""
        return await self._delete(request, org, None)

    async def sync_org_template(self, request: Request, org: str) -> Response:
        """Fetch an organisation's dashboard template now."""
        return await self._sync(request, org, None)

    async def _get(self, request: Request, org: str, project: str | None) -> Response:
        await require_role(self._service, request, org, READER)
        urls = ApiUrls.of(self._service, request)
        return resource(request, template_view(await self._templates.get(org, project), _here(urls, org, project), urls))

    async def _put(self, request: Request, org: str, project: str | None) -> Response:
        caller = await require_role(self._service, request, org, ADMIN)
        urls = ApiUrls.of(self._service, request)
        draft = await decode_body(request, TemplateDraft)
        binding, job = await self._templates.put(org, project, draft, actor=caller.name)
        view = template_view(binding, _here(urls, org, project), urls, job=job.uid)
        return accepted(view, urls.job(job.uid))

    async def _delete(self, request: Request, org: str, project: str | None) -> Response:
        caller = await require_role(self._service, request, org, ADMIN)
        view = accepted_job(await self._templates.delete(org, project, actor=caller.name), ApiUrls.of(self._service, request))
        return accepted(view, view.queue_url)

    async def _sync(self, request: Request, org: str, project: str | None) -> Response:
        caller = await require_role(self._service, request, org, ADMIN)
        view = accepted_job(await self._templates.sync(org, project, actor=caller.name), ApiUrls.of(self._service, request))
        return accepted(view, view.queue_url)


def _here(urls: ApiUrls, org: str, project: str | None) -> str:
    return urls.org(org) if project is None else urls.project(org, project)
