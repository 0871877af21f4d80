"""For those who run several processes: which workers there are, and how much of a kind they do at once."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.json_body import decode_body
from pressroom.api.problems import HttpError
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import json_body, json_response, path, responses
from pressroom.api.service import Service
from pressroom.model import VERSION
from pressroom.queue import MOST_SLOTS
from pressroom.store.operators.worker_list import WorkerState


class WorkerList(msgspec.Struct, frozen=True):
    items: list[WorkerState]


class Scale(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many jobs of the kind may be in progress at once, in all processes together; null is no limit."""

    slots: Annotated[int, Meta(ge=1, le=MOST_SLOTS)] | None


class Scaled(msgspec.Struct, frozen=True):
    kind: str
    slots: int | None


_WORKER = {
    "id": "press-1.4711.8W2M7N",
    "host": "press-1",
    "pid": 4711,
    "version": VERSION,
    "delivery": "embedded",
    "state": "working",
    "alive": True,
    "leader": True,
    "slots": 4,
    "running": 3,
    "kinds": ["diagram", "render"],
    "date_started": "2026-11-16T08:00:00Z",
    "date_seen": "2026-11-16T08:30:03Z",
}


_LIST_WORKERS: dict[str, Any] = {
    "responses": responses({200: json_response(WorkerList, "The oldest first", example={"items": [_WORKER]})}, 401, 403),
}
_SCALE_KIND: dict[str, Any] = {
    "small_body": True,
    "responses": responses(
        {200: json_response(Scaled, "It holds in every process", example={"kind": "render", "slots": 2})},
        *(401, 403, 404, 422),
    ),
    "openapi": {
        "parameters": [path("kind", "render", "The kind")],
        **json_body(Scale, "How many at once", example={"slots": 2}),
    },
}


def router(service: Service) -> Routes:
    routes = Routes("operations")
    api = WorkersApi(service)
    routes.add("/workers", api.list_workers, "GET", **_LIST_WORKERS)
    routes.add("/queue/{kind}/scale", api.scale_kind, "POST", **_SCALE_KIND)
    return routes


class WorkersApi:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def list_workers(self, request: Request) -> Response:
        """Every worker, wherever it runs. One that is not `alive` was not seen for the length of its lease: its jobs run again
        elsewhere, and after an hour it is forgotten. Processes that only serve are not among them."""
        await self._operator(request)
        return reply(WorkerList(list(await self._service.queue.members())), headers={"Cache-Control": "no-store"})

    async def scale_kind(self, request: Request, kind: str) -> Response:
        """Limit how many jobs of a kind are in progress at once, in all processes together. What runs goes on."""
        await self._operator(request)
        wanted = decode_body(request, await request.body(), Scale)
        await self._service.queue.scale(kind, wanted.slots)
        return reply(Scaled(kind, wanted.slots))

    async def _operator(self, request: Request) -> None:
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        if not caller.everywhere:
            words = "workers and kinds are of all organisations; this needs a token made with --all-orgs"
            raise HttpError(403, "forbidden", words)
