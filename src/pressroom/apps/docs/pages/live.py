"""The stream that pages of the docs app listen to: jobs of a project, of an organisation, or of all."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Caller, Scope
from pressroom.apps.docs.errors import OrgNotFound
from pressroom.errors import NotFound
from pressroom.model import Event
from pressroom.queue import Queue
from pressroom.store.jobs import queries
from pressroom.web.live import ChangeListener, last_seen_event, stream_changes
from pressroom.web.site import Site

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

KEY_PREFIX = "docs:"
MAX_REMEMBERED = 1_000  # jobs of which it is remembered whether the page shows them


class SiteUpdates:
    def __init__(self, site: Site, app: "DocsApp") -> None:
        self._site = site
        self._app = app

    async def stream(self, request: Request) -> Response:
        """`?org=` by its slug, and `&project=` by the id of one; without either, every organisation that the caller sees."""
        session = await self._site.sessions.browser(request)
        caller = self._site.sessions.admit(request, session, Scope.VIEWER)
        asked = request.query_params
        org_id = _org_to_watch(caller, asked.get("org", ""))
        database, queue = self._app.core.database, self._site.service.queue

        async def is_admitted() -> bool:
            return await self._site.sessions.still_admits(request, session)

        last = await database.read(queries.last_event_id)
        seen = last_seen_event(request, last)
        events = queue.events(after=last, org_id=org_id, key_prefix=KEY_PREFIX)
        if project := asked.get("project"):
            events = events_of_project(queue, events, project)
        listener = ChangeListener(events, single_job=False)
        if seen < last:
            listener.changed.set()
        return stream_changes(listener, self._site.service, is_admitted)


def _org_to_watch(caller: Caller, org: str) -> str | None:
    """None: all of them."""
    if not org:
        return caller.org_filter
    if not caller.owns(org):
        raise OrgNotFound
    return org


async def events_of_project(queue: Queue, events: AsyncGenerator[Event], project: str) -> AsyncGenerator[Event]:
    """Events do not tell of their job's project, so that each job is read once."""
    known: dict[int, bool] = {}
    async with aclosing(events):
        async for event in events:
            if event.job_id not in known:
                if len(known) >= MAX_REMEMBERED:
                    known.clear()
                known[event.job_id] = await _is_of_project(queue, event, project)
            if known[event.job_id]:
                yield event


async def _is_of_project(queue: Queue, event: Event, project: str) -> bool:
    """Jobs of templates and of rules concern several projects, and name none."""
    try:
        return (await queue.get(event.uid)).project_id in (project, None)
    except NotFound:
        return False
