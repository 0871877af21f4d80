"""What was deleted in an organisation, and restoring it."""

from typing import TYPE_CHECKING

from starlette.responses import Response

from pressroom.apps.docs.model import Org
from pressroom.apps.docs.pages.paths import org_path
from pressroom.apps.docs.pages.sites_page import refused_form
from pressroom.apps.docs.pages.views import EMPTY_FORM, PAGE_SIZE, FilledForm, get_own_org, render_page
from pressroom.errors import PressroomError, Refused
from pressroom.web.site import PageRequest

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp


class PurgatoryPages:
    def __init__(self, app: "DocsApp") -> None:
        self._app = app

    async def show(self, request: PageRequest, org: str) -> Response:
        return await self._list_page(request, await get_own_org(request, self._app, org))

    async def _list_page(
        self, request: PageRequest, org: Org, form: FilledForm = EMPTY_FORM, problem: PressroomError | None = None
    ) -> Response:
        cursor = request.cursor(r"[0-9A-Z]{26}")
        entries = await self._app.purgatory.list(org.slug, before=cursor, limit=PAGE_SIZE + 1)
        shown, more = entries[:PAGE_SIZE], len(entries) > PAGE_SIZE
        return render_page(
            request,
            "purgatory.html",
            problem=problem,
            org=org,
            entries=shown,
            cursor=shown[-1].id if more else None,
            first=bool(cursor),
            form=form,
        )

    async def restore(self, request: PageRequest, org: str, id: str) -> Response:
        owner = await get_own_org(request, self._app, org)
        try:
            entry = await self._app.purgatory.restore(org, id, actor=request.caller.name)
        except Refused as refusal:
            return await self._list_page(request, owner, refused_form(request, "restore", refusal), refusal)
        await request.record_audit("docs.purgatory.restore", f"{entry.what} {entry.subject}", after={"name": entry.name})
        return request.redirect(f"{org_path(org)}/purgatory", f"The {entry.what} {entry.name} is restored.")
