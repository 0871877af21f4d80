"""Named diagrams in the playground: a list of them, any version in the editor, and saving without undoing others' work."""

import re

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.problems import request_id_of
from pressroom.api.routes import Routes
from pressroom.apps.diagrams import asking, playground_page, playground_sheet
from pressroom.apps.diagrams.embed_keys import key_of
from pressroom.apps.diagrams.named import Names, require_name
from pressroom.apps.diagrams.named_tags import Condition
from pressroom.apps.diagrams.playground_page import opened, opened_again
from pressroom.apps.diagrams.playground_previews import wrong_with
from pressroom.apps.diagrams.playground_sheet import Sheet
from pressroom.apps.diagrams.versions import Version
from pressroom.errors import PreconditionFailed, PressroomError
from pressroom.model import from_ms
from pressroom.renderers.documents import Asked
from pressroom.web.desk import Desk, Visit, refuse
from pressroom.web.lines import compare_lines

SHOWN = 50


def router(desk: Desk) -> Routes:
    routes = Routes()
    service = desk.service
    names = Names(service.queue, service.rendering.database, service.keyring)

    async def show_names(visit: Visit) -> Response:
        after = visit.request.query_params.get("cursor", "")
        if after:
            require_name(after)
        found = await names.list(visit.caller.org_id, after, SHOWN + 1)
        cursor = found[SHOWN - 1].named.name if len(found) > SHOWN else None
        keys = {one.named.name: key_of(one.named, service.keyring) for one in found}
        return visit.page(
            "diagrams/names.html", found=found[:SHOWN], keys=keys, cursor=cursor, first=bool(after), moment=from_ms
        )

    async def show_named(visit: Visit, name: str) -> Response:
        found = await opened(visit, names, name, number_of(visit.request.query_params.get("version")))
        return playground_page.show(visit, playground_sheet.from_text(found.history.versions[0].text), opened=found)

    async def save(visit: Visit) -> Response:
        """What was opened is followed by this; a new name is given only if nobody has given it yet."""
        sheet = playground_sheet.fitted(visit.form.get)
        name, was = visit.form.get("name").strip(), visit.form.get("opened")
        state = visit.form.get("state") if name == was else ""
        try:
            version, is_new = await saved(visit, name, sheet, state)
        except PreconditionFailed:
            return await conflict(visit, name, sheet)
        except PressroomError as wrong:
            verdict = wrong_with(visit.request, wrong, sheet.source.encode())
            opened = await opened_again(visit, names)
            return playground_page.show(visit, sheet, verdict=verdict, opened=opened, status=wrong.status)
        words = f"Saved as version {version.number}." if is_new else f"Version {version.number} has this text already."
        return visit.go(f"/playground/names/{name}", words)

    async def saved(visit: Visit, name: str, sheet: Sheet, state: str) -> tuple[Version, bool]:
        require_name(name)
        text = sheet.text()
        asking.checked(Asked(text.format, "svg", text.source.encode(), text.options, text.engine))
        condition = Condition(frozenset({state})) if state else Condition(None, frozenset({"*"}))
        trace, keep = {"request_id": request_id_of(visit.request)}, service.settings.diagram_versions
        _, version, is_new = await names.put(visit.caller.org_id, name, text, trace, condition=condition, keep=keep)
        if is_new:
            before = {"version": version.number - 1} if version.number > 1 else None
            await visit.note("save diagram", f"diagram {name}", before=before, after={"version": version.number})
        return version, is_new

    async def conflict(visit: Visit, name: str, sheet: Sheet) -> Response:
        """Both texts, and a way to put one on top of the other knowingly."""
        theirs = await opened(visit, names, name)
        text = theirs.history.versions[0].text
        return visit.page(
            "diagrams/conflict.html",
            status=412,
            sheet=sheet,
            theirs=theirs,
            text=text,
            was_opened=visit.form.get("opened") == name,
            lines=await compare_lines(text.source, sheet.source),
            moment=from_ms,
        )

    desk.get(routes, "/playground/names", show_names)
    desk.get(routes, "/playground/names/{name}", show_named)
    desk.post(routes, "/playground/save", save, needs=Scope.SUBMITTER, small=False)
    return routes


def number_of(text: str | None, field: str = "version") -> int | None:
    """The number of a version, from a query."""
    if not text:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise refuse(f"{field} is the number of a version, such as 3; not {text[:40]!r}")
    return int(text)
