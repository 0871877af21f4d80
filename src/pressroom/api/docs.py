"""`/`, `/docs` and `/openapi.json`: the front page, the API reference and the OpenAPI document.

The reference is rendered from the document (`templates/`): plain HTML and one style, nothing from other hosts, no script.
"""

import base64
import hashlib
import json
import shlex
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from cachetools import LRUCache
from jinja2 import ChainableUndefined, Environment, PackageLoader
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.replies import matches
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.model import VERSION

_METHODS = ("get", "put", "post", "patch", "delete", "head", "options")

_STYLE = (files("pressroom.api") / "templates/docs.css").read_text(encoding="utf-8")

_HEADERS = {
    # The hash allows this one style and no other; there is no script to allow.
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def router(service: Service) -> Routes:
    """Public: they describe the API and contain no data."""
    routes = Routes("operations")
    api = DocsApi(service)
    routes.add("/", api.index, "GET")
    routes.add("/openapi.json", api.openapi, "GET")
    routes.add("/docs", api.docs, "GET")
    return routes


class DocsApi:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._pages: LRUCache[str, bytes] = LRUCache(8)  # by base URL; to render one takes 40 ms

    async def index(self, request: Request) -> Response:
        base_url = self._service.address_for(request)
        if _prefers_json(request):
            body, media_type = json.dumps(INDEX).encode(), "application/json"
        else:
            body, media_type = front_page(base_url).encode(), "text/html; charset=utf-8"
        response = _with_etag(request, body, media_type)
        response.headers["Vary"] = "Accept"
        return response

    async def openapi(self, request: Request) -> Response:
        return _with_etag(request, json.dumps(request.app.document, ensure_ascii=False).encode(), "application/json")

    async def docs(self, request: Request) -> Response:
        base_url = self._service.address_for(request)
        if base_url not in self._pages:
            self._pages[base_url] = page(request.app.document, base_url).encode()
        return _with_etag(request, self._pages[base_url], "text/html; charset=utf-8")


def _with_etag(request: Request, body: bytes, media_type: str) -> Response:
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = _HEADERS | {"ETag": tag}
    if matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers | {"Content-Type": media_type})


def _prefers_json(request: Request) -> bool:
    accepted = request.headers.get("accept", "").lower()
    return "json" in accepted and "text/html" not in accepted


INDEX = {
    "name": "Pressroom",
    "version": VERSION,
    "desk": "/desk",
    "playground": "/playground",
    "docs": "/docs",
    "openapi": "/openapi.json",
    "health": "/health",
    "jobs": "/jobs",
    "events": "/events",
    "render": "/render",
}


def front_page(base_url: str) -> str:
    return _templates().get_template("front_page.html").render(base_url=base_url)


def page(document: Mapping[str, Any], base_url: str) -> str:
    """The API reference: the OpenAPI document as HTML."""
    template = _templates().get_template("docs.html")
    return template.render(document=document, operations_by_tag=_operations_by_tag(document), base_url=base_url)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("pressroom.api"),
        autoescape=True,
        undefined=ChainableUndefined,  # most fields of OpenAPI may be left out
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals.update(style=_STYLE, version=VERSION, curl=curl, as_json=_as_json, as_text=_as_text)
    return templates


def _operations_by_tag(document: Mapping[str, Any]) -> dict[str, list[tuple[str, str, Mapping[str, Any]]]]:
    """In the order in which the document lists the tags; operations without a tag come last, under `other`."""
    groups: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {tag["name"]: [] for tag in document.get("tags", ())}
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                tag = (item[method].get("tags") or ["other"])[0]
                groups.setdefault(tag, []).append((method, path, item[method]))
    return {tag: operations for tag, operations in groups.items() if operations}


def curl(method: str, path: str, operation: Mapping[str, Any], base_url: str) -> str:
    """A command line to paste; parameters in the path stay in braces."""
    words = ["curl"]
    if method == "head":
        words.append("-I")
    elif method != "get" and not (method == "post" and operation.get("requestBody")):
        words += ["-X", method.upper()]
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        example = content.get("example")
        if example is not None:
            data = example if isinstance(example, str) else json.dumps(example, ensure_ascii=False)
            words += ["-H", f"Content-Type: {media_type}", "-d", data]
            break
    if "text/event-stream" in operation.get("responses", {}).get("200", {}).get("content", {}):
        words.append("-N")
    return shlex.join([*words, f"{base_url}{path}"])


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _as_text(example: Any) -> str:
    return example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
