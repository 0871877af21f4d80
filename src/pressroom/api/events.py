"""Event streams: of one job, or of all jobs of the caller."""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples, streams
from pressroom.api.access import Scope
from pressroom.api.jobs import get_own_job
from pressroom.api.problems import HttpError
from pressroom.api.routes import Routes
from pressroom.api.schema import header, path, query, responses
from pressroom.api.service import Service
from pressroom.store.jobs import queries

_FRAME: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "event": {"type": "string", "description": "What happened"},
        "data": {"type": "string", "contentMediaType": "application/json", "description": "job, type, at and data"},
    },
}
EVENT_STREAM: dict[str, Any] = {
    "description": "Server-sent events; `id` is the number to resume after",
    "content": {"text/event-stream": {"schema": _FRAME, "example": examples.EVENT}},
}
RESUME_PARAMETERS = [
    header("Last-Event-ID", "Resume after this event", pattern="^[0-9]{0,18}$"),
    query("after", {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}, "The same, for those who cannot set a header"),
]


_WATCH_JOB: dict[str, Any] = {
    "responses": responses({200: EVENT_STREAM, 204: {"description": "It has ended, and you have seen it"}}, 401, 404, 422),
    "openapi": {"parameters": [path("id", examples.JOB_ID, "The job"), *RESUME_PARAMETERS]},
}
_WATCH_ALL: dict[str, Any] = {
    "responses": responses({200: EVENT_STREAM}, 401, 422),
    "openapi": {"parameters": [*RESUME_PARAMETERS, query("kind", {"type": "string"}, "Only jobs of this kind")]},
}


def router(service: Service) -> Routes:
    routes = Routes("events")
    api = EventsApi(service)
    routes.add("/jobs/{id}/events", api.watch_job, "GET", **_WATCH_JOB)
    routes.add("/events", api.watch_all, "GET", **_WATCH_ALL)
    return routes


class EventsApi:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def watch_job(self, request: Request, id: str) -> Response:
        """From the job's first event, or the one after the last that was seen, to the one that ends it."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        job = await get_own_job(self._service, caller, id)
        after = parse_last_event_id(request) or 0
        if job.status.ended and after and not any(one.id > after for one in await self._service.queue.history(job)):
            return Response(status_code=204)  # so that a browser does not come back for ever
        events = self._service.queue.watch(job, after=after)
        still_admitted = partial(self._service.gate.still_admits, request, caller)
        return streams.respond(events, self._service.closing, self._service.metrics, still_admitted=still_admitted)

    async def watch_all(self, request: Request) -> Response:
        """The events of all jobs that the caller may see, from now on or from where it is resumed. Does not end by itself."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        after = parse_last_event_id(request)
        if after is None:
            after = await self._service.rendering.database.read(queries.last_event_id)
        events = self._service.queue.events(after=after, org_id=caller.org_filter, kind=request.query_params.get("kind"))
        still_admitted = partial(self._service.gate.still_admits, request, caller)
        return streams.respond(events, self._service.closing, self._service.metrics, after=after, still_admitted=still_admitted)


def parse_last_event_id(request: Request) -> int | None:
    asked = request.query_params.getlist("after")
    seen = (request.headers.get("last-event-id") or None, ",".join(asked) if asked else None)
    given = [text for text in seen if text is not None]
    if not all(text.isascii() and text.isdigit() and len(text) < 19 for text in given):
        raise HttpError(422, "invalid_argument", "Last-Event-ID and after are the number of an event")
    return int(given[0]) if given else None
