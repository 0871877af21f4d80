"""The stream that an open page listens to. It says that something changed, not what: the page then asks for itself again.

So a page is rendered in one way, whatever made it stale; a lost connection loses nothing that the next request does not show;
and a thousand events in a second are one request.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pressroom.api import streams
from pressroom.api.access import Scope, require_own
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.api.streams import RETRY_MS
from pressroom.errors import InvalidArgument, NotFound, PressroomError, QueueClosed
from pressroom.model import Event
from pressroom.store.jobs import queries
from pressroom.web.site import Site

log = logging.getLogger("pressroom.web")

MIN_INTERVAL = 1.0  # seconds between two looks of one page
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}


def router(site: Site) -> Routes:
    routes = Routes()
    updates = LiveUpdates(site)
    routes.add("/desk/live", updates.stream, "GET")
    return routes


class LiveUpdates:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._service = site.service

    async def stream(self, request: Request) -> Response:
        """Events of all jobs, or of one: `?job=`. Needs a login; a caller of one organisation gets only its events."""
        session = await self._site.sessions.browser(request)
        caller = self._site.sessions.admit(request, session, Scope.VIEWER)
        job_id = request.query_params.get("job")
        last = await self._service.rendering.database.read(queries.last_event_id)
        seen = last_seen_event(request, last)
        if job_id is None:
            events = self._service.queue.events(after=last, org_id=caller.org_filter)
        else:
            try:
                job = require_own(caller, await self._service.queue.get(job_id))
            except InvalidArgument:
                raise NotFound("there is no such job") from None
            if job.status.ended:  # since the page was made: it looks once more, and does not come back
                return Response(_change_event(last=True), media_type="text/event-stream", headers=_HEADERS)
            events = self._service.queue.watch(job, after=seen)

        is_admitted = partial(self._site.sessions.still_admits, request, session)
        listener = ChangeListener(events, single_job=job_id is not None)
        if seen < last:  # something happened between the page and its stream; what, does not matter
            listener.changed.set()
        return stream_changes(listener, self._service, is_admitted)


def stream_changes(listener: "ChangeListener", service: Service, is_admitted: Callable[[], Awaitable[bool]]) -> Response:
    """What the listener hears, for one page of ours or of an app. `is_admitted` says whether its caller may still read it."""
    return StreamingResponse(_frames(listener, service, is_admitted), media_type="text/event-stream", headers=_HEADERS)


async def _frames(
    listener: "ChangeListener", service: Service, is_admitted: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    """Also ends when the caller was logged out or its token revoked: the browser reconnects and gets 401."""
    listener.start()
    end, changed = asyncio.ensure_future(service.closing.wait()), asyncio.ensure_future(listener.changed.wait())
    service.metrics.streams.inc()
    try:
        yield b"retry: %d\nevent: open\ndata: \n\n" % RETRY_MS
        while True:
            await asyncio.wait({changed, end}, timeout=streams.HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
            if end.done():
                return  # the page comes back
            if not changed.done():
                if not await is_admitted():
                    return
                yield b": still here\n\n"
                continue
            listener.changed.clear()
            changed = asyncio.ensure_future(listener.changed.wait())
            if listener.stream_failed or not await is_admitted():
                return
            yield _change_event(last=listener.job_ended)
            if listener.job_ended:
                return
            await asyncio.wait({end}, timeout=MIN_INTERVAL)
    finally:
        service.metrics.streams.dec()
        end.cancel()
        changed.cancel()
        await listener.close()


def _change_event(*, last: bool) -> bytes:
    return b"event: changed\ndata: %s\n\n" % (b"for the last time" if last else b"")


def last_seen_event(request: Request, default: int) -> int:
    """The last event that is on the page, if it says so: what came between the page and its stream is news as well."""
    seen = request.query_params.get("after", "")
    return int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 19 else default


class ChangeListener:
    """Listens to events for one page, and records only that there were some."""

    def __init__(self, events: AsyncGenerator[Event], *, single_job: bool) -> None:
        self.changed = asyncio.Event()
        self.job_ended = False
        self.stream_failed = False
        self._events = events
        self._of_a_job = single_job

    def start(self) -> None:
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        """Ends with the job that it follows. What else ends it, a queue that closes or a database that fails, is a loss."""
        try:
            async for _ in self._events:
                self.changed.set()
            self.job_ended, self.stream_failed = self._of_a_job, not self._of_a_job
        except QueueClosed:
            self.stream_failed = True
        except PressroomError as reason:
            log.warning("a page that listens is sent away: %s", reason)
            self.stream_failed = True
        self.changed.set()

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self._events.aclose()
