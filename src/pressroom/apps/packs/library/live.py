"""The streams that pages of the library listen to: a pack's jobs, or those of all packs of an organisation."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.apps.packs.model import Pack
from pressroom.apps.packs.planning import key_prefix
from pressroom.errors import PressroomError
from pressroom.store.jobs import queries
from pressroom.web.live import ChangeListener, last_seen_event, stream_changes
from pressroom.web.site import Site

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp


class PackUpdates:
    def __init__(self, site: Site, app: "PacksApp") -> None:
        self._site = site
        self._packs = app.packs

    async def stream(self, request: Request) -> Response:
        """`?pack=` by its id, `?link=` by its link and without a login; without either, every pack of the organisation."""
        asked = request.query_params
        pack: Pack | None = None
        if link := asked.get("link"):
            pack = await self._packs.get_by_link(link)
            org_id, is_admitted = pack.org_id, self._link_check(link, pack)
        else:
            session = await self._site.sessions.browser(request)
            caller = self._site.sessions.admit(request, session, Scope.VIEWER)
            org_id = caller.org_id or ""
            if pack_id := asked.get("pack"):
                pack = await self._packs.get(org_id, pack_id)

            async def is_admitted() -> bool:
                return await self._site.sessions.still_admits(request, session)

        last = await self._packs.database.read(queries.last_event_id)
        seen = last_seen_event(request, last)
        queue = self._site.service.queue
        events = self._packs.events(pack, last) if pack else queue.events(after=last, org_id=org_id, key_prefix=key_prefix(""))
        listener = ChangeListener(events, single_job=False)
        if seen < last:
            listener.changed.set()
        return stream_changes(listener, self._site.service, is_admitted)

    def _link_check(self, link: str, pack: Pack) -> Callable[[], Awaitable[bool]]:
        async def still_leads_there() -> bool:
            try:
                return (await self._packs.get_by_link(link)).id == pack.id
            except PressroomError:
                return False

        return still_leads_there
