"""`/admin/orgs` and `/orgs/{org}`."""

from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import idempotency
from pressroom.api.access import Scope
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.docs.http import counts
from pressroom.apps.docs.http.access import ADMIN, READER, require_role, require_superadmin
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.orgs import openapi
from pressroom.apps.docs.http.orgs.views import SlugQuestion, org_view
from pressroom.apps.docs.http.replies import collection, created, resource
from pressroom.apps.docs.http.request_parts import decode_body, parse_limit, parse_slug_cursor
from pressroom.apps.docs.requests import OrgChanges, OrgDraft
from pressroom.store import Transaction

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = OrgsApi(service, app)
    routes.add("/admin/orgs", api.list_orgs, "GET", **openapi.LIST_ORGS)
    routes.add("/admin/orgs", api.create_org, "POST", **openapi.CREATE_ORG)
    routes.add("/admin/orgs/{org}", api.get_org_as_admin, "GET", **openapi.GET_ORG)
    routes.add("/admin/orgs/{org}", api.delete_org, "DELETE", small_body=True, **openapi.DELETE_ORG)
    routes.add("/orgs/{org}", api.get_org, "GET", **openapi.GET_ORG)
    routes.add("/orgs/{org}", api.change_org, "PATCH", **openapi.CHANGE_ORG)
    routes.add("/orgs/{org}/slug-preview", api.preview_slug, "POST", small_body=True, **openapi.PREVIEW_SLUG)
    return routes


class OrgsApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._orgs = app.orgs
        self._database = app.core.database

    async def list_orgs(self, request: Request) -> Response:
        """All organisations for a superadmin; for others their own."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        limit, after, urls = parse_limit(request), parse_slug_cursor(request), ApiUrls.of(self._service, request)
        only = None if caller.everywhere else caller.org_id
        if only is None and not caller.everywhere:  # a token of the default organisation, which has no documentation
            return collection(self._service, request, [], total=0)
        found = await self._orgs.list(only, after=after, limit=limit + 1)
        total = await self._database.read(partial(counts.count_orgs, only))
        cursor = found[limit - 1].slug if len(found) > limit else None
        return collection(self._service, request, [org_view(org, urls) for org in found[:limit]], cursor=cursor, total=total)

    async def create_org(self, request: Request) -> Response:
        """A new organisation. Its slug is what tokens for it are made with: `pressroom token create --org SLUG`."""
        caller = await require_superadmin(self._service, request)
        draft, urls = await decode_body(request, OrgDraft), ApiUrls.of(self._service, request)

        async def act(_: Transaction | None) -> Response:
            view = org_view(await self._orgs.create(draft), urls)
            return created(view, view.self_url)

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def get_org_as_admin(self, request: Request, org: str) -> Response:
        """An organisation."""
        return await self.get_org(request, org)

    async def get_org(self, request: Request, org: str) -> Response:
        """An organisation."""
        await require_role(self._service, request, org, READER)
        return resource(request, org_view(await self._orgs.get(org), ApiUrls.of(self._service, request)))

    async def change_org(self, request: Request, org: str) -> Response:
        """Change an organisation. Its rules hold for builds that are processed from now on."""
        caller = await require_role(self._service, request, org, ADMIN)
        changes = await decode_body(request, OrgChanges)
        changed = await self._orgs.change(org, changes, may_share_domain=caller.everywhere)
        return reply(org_view(changed, ApiUrls.of(self._service, request)))

    async def delete_org(self, request: Request, org: str) -> Response:
        """Delete an organisation that has no projects."""
        await require_superadmin(self._service, request)
        await self._orgs.delete(org)
        return Response(status_code=204)

    async def preview_slug(self, request: Request, org: str) -> Response:
        """Which edition a build of a ref would make, and by which rule."""
        await require_role(self._service, request, org, READER)
        asked = await decode_body(request, SlugQuestion)
        preview = await self._orgs.preview_slug(org, asked.git_ref, project=asked.project, alternate_name=asked.alternate_name)
        return reply(preview)
