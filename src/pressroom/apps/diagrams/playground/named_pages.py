"""Named diagrams in the playground: a list of them, any version in the editor, and saving without undoing others' work."""

import re

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.diagrams import requests
from pressroom.apps.diagrams.named.diagrams import NamedDiagrams, require_name
from pressroom.apps.diagrams.named.embed_keys import embed_key
from pressroom.apps.diagrams.named.etags import Condition
from pressroom.apps.diagrams.named.versions import Version
from pressroom.apps.diagrams.playground import views
from pressroom.apps.diagrams.playground.form import PlaygroundForm, form_of_text, read_supported_form
from pressroom.apps.diagrams.playground.previews import error_result
from pressroom.apps.diagrams.playground.views import open_diagram, reopen_from_form
from pressroom.apps.diagrams.renders import Diagrams
from pressroom.errors import PreconditionFailed, PressroomError
from pressroom.model import from_ms
from pressroom.renderers.documents import RenderRequest
from pressroom.web.line_diff import diff_lines_in_thread
from pressroom.web.site import PageRequest, Site, page_error

SHOWN = 50


def router(site: Site, diagrams: Diagrams) -> Routes:
    routes = Routes()
    pages = NamedDiagramPages(site.service, diagrams)
    site.get(routes, "/playground/names", pages.show_list)
    site.get(routes, "/playground/names/{name}", pages.show_diagram)
    site.post(routes, "/playground/save", pages.save, needs=Scope.SUBMITTER, small=False)
    return routes


class NamedDiagramPages:
    def __init__(self, service: Service, diagrams: Diagrams) -> None:
        self._service = service
        self._diagrams = diagrams
        self._names = NamedDiagrams(service.queue, service.rendering.database, service.keyring)

    async def show_list(self, request: PageRequest) -> Response:
        after = request.http.query_params.get("cursor", "")
        if after:
            require_name(after)
        found = await self._names.list(request.caller.org_id, after, SHOWN + 1)
        cursor = found[SHOWN - 1].named.name if len(found) > SHOWN else None
        keys = {one.named.name: embed_key(one.named, self._service.keyring) for one in found}
        return request.page(
            "diagrams/names.html", found=found[:SHOWN], keys=keys, cursor=cursor, first=bool(after), moment=from_ms
        )

    async def show_diagram(self, request: PageRequest, name: str) -> Response:
        found = await open_diagram(request, self._names, name, parse_version(request.http.query_params.get("version")))
        return views.render_page(request, form_of_text(found.history.versions[0].text), opened=found)

    async def save(self, request: PageRequest) -> Response:
        """The next version of the opened diagram, or the first of a new name, which must not exist yet."""
        form = read_supported_form(request.form.get)
        name, was = request.form.get("name").strip(), request.form.get("opened")
        state = request.form.get("state") if name == was else ""
        try:
            version, is_new = await self._save_version(request, name, form, state)
        except PreconditionFailed:
            return await self._show_conflict(request, name, form)
        except PressroomError as wrong:
            result = error_result(request.http, wrong, form.source.encode())
            opened = await reopen_from_form(request, self._names)
            return views.render_page(request, form, result=result, opened=opened, status=wrong.status)
        words = f"Saved as version {version.number}." if is_new else f"Version {version.number} has this text already."
        return request.redirect(f"/playground/names/{name}", words)

    async def _save_version(self, request: PageRequest, name: str, form: PlaygroundForm, state: str) -> tuple[Version, bool]:
        require_name(name)
        text = form.diagram_text()
        requests.prepare_render(RenderRequest(text.format, "svg", text.source.encode(), text.options, text.engine))
        condition = Condition(frozenset({state})) if state else Condition(None, frozenset({"*"}))
        trace, keep = {"request_id": request.http.state.request_id}, self._diagrams.max_versions
        _, version, is_new = await self._names.put(request.caller.org_id, name, text, trace, condition=condition, keep=keep)
        if is_new:
            before = {"version": version.number - 1} if version.number > 1 else None
            await request.record_audit("save diagram", f"diagram {name}", before=before, after={"version": version.number})
        return version, is_new

    async def _show_conflict(self, request: PageRequest, name: str, form: PlaygroundForm) -> Response:
        """Both texts, and a button to save this one on top of the other."""
        theirs = await open_diagram(request, self._names, name)
        text = theirs.history.versions[0].text
        return request.page(
            "diagrams/conflict.html",
            status=412,
            form=form,
            theirs=theirs,
            text=text,
            was_opened=request.form.get("opened") == name,
            lines=await diff_lines_in_thread(text.source, form.source),
            moment=from_ms,
        )


def parse_version(text: str | None, field: str = "version") -> int | None:
    """The number of a version, from a query."""
    if not text:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise page_error(f"{field} is the number of a version, such as 3; not {text[:40]!r}")
    return int(text)
