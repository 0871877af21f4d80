"""`/queue/jobs`: the jobs of this app for those who wait for them (Q37). A job of another organisation does not exist (D32)."""

from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import idempotency
from pressroom.api.access import Caller
from pressroom.api.paging import is_seconds
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.api.submitting import require_repeat
from pressroom.apps.docs.http.access import READER, UPLOADER
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.http.queue_jobs import openapi
from pressroom.apps.docs.http.queue_jobs.store import (
    QueueJob,
    QueueJobFilter,
    QueueJobNotFound,
    get_queue_job,
    list_queue_jobs,
)
from pressroom.apps.docs.http.queue_jobs.views import queue_job_view
from pressroom.apps.docs.http.replies import FRESH, accepted, collection, resource
from pressroom.apps.docs.http.request_parts import MisplacedValue, parse_choice, parse_limit, parse_number_cursor
from pressroom.store import Transaction
from pressroom.store.jobs.transitions import now

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

_CENTURY = 100 * 365.0 * 86_400


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = QueueJobsApi(service, app)
    routes.add("/queue/jobs", api.list_queue_jobs, "GET", **openapi.LIST_QUEUE_JOBS)
    routes.add("/queue/jobs/{id}", api.get_queue_job, "GET", **openapi.GET_QUEUE_JOB)
    routes.add("/queue/jobs/{id}/cancel", api.cancel_queue_job, "POST", small_body=True, **openapi.CANCEL_QUEUE_JOB)
    routes.add("/queue/jobs/{id}/retry", api.retry_queue_job, "POST", small_body=True, **openapi.RETRY_QUEUE_JOB)
    return routes


class QueueJobsApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._queue = app.core.queue
        self._database = app.core.database

    async def list_queue_jobs(self, request: Request) -> Response:
        """Jobs of documentation, newest first."""
        caller = await self._service.gate.caller(request, READER)
        asked, limit, before = request.query_params, parse_limit(request), parse_number_cursor(request)
        org = asked.get("org")
        wanted = QueueJobFilter(
            kind=asked.get("kind", ""),
            status=parse_choice(request, "status", openapi.STATUSES),
            org_id=org if caller.everywhere else caller.org_id or "",
            project=asked.get("project", ""),
            created_after=await self._created_after(request),
        )
        if org is not None and not caller.owns(org):
            return collection(self._service, request, [])
        unit = partial(list_queue_jobs, wanted, before, limit + 1)
        found = await self._database.read(unit)
        cursor = str(found[limit - 1].job.id) if len(found) > limit else None
        urls = ApiUrls.of(self._service, request)
        return collection(self._service, request, [queue_job_view(job, urls) for job in found[:limit]], cursor=cursor)

    async def get_queue_job(self, request: Request, id: str) -> Response:
        """A job: its phase, what became of each edition, and its errors."""
        caller = await self._service.gate.caller(request, READER)
        found = await self._get_own(caller, id)
        view = queue_job_view(found, ApiUrls.of(self._service, request))
        if found.job.status.ended:
            return resource(request, view)
        return reply(view, request=request, headers=FRESH | {"Retry-After": "1"})

    async def cancel_queue_job(self, request: Request, id: str) -> Response:
        """Cancel a job. One that has ended stays as it is."""
        caller = await self._service.gate.caller(request, UPLOADER)
        found = await self._get_own(caller, id)

        async def act(_: Transaction | None) -> Response:
            cancelled = await self._queue.cancel(found.job, reason=f"cancelled by {caller.name}")
            view = queue_job_view(await self._get_own(caller, id), ApiUrls.of(self._service, request))
            return reply(view) if cancelled.status.ended else accepted(view, view.self_url)

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def retry_queue_job(self, request: Request, id: str) -> Response:
        """Run a job that has ended again: a new job, which names the old one."""
        caller = await self._service.gate.caller(request, UPLOADER)
        found = await self._get_own(caller, id)
        require_repeat(caller, self._queue.kinds, found.job.kind)

        async def act(_: Transaction | None) -> Response:
            again = await self._queue.retry(found.job)
            view = queue_job_view(await self._get_own(caller, again.uid), ApiUrls.of(self._service, request))
            return accepted(view, view.self_url)

        return await idempotency.act_or_replay(self._service, request, caller, await request.body(), act)

    async def _get_own(self, caller: Caller, id: str) -> QueueJob:
        found = await self._database.read(partial(get_queue_job, id))
        if not caller.owns(found.job.org_id):
            raise QueueJobNotFound
        return found

    async def _created_after(self, request: Request) -> int | None:
        age = request.query_params.get("max_age")
        if age is None:
            return None
        if not is_seconds(age):
            raise MisplacedValue(422, "invalid_argument", "max_age is a number of seconds", ["query", "max_age"])
        return await self._database.read(now) - int(min(float(age), _CENTURY) * 1000)
