"""The list of packs, and that of the deleted ones."""

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import Response

from pressroom.apps.packs.errors import PackNotFound
from pressroom.apps.packs.library.views import read_text_field, render_page
from pressroom.apps.packs.model import parse_id
from pressroom.apps.packs.packs import COUNTED
from pressroom.apps.packs.store import PackFilter
from pressroom.web.site import PageRequest, page_error

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

PAGE_SIZE = 50
STATES = ("queued", "rendering", "ready", "failed")


class PackLists:
    def __init__(self, app: "PacksApp") -> None:
        self._packs = app.packs
        self._retention = app.settings.retention

    async def show(self, request: PageRequest) -> Response:
        fields = {name: read_text_field(request, name) for name in ("q", "status", "user", "session")}
        fields["q"] = fields["q"].strip()
        if fields["status"] not in ("", *STATES):
            raise page_error(f"status is one of {', '.join(STATES)}")
        cursor = request.cursor(r"[0-9a-f-]{36}")
        if (named := await self._find_named(request, fields["q"])) is not None:
            return request.redirect(f"/library/{quote(named)}")
        wanted = PackFilter(user_id=fields["user"], session_id=fields["session"], status=fields["status"], text=fields["q"])
        found, more = await self._packs.list(request.caller.org_id, wanted, cursor=cursor, limit=PAGE_SIZE)
        counts = await self._packs.count_by_state(request.caller.org_id)
        return render_page(
            request,
            "packs.html",
            found=found,
            cursor=more,
            first=bool(cursor),
            asked={name: value for name, value in fields.items() if value},
            fields=fields,
            states=STATES,
            counts=counts,
            counted=COUNTED,
            address=request.site.service.address_for(request.http),
        )

    async def _find_named(self, request: PageRequest, text: str) -> str | None:
        """The pack whose whole id was typed."""
        try:
            return (await self._packs.get(request.caller.org_id, parse_id(text))).id if text else None
        except PackNotFound:
            return None

    async def show_deleted(self, request: PageRequest) -> Response:
        packs = await self._packs.list_deleted(request.caller.org_id)
        return render_page(request, "deleted.html", packs=packs, retention=int(self._retention * 1000))
