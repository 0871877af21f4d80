"""`POST /render` and `GET /d/{shortlink}`, and the routes of named diagrams, embeds and terminals."""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples, idempotency
from pressroom.api.access import Scope
from pressroom.api.artifacts import send
from pressroom.api.routes import Routes
from pressroom.api.schema import IDEMPOTENCY_KEY, binary_response, header, json_body, json_response, path, query
from pressroom.api.service import Service
from pressroom.apps.diagrams import error_images, requests, terminal
from pressroom.apps.diagrams.named import embeds
from pressroom.apps.diagrams.named import routes as named_routes
from pressroom.apps.diagrams.named.diagrams import NamedDiagrams
from pressroom.apps.diagrams.render_endpoint import RenderEndpoint
from pressroom.apps.diagrams.renders import Diagrams
from pressroom.apps.diagrams.responses import Given, Pending
from pressroom.errors import PressroomError

LINK_AGE = 300  # seconds that others may keep what a short link shows

_EXAMPLE = {"source": "digraph { source -> press -> document }", "format": "dot", "outputType": "svg"}
_GIVEN = {
    "shortlink": examples.LINK,
    "url": f"/d/{examples.LINK}",
    "cached": True,
    "jobId": examples.JOB_ID,
    "statusUrl": f"/jobs/{examples.JOB_ID}",
    "expiresAt": "2026-01-01T00:05:00Z",
    "cache": {"hit": True, "reason": "rendered from the same input 12 s ago", "differs": None},
}
_PENDING = {
    "jobId": examples.JOB_ID,
    "status": "pending",
    "statusUrl": f"/jobs/{examples.JOB_ID}",
    "cache": {"hit": False, "reason": "the nearest input differs in: source", "differs": ["source"]},
}
_EXPLAINED = {"Cache-Status": "RFC 9211", "Preference-Applied": "The preference that was followed"}
_PARAMETERS = [
    query("format", {"type": "string"}, "The language of a source that is sent as plain text"),
    query("outputType", {"type": "string", "default": "svg"}, "What to make of it"),
    query("engine", {"type": "string"}, "Another engine than the usual one"),
    query("mode", {"type": "string", "default": "async"}, "sync: wait for the picture; anything else is async"),
    query("wait", {"type": "number", "minimum": 0}, "Seconds to wait before the answer is a job"),
    header("Prefer", "wait=N or respond-async"),
    IDEMPOTENCY_KEY,
]
_RENDER: dict[str, Any] = {
    "responses": error_images.responses_with_images(
        {
            200: json_response(Given, "The picture is there", headers=_EXPLAINED, example=_GIVEN),
            202: json_response(
                Pending, "A job, and on stable storage", headers=_EXPLAINED | {"Location": "The job"}, example=_PENDING
            ),
            303: {"description": "The picture, for those who accept only pictures"},
        },
        *(400, 401, 403, 409, 413, 415, 422, 429, 500, 501, 503, 504),
    ),
    "openapi": json_body(
        requests.NewRender,
        "What to render",
        media_types=(requests.JSON, "text/plain"),
        example=_EXAMPLE,
        text=_EXAMPLE["source"],
    )
    | {"parameters": _PARAMETERS},
}
_GET: dict[str, Any] = {
    "responses": error_images.responses_with_images(
        {
            200: binary_response("The bytes", "*/*", example=examples.SVG),
            206: binary_response("Some of them", "*/*", example=examples.SVG[:4]),
            304: {"description": "You have it"},
        },
        *(404, 416, 422, 503),
    ),
    "openapi": {
        "parameters": [
            path("shortlink", examples.LINK, "The link"),
            header("Range", "One range of bytes"),
            header("If-None-Match", "The tag you have"),
            query("download", {"enum": ["", "1", "true", "0", "false"]}, "As a file to keep"),
        ]
    },
}


def router(service: Service, diagrams: Diagrams) -> Routes:
    routes = Routes("diagrams")
    names = NamedDiagrams(service.queue, service.rendering.database, service.keyring)
    render_endpoint = RenderEndpoint(service, diagrams)
    api = RenderApi(service, render_endpoint)
    routes.add("/render", api.render, "POST", **_RENDER)
    routes.add("/d/{shortlink}", api.get_diagram, "HEAD")
    routes.add("/d/{shortlink}", api.get_diagram, "GET", **_GET)
    routes.include(named_routes.router(service, names, diagrams.max_versions))
    routes.include(embeds.router(service, names))
    routes.include(terminal.router(service, render_endpoint))
    return routes


class RenderApi:
    def __init__(self, service: Service, render_endpoint: RenderEndpoint) -> None:
        self._service = service
        self._render_endpoint = render_endpoint

    async def render(self, request: Request) -> Response:
        """Render a diagram. The body is JSON, or the source itself with `format` in the query; other parameters are options."""
        try:
            caller = await self._service.gate.caller(request, Scope.SUBMITTER)
            body = await request.body()
            return await idempotency.act_or_replay(
                self._service, request, caller, body, partial(self._render_endpoint.render, request, caller, body)
            )
        except PressroomError as error:
            if not error_images.wants_picture(request):
                raise
            return error_images.error_response(request, error)

    async def get_diagram(self, request: Request, shortlink: str) -> Response:
        """The link needs no token: it cannot be guessed."""
        try:
            artifact, left = await self._service.rendering.find_by_link(shortlink)
            age = LINK_AGE if left is None else min(LINK_AGE, left // 1000)
            return await send(self._service, request, artifact, cache=f"public, max-age={age}")
        except PressroomError as error:
            if not error_images.wants_picture(request):
                raise
            return error_images.error_response(request, error)
