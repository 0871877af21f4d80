"""One job: what it makes, how far it is, what went wrong, and where. From here it is cancelled, retried and cloned."""

from functools import partial
from typing import Any

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.api.submitting import may_repeat, may_submit, require_repeat, require_submit
from pressroom.artifacts.disposition import content_disposition
from pressroom.errors import NotFinished, NotFound, PressroomError
from pressroom.ids import parse_uid
from pressroom.model import Job, Status, Tier, Work
from pressroom.renderers import catalogue
from pressroom.store.jobs import queries
from pressroom.store.operators.lookup import LookupResult
from pressroom.web.job import cache, clone, history, output, source_lines
from pressroom.web.job.details import NO_SUCH_JOB, JobDetails, get_own_job, load_job_details
from pressroom.web.job.source import source_of
from pressroom.web.site import PageRequest, Site

_MAX_SOURCE_BYTES = 1024 * 1024  # bytes of a source that are read for the page
_MAX_PAYLOAD_CHARACTERS = 100_000  # letters of a payload that are shown


def router(site: Site) -> Routes:
    routes = Routes()
    here = "/desk/jobs/{id}"
    site.get(routes, here, _show)
    site.get(routes, f"{here}/output", _send_output)
    site.get(routes, f"{here}/preview", _send_preview)
    site.get(routes, f"{here}/source", _send_source)
    site.get(routes, f"{here}/payload", _send_payload)
    # Over HTTP these need the scope submitter, so they need no more here.
    site.post(routes, f"{here}/cancel", _cancel, needs=Scope.SUBMITTER)
    site.post(routes, f"{here}/retry", _retry, needs=Scope.SUBMITTER)
    site.get(routes, f"{here}/clone", _show_clone, needs=Scope.SUBMITTER)
    site.post(routes, f"{here}/clone", _clone, needs=Scope.SUBMITTER, small=False)
    return routes


async def _show(request: PageRequest, id: str) -> Response:
    service = request.site.service
    unit = partial(load_job_details, _parse_job_id(id), request.org_id, with_deeds=request.may(Scope.OPERATOR))
    details = await service.rendering.database.read(unit)
    job = details.job
    kind = service.queue.kinds.get(job.kind)
    source = await source_of(service, job, _MAX_SOURCE_BYTES)
    text = None if source is None else source.decode(errors="replace")
    payload = clone.format_json(_without_source(job.payload) if text is not None else job.payload)
    events = [*details.first, *details.last]
    attempts, other_errors = history.summarise_attempts(events, job.errors)
    shown_attempts = history.select_attempts(attempts)
    previews = [await output.load_preview(service, one, job) for one in output.output_first(job, details.made)]
    return request.page(
        "job.html",
        file=details,
        job=job,
        kind=kind,
        tier=Tier(job.tier).name.lower(),
        is_render=clone.is_render(service, job),
        wait=await _queue_position(request, job),
        progress=history.progress_of(job),
        first=history.history_lines(details.first, job.date_created),
        last=history.history_lines(details.last, job.date_created),
        attempts=shown_attempts,
        attempts_left_out=len(attempts) - len(shown_attempts),
        other_errors=other_errors,
        located=partial(source_lines.lines_around_error, text),
        source=None if text is None else source_lines.excerpt_of(text),
        wrong_lines=_error_lines(job),
        payload=payload[:_MAX_PAYLOAD_CHARACTERS],
        payload_is_cut=len(payload) > _MAX_PAYLOAD_CHARACTERS,
        outputs=previews,
        result=output.parse_render_result(job),
        plain_result=_plain_result(job),
        cache=cache.explain_cache(details, kind),
        subjects=await request.read(partial(_find_subjects, request.site, job)),
        worker=partial(history.worker_display_name, everywhere=request.caller.everywhere),
        sees_details=request.caller.everywhere and request.may(Scope.OPERATOR),
        last_event=_last_event(details),
        may_retry=may_repeat(request.caller, service.queue.kinds, job.kind),
        may_clone=may_submit(request.caller, service.queue.kinds, job.kind),
    )


def _find_subjects(site: Site, job: Job) -> Work[list[LookupResult]]:
    """What of the apps' own the job is about."""
    found: list[LookupResult] = []
    for find in site.job_subject_finders:
        found += yield from find(job)
    return found


async def _queue_position(request: PageRequest, job: Job) -> dict[str, Any] | None:
    """The position of a queued job, and whether its kind is paused."""
    if job.status is not Status.QUEUED:
        return None
    service = request.site.service
    standing = await service.queue.get_queue_position(job, slots=service.settings.slots)
    paused = await service.rendering.database.read(queries.list_paused_kinds)
    return {"ahead": standing.ahead, "p50": standing.p50, "p90": standing.p90, "is_paused": job.kind in paused}


def _plain_result(job: Job) -> str | None:
    """What a job returned that made no file. One whose file has expired is another matter."""
    has_file = isinstance(job.result, dict) and isinstance(job.result.get("artifact"), str)
    return None if has_file or job.result is None else clone.format_json(job.result)[:_MAX_PAYLOAD_CHARACTERS]


def _error_lines(job: Job) -> set[int]:
    return {error["line"] for error in job.errors if isinstance(error.get("line"), int)}


def _last_event(details: JobDetails) -> int:
    return max((event.id for event in (*details.first, *details.last)), default=0)


def _without_source(payload: Any) -> Any:
    return {name: value for name, value in payload.items() if name != "source"} if isinstance(payload, dict) else payload


async def _send_output(request: PageRequest, id: str) -> Response:
    return await output.send_output(request, await _own_job(request, id))


async def _send_preview(request: PageRequest, id: str) -> Response:
    return await output.send_framed(request, await _own_job(request, id))


async def _send_source(request: PageRequest, id: str) -> Response:
    job = await _own_job(request, id)
    source = await source_of(request.site.service, job)
    if source is None:
        raise NotFound("this job has no source; it is no render, or its source is gone")
    return _as_file(source, "text/plain; charset=utf-8", f"{job.payload['language']}-{job.uid[-8:]}.txt")


async def _send_payload(request: PageRequest, id: str) -> Response:
    job = await _own_job(request, id)
    return _as_file(clone.format_json(job.payload).encode(errors="replace"), "application/json", f"payload-{job.uid[-8:]}.json")


def _as_file(data: bytes, media_type: str, filename: str) -> Response:
    headers = {
        "Content-Disposition": content_disposition(filename),
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return Response(data, headers=headers, media_type=media_type)


async def _cancel(request: PageRequest, id: str) -> Response:
    job = await _own_job(request, id)
    if job.status.ended:
        return request.redirect(f"/desk/jobs/{job}", f"There was nothing to cancel: it is {_status_text(job.status)}.")
    cancelled = await request.site.service.queue.cancel(job, reason=f"cancelled by {request.caller.name}")
    after = {"status": cancelled.status.value, "cancel_requested": cancelled.cancel_requested}
    await request.record_audit("job.cancel", str(job), before={"status": job.status.value}, after=after)
    message = "It is cancelled." if cancelled.status is Status.CANCELLED else "Cancellation requested."
    if cancelled.status.ended and cancelled.status is not Status.CANCELLED:
        message = f"It had ended before the cancel: it is {_status_text(cancelled.status)}."
    return request.redirect(f"/desk/jobs/{job}", message)


async def _retry(request: PageRequest, id: str) -> Response:
    job = await _own_job(request, id)
    require_repeat(request.caller, request.site.service.queue.kinds, job.kind)
    if not job.status.ended:
        raise NotFinished(f"{job} has not ended; cancel it first, or wait for it")
    queue = request.site.service.queue
    async with queue.transaction() as tx:
        again = await queue.retry(job, within=tx)
        after = {"job": str(again), "answer": again.answer.value}
        deed = partial(request.audit_entry, "job.retry", str(job), before={"status": job.status.value}, after=after)
        await tx.run(deed, name="audit")
    skipped = "A newer job of its key is open, so that no other was needed: this one."
    return request.redirect(f"/desk/jobs/{again}", "Retry submitted." if again.answer == "new" else skipped)


async def _show_clone(request: PageRequest, id: str) -> Response:
    job = await _own_job(request, id)
    service = request.site.service
    require_submit(request.caller, service.queue.kinds, job.kind)
    source = await source_of(service, job, clone.MAX_EDITABLE_BYTES + 1)
    return _clone_page(request, job, clone.prefill_form(service, job, source))


async def _clone(request: PageRequest, id: str) -> Response:
    """What is wrong is told above the form, which still has everything that was typed."""
    job = await _own_job(request, id)
    service = request.site.service
    require_submit(request.caller, service.queue.kinds, job.kind)
    draft = clone.read_form(request.form)
    try:
        source = await source_of(service, job) if draft.source is None else None
        answer = await clone.submit_clone(service, job, draft, source, request_id=request.http.state.request_id)
    except PressroomError as error:
        return _clone_page(request, job, draft, error)
    await request.record_audit("job.clone", str(job), after={"job": str(answer), "answer": answer.answer.value})
    return request.redirect(f"/desk/jobs/{answer}", clone.describe_answer(answer, job))


def _clone_page(request: PageRequest, job: Job, draft: clone.CloneForm, error: PressroomError | None = None) -> Response:
    field, line, column = clone.error_location(error) if error is not None else ("", None, None)
    return request.page(
        "job_clone.html",
        status=200 if error is None else error.status,
        job=job,
        draft=draft,
        is_render=clone.is_render(request.site.service, job),
        error=error,
        field=field,
        line=line,
        column=column,
        languages=catalogue.languages(),
        outputs=clone.outputs(),
    )


async def _own_job(request: PageRequest, id: str) -> Job:
    return await request.read(partial(get_own_job, _parse_job_id(id), request.org_id))


def _parse_job_id(id: str) -> str:
    try:
        return parse_uid(id)
    except NotFound:
        raise NotFound(NO_SUCH_JOB) from None


def _status_text(status: Status) -> str:
    return status.value.replace("_", " ")
