"""Which handler answers which path and method, and what the OpenAPI document says of it."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.responses import Response

type Handler = Callable[..., Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """Without an `operation_id` it is not in the document. `openapi` is what the document says of what it reads.
    A route with `small_body` reads at most `form_limit` bytes, others at most `body_limit`.
    """

    path: str
    methods: tuple[str, ...]
    handler: Handler
    operation_id: str | None = None
    tags: tuple[str, ...] = ()
    responses: Mapping[Any, Any] = field(default_factory=dict)
    openapi: Mapping[str, Any] = field(default_factory=dict)
    small_body: bool = False


class Routes:
    """Those of one part of the service; `tags` say under which name the document shows them."""

    def __init__(self, *tags: str) -> None:
        self._tags = tags
        self._routes: list[Route] = []

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes)

    def include(self, others: "Routes") -> None:
        self._routes += [replace(route, tags=(*self._tags, *route.tags)) for route in others]

    def add(self, path: str, handler: Handler, *methods: str, **options: Any) -> None:
        self._routes.append(Route(path, methods, handler, tags=self._tags, **options))
