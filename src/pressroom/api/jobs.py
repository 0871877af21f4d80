"""Jobs over HTTP: submit, look, list, wait, cancel, retry, result."""

from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples, idempotency
from pressroom.api.access import Caller, Scope, require_own
from pressroom.api.job_list import LIST_JOBS, list_jobs, parse_tier
from pressroom.api.json_body import decode_body
from pressroom.api.problems import HttpError, problem
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import IDEMPOTENCY_KEY, json_body, json_response, path, query, responses
from pressroom.api.service import Service
from pressroom.api.submitting import require_repeat, require_submit
from pressroom.api.views import Estimate, Place, format_job, view, view_types
from pressroom.api.waiting import WaitPreference, parse_wait_preference, wait_until_ended
from pressroom.errors import InvalidArgument, JobCancelled, JobFailed, NotFound, QueueClosed, WaitTimeout
from pressroom.kinds import rendering
from pressroom.model import Job, Status, Submitted
from pressroom.renderers.documents import RenderRequest
from pressroom.store import Transaction

type Name = Annotated[str, Meta(min_length=1, max_length=255)]


class NewJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to submit. `tier` is interactive or background; left out, it is the kind's."""

    kind: Name
    payload: Any = None
    tier: str | None = None
    key: Annotated[str, Meta(min_length=1, max_length=512)] | None = None
    delay: Annotated[float, Meta(ge=0, le=316_224_000)] = 0
    subject: Name | None = None
    project_id: Name | None = None
    max_attempts: Annotated[int, Meta(ge=1, le=1000)] | None = None


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a submit came to. `answer` says how: new, coalesced, skipped, joined or hit."""

    id: str
    kind: str
    answer: str
    version: int
    status_url: str
    differs: list[str] | None = None


_WAIT = query("wait", {"type": "number", "minimum": 0}, "Seconds to wait for the job to end; at most 60 are waited")
_LOCATION = {"Location": "The job", "Retry-After": "When to look again, in seconds"}
_ID = path("id", examples.JOB_ID, "The job")


_SUBMIT_JOB: dict[str, Any] = {
    "responses": responses(
        {202: json_response(Accepted, "Accepted, and on stable storage", headers=_LOCATION, example=examples.ACCEPTED)},
        *(400, 401, 403, 413, 422),
    ),
    "openapi": json_body(
        NewJob,
        "The job",
        example={"kind": "render", "payload": {"language": "dot", "output": "svg", "source": "digraph { a }"}},
    )
    | {"parameters": [IDEMPOTENCY_KEY]},
}


def _get_job_options(job_view: Any) -> dict[str, Any]:
    return {
        "responses": responses(
            {200: json_response(job_view, "The job", example=examples.JOB), 304: {"description": "Nothing changed"}},
            *(401, 404, 422),
        ),
        "openapi": {"parameters": [_ID, _WAIT]},
    }


def _get_result_options(job_view: Any) -> dict[str, Any]:
    return {
        "responses": responses(
            {
                200: json_response(Any, "What the job returned, if that is not an artifact", example={"pages": 12}),
                202: json_response(job_view, "It has not ended yet", headers=_LOCATION, example=examples.QUEUED_JOB),
                303: {"description": "The artifact", "headers": {"Location": {"schema": {"type": "string"}}}},
            },
            *(401, 404, 409, 422),
        ),
        "openapi": {"parameters": [_ID, _WAIT]},
    }


def _cancel_job_options(job_view: Any) -> dict[str, Any]:
    return {
        "small_body": True,
        "responses": responses(
            {
                200: json_response(job_view, "It has ended", example=examples.CANCELLED_JOB),
                202: json_response(job_view, "It is being stopped", example=examples.STOPPING_JOB),
            },
            *(400, 401, 403, 404, 413, 422),
        ),
        "openapi": {"parameters": [_ID, IDEMPOTENCY_KEY]},
    }


_RETRY_JOB: dict[str, Any] = {
    "small_body": True,
    "responses": responses(
        {202: json_response(Accepted, "A new job that names the old one", headers=_LOCATION, example=examples.ACCEPTED)},
        *(400, 401, 403, 404, 409, 413, 422),
    ),
    "openapi": {"parameters": [_ID, IDEMPOTENCY_KEY]},
}


def router(service: Service) -> Routes:
    routes = Routes("jobs")
    job_view = view_types(service.job_formatters)
    api = JobsApi(service)
    routes.add("/jobs", api.submit_job, "POST", **_SUBMIT_JOB)
    routes.add("/jobs", api.list_jobs, "GET", **LIST_JOBS)
    routes.add("/jobs/{id}", api.get_job, "GET", **_get_job_options(job_view))
    routes.add("/jobs/{id}/result", api.get_result, "GET", **_get_result_options(job_view))
    routes.add("/jobs/{id}/cancel", api.cancel_job, "POST", **_cancel_job_options(job_view))
    routes.add("/jobs/{id}/retry", api.retry_job, "POST", **_RETRY_JOB)
    return routes


class JobsApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def submit_job(self, request: Request) -> Response:
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        body = await request.body()
        new = decode_body(request, body, NewJob)
        require_submit(caller, self._service.queue.kinds, new.kind)
        if new.kind in self._service.rendering.kinds:
            return await idempotency.act_or_replay(
                self._service, request, caller, body, partial(_submit_render, self._service, request, caller, new)
            )
        return await idempotency.act_once(
            self._service, request, caller, body, partial(_submit, self._service, request, caller, new)
        )

    async def list_jobs(self, request: Request) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        return await list_jobs(self._service, request, caller)

    async def get_job(self, request: Request, id: str) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        job = await get_own_job(self._service, caller, id)
        preference = parse_wait_preference(request)
        if preference.seconds and not job.status.ended:
            job = await _wait(self._service, job, preference)
        return await job_response(self._service, request, job)

    async def get_result(self, request: Request, id: str) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        job = await get_own_job(self._service, caller, id)
        preference = parse_wait_preference(request)
        if preference.seconds and not job.status.ended:
            job = await _wait(self._service, job, preference)
        return await _result_response(self._service, request, job)

    async def cancel_job(self, request: Request, id: str) -> Response:
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        job = await get_own_job(self._service, caller, id)
        return await idempotency.act_or_replay(
            self._service, request, caller, await request.body(), partial(_cancel, self._service, request, caller, job)
        )

    async def retry_job(self, request: Request, id: str) -> Response:
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        job = await get_own_job(self._service, caller, id)
        require_repeat(caller, self._service.queue.kinds, job.kind)
        return await idempotency.act_once(
            self._service, request, caller, await request.body(), partial(_retry, self._service, job)
        )


async def _submit(service: Service, request: Request, caller: Caller, new: NewJob, within: Transaction | None) -> Response:
    submitted = await service.queue.submit(new.kind, new.payload, within=within, **_submit_options(request, caller, new))
    return _count_and_accept(service, submitted)


async def _submit_render(service: Service, request: Request, caller: Caller, new: NewJob, _: Transaction | None) -> Response:
    """Checked and fingerprinted as a render is, whichever door it comes through."""
    try:
        payload = msgspec.convert(new.payload, rendering.RenderJobPayload)
    except msgspec.ValidationError as reason:
        raise HttpError(422, "invalid_argument", f"payload: {reason}") from None
    if payload.source is None:
        raise HttpError(422, "invalid_argument", "payload: a render needs a source")
    asked = RenderRequest(payload.language, payload.output, payload.source.encode(), payload.options, payload.engine)
    how = _submit_options(request, caller, new)
    submitted = await service.rendering.submit(service.queue, asked, filename=payload.filename, kind=new.kind, **how)
    return _count_and_accept(service, submitted)


async def _cancel(service: Service, request: Request, caller: Caller, job: Job, _: Transaction | None) -> Response:
    cancelled = await service.queue.cancel(job, reason=f"cancelled by {caller.name}")
    return await job_response(service, request, cancelled, status=200 if cancelled.status.ended else 202)


async def _retry(service: Service, job: Job, within: Transaction | None) -> Response:
    return accepted_response(service, await service.queue.retry(job, within=within))


def _submit_options(request: Request, caller: Caller, new: NewJob) -> dict[str, Any]:
    """Keyword arguments of a submit besides its kind and payload. The trace is kept in the job's row."""
    optional = ("key", "subject", "project_id", "max_attempts")
    given = {name: getattr(new, name) for name in optional if getattr(new, name) is not None}
    trace = {"request_id": request.state.request_id}
    return given | {"tier": parse_tier(new.tier), "delay": new.delay, "org_id": caller.org_id, "trace": trace}


def _count_and_accept(service: Service, submitted: Submitted) -> Response:
    service.metrics.submitted.labels(submitted.kind, submitted.answer.value).inc()
    return accepted_response(service, submitted)


def accepted_response(service: Service, submitted: Submitted) -> Response:
    where = f"{service.base_url}/jobs/{submitted}"
    body = Accepted(
        id=str(submitted),
        kind=submitted.kind,
        answer=submitted.answer.value,
        version=submitted.version,
        status_url=where,
        differs=submitted.differs,
    )
    return reply(body, status=202, headers={"Location": where, "Retry-After": "1"})


async def get_own_job(service: Service, caller: Caller, id: str) -> Job:
    try:
        job = await service.queue.get(id)
    except InvalidArgument:  # a malformed id names no job
        raise NotFound("No such job: the id is wrong, or it was deleted after its retention") from None
    return require_own(caller, job)


async def _wait(service: Service, job: Job, preference: WaitPreference) -> Job:
    """As long as the caller wants, but not longer than the service is open: the job goes on, and can be asked for again."""
    try:
        return await wait_until_ended(service, job, preference.seconds)
    except (WaitTimeout, QueueClosed):
        return await service.queue.get(job)


async def job_response(service: Service, request: Request, job: Job, *, status: int = 200) -> Response:
    where = await _queue_position(service, job) if job.status is Status.QUEUED else None
    body = await format_job(job, view(job, where, prefix=service.base_url), service.job_formatters)
    headers = {} if job.status.ended else {"Retry-After": "1"}
    return reply(
        body, request=request if status == 200 else None, status=status, headers=headers | {"Cache-Control": "no-cache"}
    )


async def _queue_position(service: Service, job: Job) -> Place:
    found = await service.queue.get_queue_position(job, slots=service.settings.slots)
    estimate = None if found.p50 is None or found.p90 is None else Estimate(found.p50, found.p90)
    return Place(found.ahead, estimate)


async def _result_response(service: Service, request: Request, job: Job) -> Response:
    match job.status:
        case Status.COMPLETED | Status.COMPLETED_WITH_ERRORS:
            artifact = job.result.get("artifact") if isinstance(job.result, dict) else None
            if artifact is None:
                return reply(job.result)
            return Response(status_code=303, headers={"Location": f"{service.base_url}/artifacts/{artifact}"})
        case Status.FAILED:
            return problem(request, JobFailed(job.uid, job.errors[-1] if job.errors else None), status=409)
        case Status.CANCELLED:
            reason = {"code": "cancelled", "message": job.last_error or "cancelled"}
            return problem(request, JobCancelled(job.uid, reason), status=409)
        case _:
            return await job_response(service, request, job, status=202)
