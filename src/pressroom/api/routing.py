"""From a request to its handler."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from pressroom import failpoints
from pressroom.api.problems import HttpError, problem
from pressroom.api.routes import Handler, Route
from pressroom.errors import PressroomError


class Application:
    """`openapi` makes the document that describes the routes."""

    def __init__(self, routes: Sequence[Route], openapi: Callable[[Sequence[Route]], dict[str, Any]]) -> None:
        self.routes = routes
        self._openapi = openapi
        self._app: ASGIApp = RouteTable(routes)

    def add_middleware(self, middleware: Callable[..., ASGIApp], **options: Any) -> None:
        """The one that is added last is called first."""
        self._app = middleware(self._app, **options)

    @cached_property
    def document(self) -> dict[str, Any]:
        return self._openapi(self.routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        await self._app(scope, receive, send)


class RouteEntry(NamedTuple):
    path: str
    pattern: re.Pattern[str]
    methods: Collection[str]
    handler: Handler
    small_body: bool = False
    is_documented: bool = False
    body_limit: int | None = None


class RouteTable:
    """Routes by the first segment of their path, so that a request is compared with few of them. Order counts, as in
    Starlette's router, which compares with all of them (docs/decisions.md has what that costs)."""

    def __init__(self, routes: Iterable[Route]) -> None:
        entries = [
            RouteEntry(
                one.path, _pattern(one.path), one.methods, one.handler, one.small_body, one.is_documented, one.body_limit
            )
            for one in routes
        ]
        self._with_parameter = [entry for entry in entries if "{" in _first_segment(entry.path)]
        self._by_first_segment = {
            first: [entry for entry in entries if _first_segment(entry.path) == first or entry in self._with_parameter]
            for first in {_first_segment(entry.path) for entry in entries}
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        try:
            response = await self._respond(request)
        except PressroomError as error:
            response = problem(request, error)
        failpoints.hit("reply.before_send")
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        scope = request.scope
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        allowed: list[str] = []
        concrete: str | None = None
        for entry, parameters in self._matching(path):
            if concrete is not None and entry.path != concrete:
                continue
            if entry.is_documented:  # as OpenAPI says, a path without a parameter comes before one that would match it too
                concrete = entry.path
            if scope["method"] in entry.methods:
                scope["route"] = entry
                return await entry.handler(request, **parameters)
            allowed += entry.methods
        if allowed:
            words = "not with this method"
            raise HttpError(405, "method_not_allowed", words, {"Allow": ", ".join(sorted(set(allowed)))})
        other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
        if path != "/" and any(self._matching(other)) and not self._lacks_id(path):
            return RedirectResponse(_relative_redirect(path, request.url.query))
        raise HttpError(404, "not_found", "there is nothing here")

    def _lacks_id(self, path: str) -> bool:
        """`/jobs/` is a job without an id, not another spelling of the list of jobs."""
        return path.endswith("/") and any(entry.is_documented for entry, _ in self._matching(f"{path}0"))

    def _matching(self, path: str) -> Iterator[tuple[RouteEntry, dict[str, Any]]]:
        for entry in self._by_first_segment.get(_first_segment(path), self._with_parameter):
            if found := entry.pattern.fullmatch(path):  # `$` in the pattern would also match before a line break
                yield entry, found.groupdict()


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return compile_path(path)[0]


def _relative_redirect(path: str, query: str) -> str:
    """The same path with a slash at its end, or without the one that it has.

    Relative, because the host name and the prefix that the client uses are not known here.
    """
    last = quote(path.rstrip("/").rpartition("/")[2])
    return (f"../{last}" if path.endswith("/") else f"./{last}/") + (f"?{query}" if query else "")


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""
