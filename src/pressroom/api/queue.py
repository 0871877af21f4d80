"""The queue over HTTP, for those who run it: what waits, runs, conflicts, fails, who is busy, what is slow; and pausing."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Caller, Scope
from pressroom.api.paging import LIMIT, cursor_parameter, is_seconds, next_page_link, parse_limit
from pressroom.api.problems import HttpError
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import json_response, path, query, responses
from pressroom.api.service import Service
from pressroom.overview import CURSOR, LONGEST, SLOW
from pressroom.store.operators.overview import ActiveList, BacklogReport, Conflicts, ErrorRate, Throughput
from pressroom.submission.request import NAME_LIMIT


class Switched(msgspec.Struct, frozen=True):
    """Whether workers claim jobs of a kind."""

    kind: str
    paused: bool


_NO_ORG = "-" * (NAME_LIMIT + 1)  # longer than any id of an organisation
_FRESH = {"Cache-Control": "no-store"}
_NEXT = {"Link": "The next page"}
_ORG = query("org", {"type": "string"}, "Only this organisation; for callers who see more than one")
_KIND = query("kind", {"type": "string"}, "Only this kind")
_CURSOR = cursor_parameter(CURSOR)
_OVER = query(
    "over",
    {"type": "number", "minimum": 0, "maximum": LONGEST.total_seconds(), "default": SLOW.total_seconds()},
    "In progress for more than so many seconds",
)
_PROJECT = query("project", {"type": "string", "minLength": 1}, "The project") | {"required": True}
_ITEM = query("item", {"type": "string"}, "Only who updates this item now")
_NOUN = query("noun", {"type": "string"}, "Only items that are called this, such as editions")
_NAME = path("kind", "render", "The kind")


_GET_BACKLOG: dict[str, Any] = {
    "responses": responses({200: json_response(BacklogReport, "What waits, by kind and tier", example=examples.BACKLOG)}, 401),
    "openapi": {"parameters": [_ORG]},
}
_LIST_ACTIVE: dict[str, Any] = {
    "responses": responses(
        {200: json_response(ActiveList, "What runs, the longest first", headers=_NEXT, example=examples.ACTIVE_LIST)},
        *(401, 422),
    ),
    "openapi": {"parameters": [_ORG, _KIND, LIMIT, _CURSOR]},
}
_LIST_SLOW: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                ActiveList, "What runs for too long, the slowest first", headers=_NEXT, example=examples.ACTIVE_LIST
            )
        },
        *(401, 422),
    ),
    "openapi": {"parameters": [_OVER, _ORG, _KIND, LIMIT, _CURSOR]},
}
_LIST_CONFLICTS: dict[str, Any] = {
    "responses": responses(
        {200: json_response(Conflicts, "Who updates items of a project", headers=_NEXT, example=examples.CONFLICTS)},
        *(401, 422),
    ),
    "openapi": {"parameters": [_PROJECT, _NOUN, _ITEM, _ORG, LIMIT, _CURSOR]},
}
_GET_ERROR_RATE: dict[str, Any] = {
    "responses": responses(
        {200: json_response(ErrorRate, "What went wrong within the last hour", example=examples.ERROR_RATE)}, 401
    ),
    "openapi": {"parameters": [_ORG]},
}
_GET_THROUGHPUT: dict[str, Any] = {
    "responses": responses(
        {200: json_response(Throughput, "Whose jobs ended within the last hour", example=examples.THROUGHPUT)}, *(401, 422)
    ),
    "openapi": {"parameters": [_ORG, LIMIT]},
}
_PAUSE_KIND: dict[str, Any] = {
    "responses": responses(
        {200: json_response(Switched, "No worker claims its jobs", example={"kind": "render", "paused": True})},
        *(401, 403, 404),
    ),
    "openapi": {"parameters": [_NAME]},
}
_RESUME_KIND: dict[str, Any] = {
    "responses": responses(
        {200: json_response(Switched, "Workers claim its jobs", example={"kind": "render", "paused": False})},
        *(401, 403, 404),
    ),
    "openapi": {"parameters": [_NAME]},
}


def router(service: Service) -> Routes:
    routes = Routes("operations")
    api = QueueApi(service)
    routes.add("/queue/backlog", api.get_backlog, "GET", **_GET_BACKLOG)
    routes.add("/queue/active", api.list_active, "GET", **_LIST_ACTIVE)
    routes.add("/queue/slow", api.list_slow, "GET", **_LIST_SLOW)
    routes.add("/queue/conflicts", api.list_conflicts, "GET", **_LIST_CONFLICTS)
    routes.add("/queue/errors", api.get_error_rate, "GET", **_GET_ERROR_RATE)
    routes.add("/queue/throughput", api.get_throughput, "GET", **_GET_THROUGHPUT)
    routes.add("/queue/{kind}/pause", api.pause_kind, "POST", **_PAUSE_KIND)
    routes.add("/queue/{kind}/resume", api.resume_kind, "POST", **_RESUME_KIND)
    return routes


class QueueApi:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._overview = service.queue.overview

    async def get_backlog(self, request: Request) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        return reply(await self._overview.backlog(org_id=_org_filter(request, caller)), headers=_FRESH)

    async def list_active(self, request: Request) -> Response:
        """Items are counted by state; the first twenty in progress, and that failed, are named. The job has them all."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        page = await self._overview.active(kind=request.query_params.get("kind"), **_page(request, caller))
        return _page_response(self._service, request, caller, page)

    async def list_slow(self, request: Request) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        page = await self._overview.slow(_parse_over(request), kind=request.query_params.get("kind"), **_page(request, caller))
        return _page_response(self._service, request, caller, page)

    async def list_conflicts(self, request: Request) -> Response:
        """`conflicts` are the items that more than one of these jobs names, whatever page of the jobs this is."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        project, noun, item = (request.query_params.get(name) for name in ("project", "noun", "item"))
        page = await self._overview.conflicts(project or "", noun=noun, item=item, **_page(request, caller))
        return _page_response(self._service, request, caller, page)

    async def get_error_rate(self, request: Request) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        return reply(await self._overview.error_rate(org_id=_org_filter(request, caller)), headers=_FRESH)

    async def get_throughput(self, request: Request) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        found = await self._overview.throughput(org_id=_org_filter(request, caller), limit=parse_limit(request))
        return reply(found, headers=_FRESH)

    async def pause_kind(self, request: Request, kind: str) -> Response:
        """What runs goes on, and submits are accepted. Again and again, if you like."""
        await _require_all(self._service, request)
        await self._service.queue.pause(kind)
        return reply(Switched(kind, True))

    async def resume_kind(self, request: Request, kind: str) -> Response:
        await _require_all(self._service, request)
        await self._service.queue.resume(kind)
        return reply(Switched(kind, False))


async def _require_all(service: Service, request: Request) -> None:
    """A kind is shared by all organisations: a caller of one of them must not stop the others."""
    caller = await service.gate.caller(request, Scope.OPERATOR)
    if not caller.everywhere:
        raise HttpError(403, "forbidden", "a kind is shared by all organisations; this needs a token made with --all-orgs")


def _org_filter(request: Request, caller: Caller) -> str | None:
    """Whose jobs to look at. An organisation that is not the caller's has none."""
    asked = request.query_params.get("org")
    if caller.everywhere:
        return asked
    own = caller.org_id or ""
    return own if asked is None or asked == own else _NO_ORG


def _page(request: Request, caller: Caller) -> dict[str, Any]:
    return {"org_id": _org_filter(request, caller), "limit": parse_limit(request), "cursor": request.query_params.get("cursor")}


def _parse_over(request: Request) -> float:
    given = request.query_params.get("over")
    if given is None:
        return SLOW.total_seconds()
    if not is_seconds(given):
        raise HttpError(422, "invalid_argument", f"over is a number of seconds, from 0 to {LONGEST.total_seconds():.0f}")
    return float(given)


def _page_response(service: Service, request: Request, caller: Caller, page: ActiveList) -> Response:
    headers = _FRESH | next_page_link(service, request, page.next_cursor)
    return reply(page if caller.everywhere else _without_hosts(page), headers=headers)


def _without_hosts(page: ActiveList) -> ActiveList:
    """A worker is named after its machine, which is for those who run it."""
    items = [msgspec.structs.replace(one, worker=None) for one in page.items]
    return msgspec.structs.replace(page, items=items)
