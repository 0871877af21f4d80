"""Which handler answers which path and method, and what the OpenAPI document says of it."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.responses import Response

type Handler = Callable[..., Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """Without `responses` it is not in the document; there the name of its handler is its id and its title. `openapi` is what
    the document says of what it reads.

    A route with `small_body` reads at most `form_limit` bytes, one with a `body_limit` of its own that many, and others as
    many as the setting `body_limit` says.
    """

    path: str
    methods: tuple[str, ...]
    handler: Handler
    tags: tuple[str, ...] = ()
    responses: Mapping[Any, Any] = field(default_factory=dict)
    openapi: Mapping[str, Any] = field(default_factory=dict)
    small_body: bool = False
    body_limit: int | None = None

    @property
    def is_documented(self) -> bool:
        return bool(self.responses)


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
