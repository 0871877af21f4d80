"""The playground: type a source, see what it becomes, and take it along."""

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.problems import request_id_of
from pressroom.api.routes import Routes
from pressroom.api.waiting import settled
from pressroom.apps.diagrams import asking, playground_page, playground_sheet
from pressroom.apps.diagrams.answers import RenderFailed
from pressroom.apps.diagrams.named import Names
from pressroom.apps.diagrams.playground_jobs import made_by_job, made_by_link
from pressroom.apps.diagrams.playground_page import opened_again
from pressroom.apps.diagrams.playground_previews import RETRY_AFTER, Previews, wrong_with
from pressroom.apps.diagrams.playground_sheet import Sheet
from pressroom.apps.diagrams.renders import NAME, Diagrams
from pressroom.artifacts.disposition import content_disposition
from pressroom.errors import Expired, PressroomError, WaitTimeout
from pressroom.web.desk import Desk, Visit, refuse

PATIENCE = 15.0  # seconds that somebody waits for what is to be kept
SOURCE = "source"  # the output that is no output

_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'"


def router(desk: Desk, diagrams: Diagrams) -> Routes:
    routes = Routes()
    service = desk.service
    names = Names(service.queue, service.rendering.database, service.keyring)
    previews = Previews(service.rendering, service.settings.presses)

    async def show(visit: Visit) -> Response:
        """Empty, or with what a link carries: a sheet, or where to find one (`?link=`, `?job=`)."""
        asked = visit.request.query_params
        if link := asked.get("link"):
            made = await made_by_link(visit, link)
            return playground_page.show(visit, made.sheet, made=made)
        if job := asked.get("job"):
            made = await made_by_job(visit, job)
            return playground_page.show(visit, made.sheet, made=made)
        return playground_page.show(visit, playground_sheet.read(asked.get))

    async def render(visit: Visit) -> Response:
        """For those without scripts: the same page again, with the picture."""
        sheet = playground_sheet.fitted(visit.form.get)
        try:
            verdict = await previews.judge(visit.request, visit.caller.org_id, sheet.asked())
        except PressroomError as wrong:
            return await again(visit, sheet, wrong)
        opened = await opened_again(visit, names)
        status = verdict.problem.status if verdict.problem else 200
        return playground_page.show(visit, sheet, verdict=verdict, opened=opened, status=status)

    async def again(visit: Visit, sheet: Sheet, wrong: PressroomError) -> Response:
        """The page with what is wrong: whoever typed a source must not lose it."""
        verdict = wrong_with(visit.request, wrong, sheet.source.encode())
        opened = await opened_again(visit, names)
        response = playground_page.show(visit, sheet, verdict=verdict, opened=opened, status=wrong.status)
        response.headers.update(getattr(wrong, "headers", {}))
        return response

    async def preview(visit: Visit) -> Response:
        """While somebody types, a source that is wrong is the usual case, and told with the status 200."""
        sheet = playground_sheet.read(visit.form.get)
        try:
            verdict = await previews.judge(visit.request, visit.caller.org_id, sheet.asked())
        except PressroomError as wrong:
            verdict = wrong_with(visit.request, wrong)
        status = 200 if verdict.problem is None or verdict.is_about_source else verdict.problem.status
        response = playground_page.fragment(visit, sheet, verdict, await opened_again(visit, names), status)
        if status == 503:
            response.headers["Retry-After"] = str(RETRY_AFTER)
        return response

    async def frame(visit: Visit) -> Response:
        """A page or a PDF as itself, to stand in a frame. A page can do nothing there; a PDF is shown by the browser."""
        sheet = playground_sheet.read(visit.form.get)
        made = await previews.make(visit.request, visit.caller.org_id, sheet.asked())
        policy = _POLICY if made.media_type == "application/pdf" else f"sandbox; {_POLICY}"
        return Response(made.data, 200, _HEADERS | {"Content-Security-Policy": policy}, made.media_type)

    async def download(visit: Visit) -> Response:
        sheet = playground_sheet.fitted(visit.form.get)
        wanted = visit.form.get("as")
        if wanted != SOURCE and wanted not in sheet.offered.outputs:
            raise refuse(f"{sheet.language} can be downloaded as {', '.join([*sheet.offered.outputs, SOURCE])}")
        stem = visit.form.get("opened") or sheet.language
        if wanted == SOURCE:
            return _file(sheet.source.encode(), "text/plain; charset=utf-8", f"{stem}.{sheet.offered.ending}")
        try:
            made = await previews.make(visit.request, visit.caller.org_id, sheet.asked(wanted))
        except PressroomError as wrong:
            return await again(visit, sheet, wrong)
        return _file(made.data, made.media_type, f"{stem}.{wanted}")

    async def keep(visit: Visit) -> Response:
        """A job like any other, on stable storage, and a short link to what it made."""
        sheet = playground_sheet.fitted(visit.form.get)
        try:
            link = await kept(visit, sheet)
        except WaitTimeout as late:
            return visit.go(f"/desk/jobs/job_{late.uid}", "It is still being rendered. This is its job.")
        except PressroomError as wrong:
            return await again(visit, sheet, wrong)
        return visit.go(f"/playground?link={link}", f"It is kept, and has the short link {link}.")

    async def kept(visit: Visit, sheet: Sheet) -> str:
        org_id = visit.caller.org_id
        asked = asking.checked(sheet.asked())
        found = await diagrams.find(service.queue, asked, org_id)
        if found.hit is not None and await diagrams.keep(found.hit.artifact) is not None:
            service.metrics.cache.labels("hit").inc()
            return found.hit.link
        trace = {"request_id": request_id_of(visit.request)}
        submitted = await diagrams.submit(service.queue, asked, org_id=org_id, trace=trace)
        service.metrics.submitted.labels(NAME, submitted.answer.value).inc()
        await visit.note("submit", f"job_{submitted.uid}", after={"kind": NAME, "answer": submitted.answer.value})
        job = await settled(service, submitted, PATIENCE)
        if job.result is None:
            raise RenderFailed(job)
        if await diagrams.keep(job.result["artifact"]) is None:
            raise Expired("what was rendered has expired before it could be kept; keep it again")
        return str(job.result["short_link"])

    desk.get(routes, "/playground", show)
    desk.post(routes, "/playground", render, needs=Scope.SUBMITTER, small=False)
    desk.post(routes, "/playground/preview", preview, needs=Scope.SUBMITTER, small=False)
    desk.post(routes, "/playground/frame", frame, needs=Scope.SUBMITTER, small=False)
    desk.post(routes, "/playground/download", download, needs=Scope.SUBMITTER, small=False)
    desk.post(routes, "/playground/keep", keep, needs=Scope.SUBMITTER, small=False)
    return routes


def _file(data: bytes, media_type: str, filename: str) -> Response:
    return Response(data, 200, _HEADERS | {"Content-Disposition": content_disposition(filename)}, media_type)
