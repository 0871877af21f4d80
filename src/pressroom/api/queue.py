"""The queue over HTTP, for those who run it: what waits, runs, conflicts, fails, who is busy, what is slow; and pausing."""

import re
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Caller, Scope
from pressroom.api.problems import HttpError
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import json_response, path, query, responses
from pressroom.api.service import Service
from pressroom.overview import CURSOR, LONGEST, PAGE_LIMIT, SLOW
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
_LIMIT = query("limit", {"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT, "default": 50}, "How many")
_CURSOR = query("cursor", {"type": "string", "pattern": f"^{CURSOR}$"}, "As the last page gave it")
_OVER = query(
    "over",
    {"type": "number", "minimum": 0, "maximum": LONGEST.total_seconds(), "default": SLOW.total_seconds()},
    "In progress for more than so many seconds",
)
_PROJECT = query("project", {"type": "string", "minLength": 1}, "The project") | {"required": True}
_ITEM = query("item", {"type": "string"}, "Only who updates this item now")
_NOUN = query("noun", {"type": "string"}, "Only items that are called this, such as editions")
_NAME = path("kind", "render", "The kind")


def router(service: Service) -> Routes:
    routes = Routes("operations")
    overview = service.queue.overview

    @routes.get(
        "/queue/backlog",
        operation_id="get_backlog",
        responses=responses({200: json_response(BacklogReport, "What waits, by kind and tier", example=examples.BACKLOG)}, 401),
        openapi={"parameters": [_ORG]},
    )
    async def get_backlog(request: Request) -> Response:
        caller = await service.gate.caller(request, Scope.VIEWER)
        return reply(await overview.backlog(org_id=_org_filter(request, caller)), headers=_FRESH)

    @routes.get(
        "/queue/active",
        operation_id="list_active",
        responses=responses(
            {200: json_response(ActiveList, "What runs, the longest first", headers=_NEXT, example=examples.ACTIVE_LIST)},
            *(401, 422),
        ),
        openapi={"parameters": [_ORG, _KIND, _LIMIT, _CURSOR]},
    )
    async def list_active(request: Request) -> Response:
        """Items are counted by state; the first twenty in progress, and that failed, are named. The job has them all."""
        caller = await service.gate.caller(request, Scope.VIEWER)
        page = await overview.active(kind=request.query_params.get("kind"), **_page(request, caller))
        return _page_response(service, request, caller, page)

    @routes.get(
        "/queue/slow",
        operation_id="list_slow",
        responses=responses(
            {
                200: json_response(
                    ActiveList, "What runs for too long, the slowest first", headers=_NEXT, example=examples.ACTIVE_LIST
                )
            },
            *(401, 422),
        ),
        openapi={"parameters": [_OVER, _ORG, _KIND, _LIMIT, _CURSOR]},
    )
    async def list_slow(request: Request) -> Response:
        caller = await service.gate.caller(request, Scope.VIEWER)
        page = await overview.slow(_parse_over(request), kind=request.query_params.get("kind"), **_page(request, caller))
        return _page_response(service, request, caller, page)

    @routes.get(
        "/queue/conflicts",
        operation_id="list_conflicts",
        responses=responses(
            {200: json_response(Conflicts, "Who updates items of a project", headers=_NEXT, example=examples.CONFLICTS)},
            *(401, 422),
        ),
        openapi={"parameters": [_PROJECT, _NOUN, _ITEM, _ORG, _LIMIT, _CURSOR]},
    )
    async def list_conflicts(request: Request) -> Response:
        """`conflicts` are the items that more than one of these jobs names, whatever page of the jobs this is."""
        caller = await service.gate.caller(request, Scope.VIEWER)
        project, noun, item = (request.query_params.get(name) for name in ("project", "noun", "item"))
        page = await overview.conflicts(project or "", noun=noun, item=item, **_page(request, caller))
        return _page_response(service, request, caller, page)

    @routes.get(
        "/queue/errors",
        operation_id="get_error_rate",
        responses=responses(
            {200: json_response(ErrorRate, "What went wrong within the last hour", example=examples.ERROR_RATE)}, 401
        ),
        openapi={"parameters": [_ORG]},
    )
    async def get_error_rate(request: Request) -> Response:
        caller = await service.gate.caller(request, Scope.VIEWER)
        return reply(await overview.error_rate(org_id=_org_filter(request, caller)), headers=_FRESH)

    @routes.get(
        "/queue/throughput",
        operation_id="get_throughput",
        responses=responses(
            {200: json_response(Throughput, "Whose jobs ended within the last hour", example=examples.THROUGHPUT)}, *(401, 422)
        ),
        openapi={"parameters": [_ORG, _LIMIT]},
    )
    async def get_throughput(request: Request) -> Response:
        caller = await service.gate.caller(request, Scope.VIEWER)
        found = await overview.throughput(org_id=_org_filter(request, caller), limit=_limit(request))
        return reply(found, headers=_FRESH)

    @routes.post(
        "/queue/{kind}/pause",
        operation_id="pause_kind",
        responses=responses(
            {200: json_response(Switched, "No worker claims its jobs", example={"kind": "render", "paused": True})},
            *(401, 403, 404),
        ),
        openapi={"parameters": [_NAME]},
    )
    async def pause_kind(request: Request, kind: str) -> Response:
        """What runs goes on, and submits are accepted. Again and again, if you like."""
        await _require_all(service, request)
        await service.queue.pause(kind)
        return reply(Switched(kind, True))

    @routes.post(
        "/queue/{kind}/resume",
        operation_id="resume_kind",
        responses=responses(
            {200: json_response(Switched, "Workers claim its jobs", example={"kind": "render", "paused": False})},
            *(401, 403, 404),
        ),
        openapi={"parameters": [_NAME]},
    )
    async def resume_kind(request: Request, kind: str) -> Response:
        await _require_all(service, request)
        await service.queue.resume(kind)
        return reply(Switched(kind, False))

    return routes


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
    return {"org_id": _org_filter(request, caller), "limit": _limit(request), "cursor": request.query_params.get("cursor")}


def _limit(request: Request) -> int:
    given = request.query_params.get("limit", "50")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0  # refused as any other out of bounds


def _parse_over(request: Request) -> float:
    given = request.query_params.get("over")
    if given is None:
        return SLOW.total_seconds()
    if not re.fullmatch(r"\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?", given):
        raise HttpError(422, "invalid_argument", f"over is a number of seconds, from 0 to {LONGEST.total_seconds():.0f}")
    return float(given)


def _page_response(service: Service, request: Request, caller: Caller, page: ActiveList) -> Response:
    headers = dict(_FRESH)
    if page.next_cursor:
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
        where = f"{service.base_url}{request.url.path}?{urlencode([*rest, ('cursor', page.next_cursor)])}"
        headers["Link"] = f'<{where}>; rel="next"'
    return reply(page if caller.everywhere else _without_hosts(page), headers=headers)


def _without_hosts(page: ActiveList) -> ActiveList:
    """A worker is named after its machine, which is for those who run it."""
    items = [msgspec.structs.replace(one, worker=None) for one in page.items]
    return msgspec.structs.replace(page, items=items)
