"""`/admin`: the configuration, the registry with its overlays, and render jobs over HTTP. For operators."""

from typing import TYPE_CHECKING, get_args

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.paging import next_page_link, parse_cursor, parse_limit
from pressroom.api.problems import HttpError
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.packs.access import SCOPES
from pressroom.apps.packs.admin import config_routes, openapi
from pressroom.apps.packs.admin.config_routes import NO_STORE
from pressroom.apps.packs.admin.overlays import Overlays, OverlaySent
from pressroom.apps.packs.admin.render_jobs import RenderJobFilter, RenderJobs, RenderJobStatus
from pressroom.apps.packs.admin.views import (
    RegistryDocuments,
    RenderJobList,
    RequeuedView,
    overview_view,
    registry_document_view,
    render_job_view,
)
from pressroom.apps.packs.model import parse_id, to_uuid
from pressroom.apps.packs.request_parts import UUID, actor_of, decode_body, trace_of

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

_STATUSES = get_args(RenderJobStatus.__value__)


def router(service: Service, app: "PacksApp") -> Routes:
    routes = Routes("packs")
    config_routes.add_routes(routes, service, app)
    api = PacksAdminApi(service, app)
    overlays = "/admin/documents/{doc_id}/overlays"
    routes.add("/admin/documents", api.list_registry_documents, "GET", **openapi.LIST_DOCUMENTS)
    routes.add(overlays, api.put_overlay, "PUT", small_body=True, **openapi.PUT_OVERLAY)
    routes.add(overlays, api.delete_overlay, "DELETE", small_body=True, **openapi.DELETE_OVERLAY)
    routes.add("/admin/render-jobs", api.list_render_jobs, "GET", **openapi.LIST_RENDER_JOBS)
    requeue_failed = api.requeue_failed_render_jobs
    routes.add("/admin/render-jobs/requeue-failed", requeue_failed, "POST", small_body=True, **openapi.REQUEUE_FAILED)
    routes.add("/admin/render-jobs/{job_id}", api.get_render_job, "GET", **openapi.GET_RENDER_JOB)
    routes.add("/admin/render-jobs/{job_id}/requeue", api.requeue_render_job, "POST", small_body=True, **openapi.REQUEUE)
    routes.add("/admin/overview", api.get_packs_overview, "GET", **openapi.OVERVIEW)
    return routes


class PacksAdminApi:
    def __init__(self, service: Service, app: "PacksApp") -> None:
        self._service = service
        self._app = app
        self._jobs = RenderJobs(app.packs, app.sections)
        self._overlays = Overlays(app.packs.database, app.settings)

    async def list_registry_documents(self, request: Request) -> Response:
        """The published registry with its overlays."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        scope_id = request.query_params.get("scope_id", "")
        found, truncated = await self._overlays.list(caller.org_id, scope_id=scope_id)
        view = RegistryDocuments([registry_document_view(one) for one in found], truncated)
        return reply(view, headers=NO_STORE)

    async def put_overlay(self, request: Request, doc_id: str) -> Response:
        """What differs from the registry for all packs, or for those of a user, of a session, or for one."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        sent = decode_body(await request.body(), OverlaySent)
        return reply(await self._overlays.save(caller.org_id, doc_id, sent, actor_of(request, caller)))

    async def delete_overlay(self, request: Request, doc_id: str) -> Response:
        """For these packs the document is as the registry says, or as a wider overlay does."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        scope, scope_id = request.query_params.get("scope", "all"), request.query_params.get("scope_id", "")
        if scope not in SCOPES:
            raise HttpError(422, "invalid_argument", f"scope is one of {', '.join(SCOPES)}")
        await self._overlays.delete(caller.org_id, doc_id, scope, scope_id, actor_of(request, caller))
        return Response(status_code=204)

    async def list_render_jobs(self, request: Request) -> Response:
        """Render jobs, newest first."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        asked = request.query_params
        status, pack_id = asked.get("status", ""), asked.get("pack_id", "")
        if status not in _STATUSES:
            raise HttpError(422, "invalid_argument", f"status is one of {', '.join(_STATUSES[1:])}")
        place = {"pack_id": parse_id(pack_id) if pack_id else "", "doc_id": asked.get("doc_id", "")}
        wanted = msgspec.convert({"status": status, **place}, RenderJobFilter)
        limit, cursor = parse_limit(request), parse_cursor(request, UUID) or ""
        found, following = await self._jobs.list(caller.org_id, wanted, cursor=cursor, limit=limit)
        headers = next_page_link(self._service, request, following) | NO_STORE
        return reply(RenderJobList([render_job_view(one) for one in found], following), headers=headers)

    async def get_render_job(self, request: Request, job_id: str) -> Response:
        """A render job with the versions that it is made from."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        return reply(render_job_view(await self._jobs.get(caller.org_id, job_id)), headers=NO_STORE)

    async def requeue_render_job(self, request: Request, job_id: str) -> Response:
        """Request a failed document again, with the data and the versions of now."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        old = await self._jobs.get(caller.org_id, job_id)
        answer = await self._jobs.requeue(caller.org_id, job_id, actor_of(request, caller), trace_of(request))
        (new,) = answer.jobs
        view = RequeuedView(
            ok=True,
            job_id=to_uuid(new.job_uid),
            retry_of=old.render.job_id,
            pack_id=answer.pack.id,
            doc_id=new.doc_id,
            version=new.number,
        )
        return reply(view)

    async def requeue_failed_render_jobs(self, request: Request) -> Response:
        """Request documents whose newest render failed again, newest first."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        limit, cursor = parse_limit(request), parse_cursor(request, UUID) or ""
        actor, trace = actor_of(request, caller), trace_of(request)
        return reply(await self._jobs.requeue_failed(caller.org_id, actor, trace, cursor=cursor, limit=limit))

    async def get_packs_overview(self, request: Request) -> Response:
        """How many packs there are, what is being made, and what failed."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        figures = await self._jobs.figures(caller.org_id)
        documents, _ = await self._overlays.list(caller.org_id, limit=0)
        keys = await self._app.configuration.list_keys(caller.org_id)
        drafts = sum(one.status in ("draft", "valid", "invalid") for one in keys)
        return reply(overview_view(figures, documents=len(documents), drafts=drafts), headers=NO_STORE)
