"""The stream that an open page listens to. It says that something changed, not what: the page then asks for itself again.

So a page has one way of being made, whatever made it stale; whoever was cut off has missed nothing that the next look does not
show; and a thousand events in a second are one look.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pressroom.api.access import Scope, require_own
from pressroom.api.service import Service
from pressroom.api.streams import HEARTBEAT, RETRY_MS
from pressroom.errors import InvalidArgument, NotFound, QueueClosed
from pressroom.model import Event
from pressroom.store import look
from pressroom.web.desk import Desk

AT_MOST_EVERY = 1.0  # seconds between two looks of one page
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def router(desk: Desk) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    service = desk.service

    @routes.get("/desk/live")
    async def live(request: Request) -> Response:
        """Everybody's events, or those of one job: `?job=`. Strangers hear nothing, and members only their own."""
        browser = await desk.door.browser(request)
        caller = desk.door.admit(request, browser, Scope.VIEWER)
        named = request.query_params.get("job")
        after = await service.rendering.database.read(look.last_event)
        if named is None:
            events = service.queue.events(after=after, org_id=None if caller.everywhere else caller.org_id or "")
        else:
            try:
                job = require_own(caller, await service.queue.get(named))
            except InvalidArgument:
                raise NotFound("there is no such job") from None
            if job.status.ended:
                return Response(status_code=204)  # so that a browser does not come back for ever
            events = service.queue.watch(job, after=after)
        return StreamingResponse(_frames(events, service), media_type="text/event-stream", headers=_HEADERS)

    return routes


async def _frames(events: AsyncGenerator[Event], service: Service) -> AsyncIterator[bytes]:
    heard = Heard(events)
    end = asyncio.ensure_future(service.closing.wait())
    service.metrics.streams.inc()
    try:
        yield b"retry: %d\nevent: open\ndata: \n\n" % RETRY_MS
        while not end.done():
            news = asyncio.ensure_future(heard.news.wait())
            await asyncio.wait({news, end}, timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
            if end.done():
                return  # the page comes back
            if not heard.news.is_set():
                yield b": still here\n\n"
                continue
            heard.news.clear()
            yield b"event: changed\ndata: %s\n\n" % (b"for the last time" if heard.over else b"")
            if heard.over:
                return
            await asyncio.wait({end}, timeout=AT_MOST_EVERY)
    finally:
        service.metrics.streams.dec()
        end.cancel()
        await heard.close()


class Heard:
    """Listens on behalf of a page, and remembers only that there was something."""

    def __init__(self, events: AsyncGenerator[Event]) -> None:
        self.news = asyncio.Event()
        self.over = False
        self._events = events
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        """Ends with the job that it follows, or with the queue. The second is no news."""
        try:
            async for _ in self._events:
                self.news.set()
        except QueueClosed:
            return
        self.over = True
        self.news.set()

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self._events.aclose()
