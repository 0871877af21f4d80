"""The playground: type a source, see its preview, and export it."""

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.api.waiting import wait_until_ended
from pressroom.apps.diagrams import requests
from pressroom.apps.diagrams.named.diagrams import NamedDiagrams
from pressroom.apps.diagrams.playground import views
from pressroom.apps.diagrams.playground.form import PlaygroundForm, read_form, read_supported_form
from pressroom.apps.diagrams.playground.past_renders import past_render_of_job, past_render_of_link
from pressroom.apps.diagrams.playground.previews import RETRY_AFTER, Previews, error_result
from pressroom.apps.diagrams.playground.views import reopen_from_form
from pressroom.apps.diagrams.renders import NAME, Diagrams
from pressroom.apps.diagrams.responses import RenderFailed
from pressroom.artifacts.disposition import content_disposition
from pressroom.errors import Expired, PressroomError, WaitTimeout
from pressroom.web.site import PageRequest, Site, page_error

PATIENCE = 15.0  # seconds that a request waits for the render that is to be kept
SOURCE = "source"  # instead of an output: download the source itself

_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'"


def router(site: Site, diagrams: Diagrams) -> Routes:
    routes = Routes()
    pages = PlaygroundPages(site.service, diagrams)
    site.get(routes, "/playground", pages.show)
    for path, handler in (
        ("/playground", pages.render),
        ("/playground/preview", pages.preview),
        ("/playground/frame", pages.show_frame),
        ("/playground/download", pages.download),
        ("/playground/keep", pages.keep_render),
    ):
        site.post(routes, path, handler, needs=Scope.SUBMITTER, small=False)
    return routes


class PlaygroundPages:
    def __init__(self, service: Service, diagrams: Diagrams) -> None:
        self._service = service
        self._diagrams = diagrams
        self._names = NamedDiagrams(service.queue, service.rendering.database, service.keyring)
        self._previews = Previews(service.rendering, service.settings.presses)

    async def show(self, request: PageRequest) -> Response:
        """The form with its defaults, with the query's values, or with those of an earlier render (`?link=`, `?job=`)."""
        asked = request.http.query_params
        if link := asked.get("link"):
            past = await past_render_of_link(request, link)
            return views.render_page(request, past.form, past=past)
        if job := asked.get("job"):
            past = await past_render_of_job(request, job)
            return views.render_page(request, past.form, past=past)
        return views.render_page(request, read_form(asked.get))

    async def render(self, request: PageRequest) -> Response:
        """For those without scripts: the same page again, with the picture."""
        form = read_supported_form(request.form.get)
        try:
            result = await self._previews.render_or_explain(request.http, request.caller.org_id, form.render_request())
        except PressroomError as wrong:
            return await self._show_error(request, form, wrong)
        opened = await reopen_from_form(request, self._names)
        status = result.problem.status if result.problem else 200
        return views.render_page(request, form, result=result, opened=opened, status=status)

    async def _show_error(self, request: PageRequest, form: PlaygroundForm, error: PressroomError) -> Response:
        """The page with the error and the source: its author must not lose it."""
        result = error_result(request.http, error, form.source.encode())
        opened = await reopen_from_form(request, self._names)
        response = views.render_page(request, form, result=result, opened=opened, status=error.status)
        response.headers.update(getattr(error, "headers", {}))
        return response

    async def preview(self, request: PageRequest) -> Response:
        """An invalid source is normal while its author types, so its error has the status 200."""
        form = read_form(request.form.get)
        try:
            result = await self._previews.render_or_explain(request.http, request.caller.org_id, form.render_request())
        except PressroomError as wrong:
            result = error_result(request.http, wrong)
        status = 200 if result.problem is None or result.is_about_source else result.problem.status
        response = views.render_preview(request, form, result, await reopen_from_form(request, self._names), status)
        if status == 503:
            response.headers["Retry-After"] = str(RETRY_AFTER)
        return response

    async def show_frame(self, request: PageRequest) -> Response:
        """A page or a PDF as itself, to stand in a frame. A page can do nothing there; a PDF is shown by the browser."""
        form = read_form(request.form.get)
        rendered = await self._previews.render(request.http, request.caller.org_id, form.render_request())
        policy = _POLICY if rendered.media_type == "application/pdf" else f"sandbox; {_POLICY}"
        return Response(rendered.data, 200, _HEADERS | {"Content-Security-Policy": policy}, rendered.media_type)

    async def download(self, request: PageRequest) -> Response:
        form = read_supported_form(request.form.get)
        wanted = request.form.get("as")
        if wanted != SOURCE and wanted not in form.language_info.outputs:
            raise page_error(f"{form.language} can be downloaded as {', '.join([*form.language_info.outputs, SOURCE])}")
        stem = request.form.get("opened") or form.language
        if wanted == SOURCE:
            return _attachment(form.source.encode(), "text/plain; charset=utf-8", f"{stem}.{form.language_info.file_suffix}")
        try:
            rendered = await self._previews.render(request.http, request.caller.org_id, form.render_request(wanted))
        except PressroomError as wrong:
            return await self._show_error(request, form, wrong)
        return _attachment(rendered.data, rendered.media_type, f"{stem}.{wanted}")

    async def keep_render(self, request: PageRequest) -> Response:
        """A job like any other, on stable storage, and a short link to what it made."""
        form = read_supported_form(request.form.get)
        try:
            link = await self._keep_render(request, form)
        except WaitTimeout as late:
            return request.redirect(f"/desk/jobs/job_{late.uid}", "It is still being rendered. This is its job.")
        except PressroomError as wrong:
            return await self._show_error(request, form, wrong)
        return request.redirect(f"/playground?link={link}", f"It is kept, and has the short link {link}.")

    async def _keep_render(self, request: PageRequest, form: PlaygroundForm) -> str:
        org_id = request.caller.org_id
        prepared = requests.prepare_render(form.render_request())
        lookup = await self._diagrams.look_up(prepared, org_id)
        if lookup.hit is not None and await self._diagrams.keep_render(lookup.hit.artifact) is not None:
            self._service.metrics.cache.labels("hit").inc()
            return lookup.hit.link
        trace = {"request_id": request.http.state.request_id}
        submitted = await self._service.rendering.submit_prepared(
            self._service.queue, prepared, kind=NAME, fingerprint=lookup.fingerprint, org_id=org_id, trace=trace
        )
        self._service.metrics.submitted.labels(NAME, submitted.answer.value).inc()
        await request.record_audit("submit", f"job_{submitted.uid}", after={"kind": NAME, "answer": submitted.answer.value})
        job = await wait_until_ended(self._service, submitted, PATIENCE)
        if job.result is None:
            raise RenderFailed(job)
        if await self._diagrams.keep_render(job.result["artifact"]) is None:
            raise Expired("what was rendered has expired before it could be kept; keep it again")
        return str(job.result["short_link"])


def _attachment(data: bytes, media_type: str, filename: str) -> Response:
    return Response(data, 200, _HEADERS | {"Content-Disposition": content_disposition(filename)}, media_type)
