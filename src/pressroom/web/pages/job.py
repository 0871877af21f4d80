"""One job: what it makes, how far it is, what went wrong, and where. From here it is cancelled, retried and cloned."""

from functools import partial
from typing import Any

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.problems import request_id_of
from pressroom.api.routes import Routes
from pressroom.api.submitting import may_repeat, may_submit, require_repeat, require_submit
from pressroom.artifacts.disposition import content_disposition
from pressroom.errors import NotFinished, NotFound, PressroomError
from pressroom.ids import parse_uid
from pressroom.model import Job, Status, Tier
from pressroom.store.jobs import queries
from pressroom.web.desk import Desk, Visit
from pressroom.web.job import cache, clone, dossier, lines, output, story
from pressroom.web.job.dossier import NO_SUCH_JOB, Dossier
from pressroom.web.job.source import source_of

_SHOWN = 1024 * 1024  # bytes of a source that are read for the page
_PAYLOAD = 100_000  # letters of a payload that are shown


def router(desk: Desk) -> Routes:
    routes = Routes()
    here = "/desk/jobs/{id}"
    desk.get(routes, here, _show)
    desk.get(routes, f"{here}/output", _send_output)
    desk.get(routes, f"{here}/preview", _send_preview)
    desk.get(routes, f"{here}/source", _send_source)
    desk.get(routes, f"{here}/payload", _send_payload)
    # Whoever may submit may do these over HTTP as well, so the desk asks for no more.
    desk.post(routes, f"{here}/cancel", _cancel, needs=Scope.SUBMITTER)
    desk.post(routes, f"{here}/retry", _retry, needs=Scope.SUBMITTER)
    desk.get(routes, f"{here}/clone", _show_clone, needs=Scope.SUBMITTER)
    desk.post(routes, f"{here}/clone", _clone, needs=Scope.SUBMITTER, small=False)
    return routes


async def _show(visit: Visit, id: str) -> Response:
    service = visit.desk.service
    unit = partial(dossier.compile_of, _uid(id), visit.org_id, with_deeds=visit.may(Scope.OPERATOR))
    found = await service.rendering.database.read(unit)
    job = found.job
    kind = service.queue.kinds.get(job.kind)
    source = await source_of(service, job, _SHOWN)
    text = None if source is None else source.decode(errors="replace")
    payload = clone.pretty(_without_source(job.payload) if text is not None else job.payload)
    events = [*found.first, *found.last]
    attempts, other_errors = story.attempts(events, job.errors)
    told = story.worth_telling(attempts)
    made = [await output.looked_at(service, one, job) for one in output.outputs_of(job, found.made)]
    return visit.page(
        "job.html",
        file=found,
        job=job,
        kind=kind,
        tier=Tier(job.tier).name.lower(),
        is_render=clone.is_render(service, job),
        wait=await _wait(visit, job),
        progress=story.progress_of(job),
        first=story.told(found.first, job.date_created),
        last=story.told(found.last, job.date_created),
        attempts=told,
        attempts_left_out=len(attempts) - len(told),
        other_errors=other_errors,
        located=partial(lines.located, text),
        source=None if text is None else lines.shown(text),
        wrong_lines=_wrong_lines(job),
        payload=payload[:_PAYLOAD],
        payload_is_cut=len(payload) > _PAYLOAD,
        outputs=made,
        result=output.told_by(job),
        plain_result=_plain_result(job),
        cache=cache.explained(found, kind),
        worker=partial(story.short_worker, everywhere=visit.caller.everywhere),
        sees_details=visit.caller.everywhere and visit.may(Scope.OPERATOR),
        last_event=_last_event(found),
        may_retry=may_repeat(visit.caller, service.queue.kinds, job.kind),
        may_clone=may_submit(visit.caller, service.queue.kinds, job.kind),
    )


async def _wait(visit: Visit, job: Job) -> dict[str, Any] | None:
    """Where a queued job stands, and whether anybody may take it at all."""
    if job.status is not Status.QUEUED:
        return None
    service = visit.desk.service
    standing = await service.queue.standing(job, slots=service.settings.slots)
    paused = await service.rendering.database.read(queries.paused)
    return {"ahead": standing.ahead, "p50": standing.p50, "p90": standing.p90, "is_paused": job.kind in paused}


def _plain_result(job: Job) -> str | None:
    """What a job returned that made no file. One whose file has expired is another matter."""
    has_file = isinstance(job.result, dict) and isinstance(job.result.get("artifact"), str)
    return None if has_file or job.result is None else clone.pretty(job.result)[:_PAYLOAD]


def _wrong_lines(job: Job) -> set[int]:
    return {error["line"] for error in job.errors if isinstance(error.get("line"), int)}


def _last_event(found: Dossier) -> int:
    return max((event.id for event in (*found.first, *found.last)), default=0)


def _without_source(payload: Any) -> Any:
    return {name: value for name, value in payload.items() if name != "source"} if isinstance(payload, dict) else payload


async def _send_output(visit: Visit, id: str) -> Response:
    return await output.sent(visit, await _own(visit, id))


async def _send_preview(visit: Visit, id: str) -> Response:
    return await output.framed(visit, await _own(visit, id))


async def _send_source(visit: Visit, id: str) -> Response:
    job = await _own(visit, id)
    source = await source_of(visit.desk.service, job)
    if source is None:
        raise NotFound("this job has no source; it is no render, or its source is gone")
    return _as_file(source, "text/plain; charset=utf-8", f"{job.payload['language']}-{job.uid[-8:]}.txt")


async def _send_payload(visit: Visit, id: str) -> Response:
    job = await _own(visit, id)
    return _as_file(clone.pretty(job.payload).encode(errors="replace"), "application/json", f"payload-{job.uid[-8:]}.json")


def _as_file(data: bytes, media_type: str, filename: str) -> Response:
    headers = {
        "Content-Disposition": content_disposition(filename),
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return Response(data, headers=headers, media_type=media_type)


async def _cancel(visit: Visit, id: str) -> Response:
    job = await _own(visit, id)
    if job.status.ended:
        return visit.go(f"/desk/jobs/{job}", f"There was nothing to cancel: it is {_word(job.status)}.")
    cancelled = await visit.desk.service.queue.cancel(job, reason=f"cancelled by {visit.caller.name}")
    after = {"status": cancelled.status.value, "cancel_requested": cancelled.cancel_requested}
    await visit.note("job.cancel", str(job), before={"status": job.status.value}, after=after)
    words = "It is cancelled." if cancelled.status is Status.CANCELLED else "It is told to stop."
    if cancelled.status.ended and cancelled.status is not Status.CANCELLED:
        words = f"It was quicker: it is {_word(cancelled.status)}."
    return visit.go(f"/desk/jobs/{job}", words)


async def _retry(visit: Visit, id: str) -> Response:
    job = await _own(visit, id)
    require_repeat(visit.caller, visit.desk.service.queue.kinds, job.kind)
    if not job.status.ended:
        raise NotFinished(f"{job} has not ended; cancel it first, or wait for it")
    queue = visit.desk.service.queue
    async with queue.transaction() as tx:
        again = await queue.retry(job, within=tx)
        after = {"job": str(again), "answer": again.answer.value}
        deed = partial(visit.deed, "job.retry", str(job), before={"status": job.status.value}, after=after)
        await tx.run(deed, name="audit")
    skipped = "A newer job of its key is open, so that no other was needed: this one."
    return visit.go(f"/desk/jobs/{again}", "Retry submitted." if again.answer == "new" else skipped)


async def _show_clone(visit: Visit, id: str) -> Response:
    job = await _own(visit, id)
    service = visit.desk.service
    require_submit(visit.caller, service.queue.kinds, job.kind)
    source = await source_of(service, job, clone.EDITED + 1)
    return _clone_page(visit, job, clone.draft_of(service, job, source))


async def _clone(visit: Visit, id: str) -> Response:
    """What is wrong is told above the form, which still has everything that was typed."""
    job = await _own(visit, id)
    service = visit.desk.service
    require_submit(visit.caller, service.queue.kinds, job.kind)
    draft = clone.draft_from(visit.form)
    try:
        source = await source_of(service, job) if draft.source is None else None
        answer = await clone.submitted(service, job, draft, source, request_id=request_id_of(visit.request))
    except PressroomError as error:
        return _clone_page(visit, job, draft, error)
    await visit.note("job.clone", str(job), after={"job": str(answer), "answer": answer.answer.value})
    return visit.go(f"/desk/jobs/{answer}", clone.notice(answer, job))


def _clone_page(visit: Visit, job: Job, draft: clone.Draft, error: PressroomError | None = None) -> Response:
    field, line, column = clone.place_of(error) if error is not None else ("", None, None)
    return visit.page(
        "job_clone.html",
        status=200 if error is None else error.status,
        job=job,
        draft=draft,
        is_render=clone.is_render(visit.desk.service, job),
        error=error,
        field=field,
        line=line,
        column=column,
        languages=clone.languages(),
        outputs=clone.outputs(),
    )


async def _own(visit: Visit, id: str) -> Job:
    return await visit.desk.service.rendering.database.read(partial(dossier.own, _uid(id), visit.org_id))


def _uid(id: str) -> str:
    try:
        return parse_uid(id)
    except NotFound:
        raise NotFound(NO_SUCH_JOB) from None


def _word(status: Status) -> str:
    return status.value.replace("_", " ")
