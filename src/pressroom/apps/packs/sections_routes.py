"""`/render/jobs`: documents whose content comes with the request, in the words of design 002's product."""

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import idempotency
from pressroom.api.access import Scope
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import IDEMPOTENCY_KEY, json_body, json_response, path, responses
from pressroom.api.service import Service
from pressroom.apps.packs.admin.openapi import RENDER_JOB
from pressroom.apps.packs.admin.render_jobs import RenderJobs
from pressroom.apps.packs.admin.views import RenderJobView, render_job_view
from pressroom.apps.packs.model import to_uuid
from pressroom.apps.packs.openapi import JOB, PACK
from pressroom.apps.packs.openapi import USER as USER_PARAMETER
from pressroom.apps.packs.request_parts import decode_body, trace_of, user_of
from pressroom.apps.packs.sections import SectionsSent
from pressroom.store import Transaction

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp


class SectionsJobView(msgspec.Struct, frozen=True, kw_only=True):
    ok: bool
    job_id: str
    pack_id: str
    doc_id: str
    version: int
    status_url: str


_EXAMPLE = {
    "pack_id": PACK,
    "session_id": "s-81",
    "doc_id": "minutes",
    "title": "Minutes",
    "sections": [
        {"type": "text", "title": "Decisions", "text": "The offer is sent on Monday."},
        {"type": "bullets", "items": ["Anna writes it", "Ben reads it"]},
        {"type": "table", "columns": ["what", "until"], "rows": [["offer", "Monday"]]},
    ],
    "meta": {"author": "Anna Example"},
}
_REQUESTED = {
    "ok": True,
    "job_id": JOB,
    "pack_id": PACK,
    "doc_id": "minutes",
    "version": 1,
    "status_url": f"/render/jobs/{JOB}",
}
CREATE_JOB: dict[str, Any] = {
    "responses": responses(
        {202: json_response(SectionsJobView, "The job", headers={"Location": "The job"}, example=_REQUESTED)},
        *(400, 401, 403, 404, 409, 413, 422, 503),
    ),
    "openapi": json_body(SectionsSent, "The content, and of which document of which pack", example=_EXAMPLE)
    | {"parameters": [IDEMPOTENCY_KEY, USER_PARAMETER]},
}
GET_JOB: dict[str, Any] = {
    "responses": responses({200: json_response(RenderJobView, "The job", example=RENDER_JOB)}, 401, 403, 404),
    "openapi": {"parameters": [path("job_id", JOB, "The render job"), USER_PARAMETER]},
}


def router(service: Service, app: "PacksApp") -> Routes:
    routes = Routes("packs")
    api = SectionsApi(service, app)
    routes.add("/render/jobs", api.create_sections_job, "POST", **CREATE_JOB)
    routes.add("/render/jobs/{job_id}", api.get_sections_job, "GET", **GET_JOB)
    return routes


class SectionsApi:
    def __init__(self, service: Service, app: "PacksApp") -> None:
        self._service = service
        self._sections = app.sections
        self._packs = app.packs
        self._jobs = RenderJobs(app.packs, app.sections)

    async def create_sections_job(self, request: Request) -> Response:
        """A document from its title, sections and meta, without a template of the registry."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        body = await request.body()
        sent = decode_body(body, SectionsSent)

        async def act(_: Transaction | None) -> Response:
            requested = await self._sections.submit(
                caller.org_id, sent, requested_by=caller.name, user=user_of(request), trace=trace_of(request)
            )
            job_id, base = to_uuid(requested.job_uid), self._service.base_url
            view = SectionsJobView(
                ok=True,
                job_id=job_id,
                pack_id=requested.pack.id,
                doc_id=sent.doc_id,
                version=requested.target.render_request.number,
                status_url=f"{base}/render/jobs/{job_id}",
            )
            return reply(view, status=202, headers={"Location": view.status_url})

        return await idempotency.act_or_replay(self._service, request, caller, body, act)

    async def get_sections_job(self, request: Request, job_id: str) -> Response:
        """A render job. Its file is downloaded by `file_id`."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        job = await self._jobs.get(caller.org_id, job_id)
        await self._packs.get(caller.org_id, job.render.pack, user=user_of(request))
        return reply(render_job_view(job), headers={"Cache-Control": "no-store"})
