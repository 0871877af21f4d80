"""From a request to its handler. FastAPI holds the routes and writes the document; requests do not go through it.

Its handlers declare what they read, which costs more for each request than ours take to read it themselves.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from pressroom.api.problems import HttpError, problem
from pressroom.errors import PressroomError

type Handler = Callable[..., Awaitable[Response]]


class Application(FastAPI):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        await self.middleware_stack(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        app: ASGIApp = Table(self.routes)
        for middleware in reversed(self.user_middleware):
            app = middleware.cls(app, *middleware.args, **middleware.kwargs)
        return app


class Entry(NamedTuple):
    path: str
    pattern: re.Pattern[str]
    methods: Collection[str]
    handler: Handler


class Table:
    """Routes by the first part of their path, so that a request is compared with few of them."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._by_first: dict[str, list[Entry]] = {}
        for route in iter_route_contexts(routes):
            assert route.path is not None
            assert route.endpoint is not None
            pattern, _, _ = compile_path(route.path)
            entry = Entry(route.path, pattern, route.methods or (), route.endpoint)
            self._by_first.setdefault(_first(route.path), []).append(entry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        try:
            response = await self._answer(request)
        except PressroomError as error:
            response = problem(request, error)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        scope = request.scope
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        allowed: list[str] = []
        for entry, found in self._matching(path):
            if scope["method"] in entry.methods:
                scope["route"] = entry
                return await entry.handler(request, **found)
            allowed += entry.methods
        if allowed:
            words = "not with this method"
            raise HttpError(405, "method_not_allowed", words, {"Allow": ", ".join(sorted(set(allowed)))})
        other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
        if path != "/" and any(self._matching(other)):
            return RedirectResponse(request.url.replace(path=scope.get("root_path", "") + other))
        raise HttpError(404, "not_found", "there is nothing here")

    def _matching(self, path: str) -> Iterator[tuple[Entry, dict[str, Any]]]:
        for entry in self._by_first.get(_first(path), ()):
            if found := entry.pattern.match(path):
                yield entry, found.groupdict()


def _first(path: str) -> str:
    return path.split("/", 2)[1]
