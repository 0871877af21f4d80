"""`/diagrams`: put a text under a name, look at what became of it, list, delete."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Scope
from pressroom.api.problems import MEDIA_TYPE, HttpError, Problem
from pressroom.api.replies import matches, reply
from pressroom.api.routes import Routes
from pressroom.api.schema import header, json_body, json_response, path, query, responses
from pressroom.api.service import Service
from pressroom.api.waiting import parse_wait_preference, wait_until_ended
from pressroom.apps.diagrams import requests
from pressroom.apps.diagrams.named.diagrams import NamedDiagrams, VersionHistory, require_name
from pressroom.apps.diagrams.named.etags import Condition, make_etag, parse_condition
from pressroom.apps.diagrams.named.versions import DiagramText, NamedDiagram
from pressroom.apps.diagrams.named.views import NamedList, NamedView, NewVersion, diagram_view, list_item
from pressroom.apps.diagrams.responses import RenderFailed
from pressroom.errors import QueueClosed, WaitTimeout
from pressroom.model import Status
from pressroom.renderers.documents import RenderRequest

_EXAMPLE = {"source": "flowchart LR\n  source --> press --> document\n", "format": "mermaid", "options": {"theme": "auto"}}
_LINE = {
    "name": "team-map",
    "version": 1,
    "status": "completed",
    "good": 1,
    "format": "mermaid",
    "url": "/a/team-map.svg",
    "createdAt": "2026-01-01T00:00:00Z",
    "changedAt": "2026-01-01T00:00:00Z",
}
_VERSION = {
    "number": 1,
    "status": "completed",
    "format": "mermaid",
    "url": "/a/team-map@1.svg",
    "error": None,
    "line": None,
    "column": None,
    "jobId": examples.JOB_ID,
    "createdAt": "2026-01-01T00:00:00Z",
    "settledAt": "2026-01-01T00:00:00.140Z",
}
_NAMED = _LINE | _EXAMPLE | {"engine": None, "embed": "/a/team-map.svg?key=7f3k9m2q8w4xz", "versions": [_VERSION]}
_RENDERING = {"status": "pending", "good": None}
_PENDING = _NAMED | _RENDERING | {"versions": [_VERSION | {"status": "pending", "settledAt": None}]}
_NAME = path("name", "team-map", "Up to a hundred letters, digits, `-` and `_`")
_WAITING = [
    query("mode", {"type": "string", "default": "async"}, "sync: wait until it is rendered; anything else is async"),
    query("wait", {"type": "number", "minimum": 0}, "Seconds to wait for the rendering"),
    header("Prefer", "wait=N or respond-async"),
]

_CONDITIONS = [
    header("If-Match", "The tag of what you have seen: refused if there is a newer text by now"),
    header("If-None-Match", "`*`: refused if there is such a diagram already"),
]
_AT = query(
    "version", {"type": "integer", "minimum": 1, "maximum": 999_999_999}, "As it was at this version, with those before it"
)
_REFUSED: dict[int | str, Any] = {
    412: json_response(Problem, "It is not as If-Match or If-None-Match has it", media_type=MEDIA_TYPE)
}
_GONE: dict[int | str, Any] = {410: json_response(Problem, "This version is no longer kept", media_type=MEDIA_TYPE)}
_PUT: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(NamedView, "Rendered, or the text is the one that is there", example=_NAMED),
            202: json_response(
                NamedView,
                "A new version, which is being rendered",
                headers={"Location": "The diagram"},
                example=_PENDING,
            ),
        },
        *(400, 401, 403, 409, 413, 422, 501, 504),
    )
    | _REFUSED,
    "openapi": json_body(NewVersion, "The text", example=_EXAMPLE) | {"parameters": [_NAME, *_WAITING, *_CONDITIONS]},
}
_GET: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(NamedView, "The diagram with its versions", example=_NAMED),
            304: {"description": "Nothing changed"},
        },
        *(401, 404, 422),
    )
    | _GONE,
    "openapi": {"parameters": [_NAME, _AT, header("If-None-Match", "The tag of what you have")]},
}
_DELETE: dict[str, Any] = {
    "responses": responses({204: {"description": "It is gone, with all its versions"}}, 401, 403, 404) | _REFUSED,
    "openapi": {"parameters": [_NAME, *_CONDITIONS]},
}
_LIST: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                NamedList,
                "Diagrams by name",
                headers={"Link": "The next page"},
                example={"items": [_LINE], "next_cursor": None},
            )
        },
        *(401, 422),
    ),
    "openapi": {
        "parameters": [
            query("limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}, "How many"),
            query("cursor", {"type": "string"}, "As the last page gave it"),
        ]
    },
}


def router(service: Service, names: NamedDiagrams, max_versions: int) -> Routes:
    routes = Routes()
    api = NamedDiagramsApi(service, names, max_versions)
    routes.add("/diagrams/{name}", api.put_diagram, "PUT", **_PUT)
    routes.add("/diagrams/{name}", api.get_named_diagram, "GET", **_GET)
    routes.add("/diagrams/{name}", api.delete_diagram, "DELETE", **_DELETE)
    routes.add("/diagrams", api.list_named_diagrams, "GET", **_LIST)
    return routes


class NamedDiagramsApi:
    """The names of the handlers are titles in the OpenAPI document."""

    def __init__(self, service: Service, names: NamedDiagrams, max_versions: int) -> None:
        self._service = service
        self._names = names
        self._max_versions = max_versions

    async def put_diagram(self, request: Request, name: str) -> Response:
        """Keep a text as the next version. The last good picture stays until the new one is rendered."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        require_name(name)
        text = _read_text(request, await request.body())
        patience = parse_wait_preference(request)
        trace = {"request_id": request.state.request_id}
        condition, keep = _condition(request), self._max_versions
        named, version, is_new = await self._names.put(caller.org_id, name, text, trace, condition=condition, keep=keep)
        if patience.seconds and version.status == "pending" and version.job_uid is not None:
            await _wait_for_render(self._service, version.job_uid, patience.seconds, required=patience.sync)
        history = await self._names.history(named, None)
        status = 202 if is_new and history.versions[0].status == "pending" else 200
        headers = {"Location": f"{self._service.base_url}/diagrams/{name}"}
        return _diagram_response(
            self._service, named, history, status, headers | ({"Retry-After": "1"} if status == 202 else {})
        )

    async def get_named_diagram(self, request: Request, name: str) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        named = await self._names.find(caller.org_id, name)
        history = await self._names.history(named, _parse_version(request.query_params))
        headers = {"Cache-Control": "private, no-cache"}
        if history.older is not None:
            headers["Link"] = f'<{self._service.base_url}/diagrams/{name}?version={history.older}>; rel="next"'
        answer = _diagram_response(self._service, named, history, 200, headers)
        if matches(request.headers.get("if-none-match"), answer.headers["ETag"]):
            return Response(status_code=304, headers=headers | {"ETag": answer.headers["ETag"]})
        return answer

    async def delete_diagram(self, request: Request, name: str) -> Response:
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        await self._names.delete(await self._names.find(caller.org_id, name), _condition(request))
        return Response(status_code=204)

    async def list_named_diagrams(self, request: Request) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        limit = _parse_limit(request.query_params)
        found = await self._names.list(caller.org_id, request.query_params.get("cursor", ""), limit + 1)
        cursor = found[limit - 1].named.name if len(found) > limit else None
        headers = {"Cache-Control": "private, no-cache"}
        if cursor is not None:
            headers["Link"] = f'<{self._service.base_url}/diagrams?limit={limit}&cursor={cursor}>; rel="next"'
        return reply(NamedList([list_item(self._service, one) for one in found[:limit]], cursor), headers=headers)


def _read_text(request: Request, body: bytes) -> DiagramText:
    if not requests.is_json(request, body):
        raise HttpError(415, "unsupported_media_type", f"send {requests.JSON}")
    new = requests.decode_body(body, NewVersion)
    language = requests.check_language(new.format)
    requests.prepare_render(RenderRequest(language, "svg", new.source.encode(), new.options, new.engine))
    return DiagramText(new.source, language, new.options, new.engine)


def _condition(request: Request) -> Condition:
    return parse_condition(request.headers.getlist("if-match"), request.headers.getlist("if-none-match"))


async def _wait_for_render(service: Service, job: str, seconds: float, *, required: bool) -> None:
    try:
        ended = await wait_until_ended(service, job, seconds)
    except (WaitTimeout, QueueClosed):
        if required:
            raise
        return
    if ended.status is Status.FAILED and required:
        raise RenderFailed(ended)


def _diagram_response(
    service: Service, named: NamedDiagram, history: VersionHistory, status: int, headers: Mapping[str, str]
) -> Response:
    body = msgspec.json.encode(diagram_view(service, named, history))
    tag = {"ETag": make_etag(named.link, history.newest, body)}
    return Response(body, status, {**headers, **tag}, "application/json")


def _parse_version(asked: Mapping[str, str]) -> int | None:
    text = asked.get("version")
    if text is not None and not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise HttpError(422, "invalid_argument", "version is the number of one")
    return int(text) if text is not None else None


def _parse_limit(asked: Mapping[str, str]) -> int:
    text = asked.get("limit", "50")
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= 200):
        raise HttpError(422, "invalid_argument", "limit is a whole number from 1 to 200")
    return int(text)
