"""The stream that an open page listens to. It says that something changed, not what: the page then asks for itself again.

So a page has one way of being made, whatever made it stale; whoever was cut off has missed nothing that the next look does not
show; and a thousand events in a second are one look.
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
from pressroom.web.desk import Desk

log = logging.getLogger("pressroom.web")

AT_MOST_EVERY = 1.0  # seconds between two looks of one page
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}


def router(desk: Desk) -> Routes:
    routes = Routes()
    service = desk.service

    @routes.get("/desk/live")
    async def live(request: Request) -> Response:
        """Everybody's events, or those of one job: `?job=`. Strangers hear nothing, and members only their own."""
        browser = await desk.door.browser(request)
        caller = desk.door.admit(request, browser, Scope.VIEWER)
        named = request.query_params.get("job")
        last = await service.rendering.database.read(queries.last_event)
        seen = _seen(request, last)
        if named is None:
            events = service.queue.events(after=last, org_id=None if caller.everywhere else caller.org_id or "")
        else:
            try:
                job = require_own(caller, await service.queue.get(named))
            except InvalidArgument:
                raise NotFound("there is no such job") from None
            if job.status.ended:  # since the page was made: it looks once more, and does not come back
                return Response(_frame(last=True), media_type="text/event-stream", headers=_HEADERS)
            events = service.queue.watch(job, after=seen)

        is_admitted = partial(desk.door.still_admits, request, browser)
        heard = Heard(events, of_a_job=named is not None)
        if seen < last:  # something happened between the page and its stream; what, does not matter
            heard.news.set()
        return StreamingResponse(_frames(heard, service, is_admitted), media_type="text/event-stream", headers=_HEADERS)

    return routes


async def _frames(heard: "Heard", service: Service, is_admitted: Callable[[], Awaitable[bool]]) -> AsyncIterator[bytes]:
    """Ends, too, for whoever was logged out or had their token revoked meanwhile: they come back, and are told so."""
    heard.start()
    end, news = asyncio.ensure_future(service.closing.wait()), asyncio.ensure_future(heard.news.wait())
    service.metrics.streams.inc()
    try:
        yield b"retry: %d\nevent: open\ndata: \n\n" % RETRY_MS
        while True:
            await asyncio.wait({news, end}, timeout=streams.HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
            if end.done():
                return  # the page comes back
            if not news.done():
                if not await is_admitted():
                    return
                yield b": still here\n\n"
                continue
            heard.news.clear()
            news = asyncio.ensure_future(heard.news.wait())
            if heard.lost or not await is_admitted():
                return
            yield _frame(last=heard.over)
            if heard.over:
                return
            await asyncio.wait({end}, timeout=AT_MOST_EVERY)
    finally:
        service.metrics.streams.dec()
        end.cancel()
        news.cancel()
        await heard.close()


def _frame(*, last: bool) -> bytes:
    return b"event: changed\ndata: %s\n\n" % (b"for the last time" if last else b"")


def _seen(request: Request, otherwise: int) -> int:
    """The last event that is on the page, if it says so: what came between the page and its stream is news as well."""
    seen = request.query_params.get("after", "")
    return int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 19 else otherwise


class Heard:
    """Listens on behalf of a page, and remembers only that there was something."""

    def __init__(self, events: AsyncGenerator[Event], *, of_a_job: bool) -> None:
        self.news = asyncio.Event()
        self.over = False
        self.lost = False
        self._events = events
        self._of_a_job = of_a_job

    def start(self) -> None:
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        """Ends with the job that it follows. What else ends it, a queue that closes or a database that fails, is a loss."""
        try:
            async for _ in self._events:
                self.news.set()
            self.over, self.lost = self._of_a_job, not self._of_a_job
        except QueueClosed:
            self.lost = True
        except PressroomError as reason:
            log.warning("a page that listens is sent away: %s", reason)
            self.lost = True
        self.news.set()

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self._events.aclose()
