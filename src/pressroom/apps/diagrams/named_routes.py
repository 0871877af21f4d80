"""`/diagrams`: put a text under a name, look at what became of it, list, delete."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Scope
from pressroom.api.problems import MEDIA_TYPE, HttpError, Problem, request_id_of
from pressroom.api.replies import matches, reply
from pressroom.api.routes import Routes
from pressroom.api.schema import answers, header, path, query, says, takes
from pressroom.api.service import Service
from pressroom.api.waiting import patience_of, settled
from pressroom.apps.diagrams import asking
from pressroom.apps.diagrams.answers import RenderFailed
from pressroom.apps.diagrams.asking import Word
from pressroom.apps.diagrams.embed_keys import key_of
from pressroom.apps.diagrams.named import History, Names, require_name
from pressroom.apps.diagrams.named_tags import Condition, condition_of, tag_of
from pressroom.apps.diagrams.versions import Named, Summary, Text, Version
from pressroom.errors import QueueClosed, WaitTimeout
from pressroom.model import Status, from_ms
from pressroom.renderers.documents import Asked


class NewVersion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: Annotated[str, Meta(min_length=1)]
    format: Word
    options: dict[str, Any] = {}
    engine: Word | None = None


class VersionView(msgspec.Struct, frozen=True, kw_only=True):
    """`superseded`: a newer version came before this one was rendered. A background job renders it afterwards."""

    number: int
    status: str
    format: str
    url: str
    error: str | None
    line: int | None
    column: int | None
    jobId: str | None  # noqa: N815
    createdAt: datetime  # noqa: N815
    settledAt: datetime | None  # noqa: N815


class NamedView(msgspec.Struct, frozen=True, kw_only=True):
    """`url` shows the latest good version, `good`. `embed` does so for those who have no token.

    `versions` are the latest fifty; the header `Link` leads to those before.
    """

    name: str
    version: int
    status: str
    good: int | None
    url: str
    embed: str
    source: str
    format: str
    options: dict[str, Any]
    engine: str | None
    createdAt: datetime  # noqa: N815
    changedAt: datetime  # noqa: N815
    versions: list[VersionView]


class NamedLine(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    version: int
    status: str
    good: int | None
    format: str
    url: str
    createdAt: datetime  # noqa: N815
    changedAt: datetime  # noqa: N815


class NamedList(msgspec.Struct, frozen=True):
    items: list[NamedLine]
    next_cursor: str | None


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
_REFUSED: dict[int | str, Any] = {412: says(Problem, "It is not as If-Match or If-None-Match has it", media_type=MEDIA_TYPE)}
_GONE: dict[int | str, Any] = {410: says(Problem, "This version is no longer kept", media_type=MEDIA_TYPE)}


def router(service: Service, names: Names) -> Routes:
    routes = Routes()

    @routes.put(
        "/diagrams/{name}",
        operation_id="put_diagram",
        responses=answers(
            {
                200: says(NamedView, "Rendered, or the text is the one that is there", example=_NAMED),
                202: says(
                    NamedView,
                    "A new version, which is being rendered",
                    headers={"Location": "The diagram"},
                    example=_PENDING,
                ),
            },
            *(400, 401, 403, 409, 413, 422, 501, 504),
        )
        | _REFUSED,
        asks=takes(NewVersion, "The text", example=_EXAMPLE) | {"parameters": [_NAME, *_WAITING, *_CONDITIONS]},
    )
    async def put_diagram(request: Request, name: str) -> Response:
        """Keep a text as the next version. The last good picture stays until the new one is rendered."""
        caller = await service.gate.caller(request, Scope.SUBMITTER)
        require_name(name)
        text = _text(request, await request.body())
        patience = patience_of(request)
        trace = {"request_id": request_id_of(request)}
        condition, keep = _condition(request), service.settings.diagram_versions
        named, version, is_new = await names.put(caller.org_id, name, text, trace, condition=condition, keep=keep)
        if patience.seconds and version.status == "pending" and version.job_uid is not None:
            await _wait(service, version.job_uid, patience.seconds, required=patience.sync)
        history = await names.history(named, None)
        status = 202 if is_new and history.versions[0].status == "pending" else 200
        headers = {"Location": f"{service.base_url}/diagrams/{name}"}
        return _told(service, named, history, status, headers | ({"Retry-After": "1"} if status == 202 else {}))

    @routes.get(
        "/diagrams/{name}",
        operation_id="get_named_diagram",
        responses=answers(
            {
                200: says(NamedView, "The diagram with its versions", example=_NAMED),
                304: {"description": "Nothing changed"},
            },
            *(401, 404, 422),
        )
        | _GONE,
        asks={"parameters": [_NAME, _AT, header("If-None-Match", "The tag of what you have")]},
    )
    async def get_named_diagram(request: Request, name: str) -> Response:
        caller = await service.gate.caller(request, Scope.VIEWER)
        named = await names.find(caller.org_id, name)
        history = await names.history(named, _at(request.query_params))
        headers = {"Cache-Control": "private, no-cache"}
        if history.older is not None:
            headers["Link"] = f'<{service.base_url}/diagrams/{name}?version={history.older}>; rel="next"'
        answer = _told(service, named, history, 200, headers)
        if matches(request.headers.get("if-none-match"), answer.headers["ETag"]):
            return Response(status_code=304, headers=headers | {"ETag": answer.headers["ETag"]})
        return answer

    @routes.delete(
        "/diagrams/{name}",
        operation_id="delete_diagram",
        responses=answers({204: {"description": "It is gone, with all its versions"}}, 401, 403, 404) | _REFUSED,
        asks={"parameters": [_NAME, *_CONDITIONS]},
    )
    async def delete_diagram(request: Request, name: str) -> Response:
        caller = await service.gate.caller(request, Scope.SUBMITTER)
        await names.delete(await names.find(caller.org_id, name), _condition(request))
        return Response(status_code=204)

    @routes.get(
        "/diagrams",
        operation_id="list_named_diagrams",
        responses=answers(
            {
                200: says(
                    NamedList,
                    "Diagrams by name",
                    headers={"Link": "The next page"},
                    example={"items": [_LINE], "next_cursor": None},
                )
            },
            *(401, 422),
        ),
        asks={
            "parameters": [
                query("limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}, "How many"),
                query("cursor", {"type": "string"}, "As the last page gave it"),
            ]
        },
    )
    async def list_named_diagrams(request: Request) -> Response:
        caller = await service.gate.caller(request, Scope.VIEWER)
        limit = _limit(request.query_params)
        found = await names.list(caller.org_id, request.query_params.get("cursor", ""), limit + 1)
        cursor = found[limit - 1].named.name if len(found) > limit else None
        headers = {"Cache-Control": "private, no-cache"}
        if cursor is not None:
            headers["Link"] = f'<{service.base_url}/diagrams?limit={limit}&cursor={cursor}>; rel="next"'
        return reply(NamedList([_line(service, one) for one in found[:limit]], cursor), headers=headers)

    return routes


def _text(request: Request, body: bytes) -> Text:
    if not asking.is_json(request, body):
        raise HttpError(415, "unsupported_media_type", f"send {asking.JSON}")
    new = asking.decode(body, NewVersion)
    language = asking.language_of(new.format)
    asking.checked(Asked(language, "svg", new.source.encode(), new.options, new.engine))
    return Text(new.source, language, new.options, new.engine)


def _condition(request: Request) -> Condition:
    return condition_of(request.headers.getlist("if-match"), request.headers.getlist("if-none-match"))


async def _wait(service: Service, job: str, seconds: float, *, required: bool) -> None:
    try:
        ended = await settled(service, job, seconds)
    except (WaitTimeout, QueueClosed):
        if required:
            raise
        return
    if ended.status is Status.FAILED and required:
        raise RenderFailed(ended)


def _told(service: Service, named: Named, history: History, status: int, headers: Mapping[str, str]) -> Response:
    body = msgspec.json.encode(_shown(service, named, history))
    tag = {"ETag": tag_of(named.link, history.newest, body)}
    return Response(body, status, {**headers, **tag}, "application/json")


def _shown(service: Service, named: Named, history: History) -> NamedView:
    newest = history.versions[0]
    url = f"{service.base_url}/a/{named.name}.svg"
    key = key_of(named, service.keyring)
    return NamedView(
        name=named.name,
        version=newest.number,
        status=newest.status,
        good=history.good,
        url=url,
        embed=f"{url}?key={key}" if key else url,
        source=newest.text.source,
        format=newest.text.format,
        options=newest.text.options,
        engine=newest.text.engine,
        createdAt=from_ms(named.date_created),
        changedAt=from_ms(newest.date_created),
        versions=[_version(service, named, version) for version in history.versions],
    )


def _version(service: Service, named: Named, version: Version) -> VersionView:
    error = version.error or {}
    return VersionView(
        number=version.number,
        status=version.status,
        format=version.text.format,
        url=f"{service.base_url}/a/{named.name}@{version.number}.svg",
        error=error.get("message"),
        line=error.get("line"),
        column=error.get("column"),
        jobId=version.job_uid and f"job_{version.job_uid}",
        createdAt=from_ms(version.date_created),
        settledAt=None if version.date_settled is None else from_ms(version.date_settled),
    )


def _line(service: Service, one: Summary) -> NamedLine:
    return NamedLine(
        name=one.named.name,
        version=one.newest,
        status=one.status,
        good=one.good,
        format=one.format,
        url=f"{service.base_url}/a/{one.named.name}.svg",
        createdAt=from_ms(one.named.date_created),
        changedAt=from_ms(one.date_changed),
    )


def _at(asked: Mapping[str, str]) -> int | None:
    text = asked.get("version")
    if text is not None and not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise HttpError(422, "invalid_argument", "version is the number of one")
    return int(text) if text is not None else None


def _limit(asked: Mapping[str, str]) -> int:
    text = asked.get("limit", "50")
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= 200):
        raise HttpError(422, "invalid_argument", "limit is a whole number from 1 to 200")
    return int(text)
