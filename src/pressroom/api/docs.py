"""`/`, `/docs` and `/openapi.json`: the service explains itself.

The page is written from the OpenAPI document when it is first asked for: plain HTML and one style, nothing from elsewhere, no
script. What it shows is what the document says, so there is nothing to keep in step.
"""

import base64
import hashlib
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.replies import matches
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.model import VERSION

_METHODS = ("get", "put", "post", "patch", "delete", "head", "options")

_STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem; }
h1 { margin-bottom: 0 }
h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; text-transform: capitalize }
code, pre, summary { font: 14px/1.5 ui-monospace, monospace }
pre { background: var(--soft); overflow-x: auto; padding: .6rem .8rem }
details { border: 1px solid var(--line); border-radius: 4px; margin: .5rem 0; padding: 0 .8rem }
summary { cursor: pointer; padding: .5rem 0 }
summary b { display: inline-block; min-width: 4.5rem; text-transform: uppercase }
summary span { font: 15px/1.5 system-ui, sans-serif; opacity: .75; padding-left: .6rem }
table { border-collapse: collapse; width: 100% }
td, th { border-top: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top }
nav a { margin-right: 1rem }
.error { opacity: .75 }
"""

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
    """Anybody may read it: it tells what can be asked, and nothing of what was."""
    routes = Routes("operations")

    @routes.get("/")
    async def index(request: Request) -> Response:
        base_url = service.address_for(request)
        if _prefers_json(request):
            body, media_type = json.dumps(INDEX).encode(), "application/json"
        else:
            body, media_type = front_page(base_url).encode(), "text/html; charset=utf-8"
        answer = _tagged(request, body, media_type)
        answer.headers["Vary"] = "Accept"
        return answer

    @routes.get("/openapi.json")
    async def openapi(request: Request) -> Response:
        return _tagged(request, json.dumps(request.app.document, ensure_ascii=False).encode(), "application/json")

    @routes.get("/docs")
    async def docs(request: Request) -> Response:
        base_url = service.address_for(request)
        return _tagged(request, page(request.app.document, base_url).encode(), "text/html; charset=utf-8")

    return routes


def _tagged(request: Request, body: bytes, media_type: str) -> Response:
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
    """For whoever opens the address in a browser to see what it is."""
    line = f"curl -d 'digraph {{ source -> press -> document }}' '{base_url}/render?format=dot&outputType=svg&mode=sync'"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Pressroom</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body><h1>Pressroom</h1>'
        f"<p>Sources into documents, as durable jobs. Version {VERSION}.</p><pre>{_text(line)}</pre>"
        '<nav><a href="desk">Dashboard</a><a href="playground">Playground</a><a href="docs">API reference</a>'
        '<a href="openapi.json">openapi.json</a><a href="health">Status</a></nav>'
        "</body></html>\n"
    )


def page(document: Mapping[str, Any], base_url: str) -> str:
    """The document as a page for people."""
    return "".join(_page(document, base_url))


def _page(document: Mapping[str, Any], base_url: str) -> Iterator[str]:
    info = document["info"]
    groups = _by_tag(document)
    yield f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{_text(info["title"])}: the HTTP service</title>'
    yield f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
    yield f"<h1>{_text(info['title'])}</h1><p>{_text(info.get('summary', ''))} Version {_text(info['version'])}.</p>"
    yield "<nav>" + "".join(f'<a href="#tag-{_text(tag)}">{_text(tag)}</a>' for tag in groups)
    yield '<a href="#schemas">schemas</a><a href="openapi.json">openapi.json</a></nav>'
    yield "<p>Errors are <code>application/problem+json</code> with a stable <code>code</code>. "
    yield "Off the loopback every request carries <code>Authorization: Bearer pr_…</code>.</p>"
    for tag, operations in groups.items():
        yield f'<h2 id="tag-{_text(tag)}">{_text(tag)}</h2>'
        for method, path, operation in operations:
            yield from _operation(method, path, operation, base_url)
    if announced := document.get("webhooks"):
        yield '<h2 id="sent">sent to you</h2>'
        for name, item in announced.items():
            for request in item.values():
                yield f'<details id="sent-{_text(name)}"><summary>{_text(name)}</summary>'
                yield f"<p>{_text(request.get('description') or request.get('summary', ''))}</p>"
                yield from _parameters(request.get("parameters", ()))
                yield from _body(request.get("requestBody"))
                yield "</details>"
    yield '<h2 id="schemas">schemas</h2>'
    for name, schema in sorted(document.get("components", {}).get("schemas", {}).items()):
        yield from _schema(name, schema)
    yield "</body></html>\n"


def _by_tag(document: Mapping[str, Any]) -> dict[str, list[tuple[str, str, Mapping[str, Any]]]]:
    """In the order in which the document names the tags; those without a name come last."""
    groups: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {tag["name"]: [] for tag in document.get("tags", ())}
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                tag = (item[method].get("tags") or ["other"])[0]
                groups.setdefault(tag, []).append((method, path, item[method]))
    return {tag: operations for tag, operations in groups.items() if operations}


def _operation(method: str, path: str, operation: Mapping[str, Any], base_url: str) -> Iterator[str]:
    id = operation.get("operationId", f"{method} {path}")
    yield f'<details id="{_text(id)}"><summary><b>{method}</b> {_text(path)}<span>{_text(operation.get("summary", ""))}</span>'
    yield "</summary>"
    if description := operation.get("description"):
        yield f"<p>{_text(description)}</p>"
    yield f"<pre>{_text(curl(method, path, operation, base_url))}</pre>"
    yield from _parameters(operation.get("parameters", ()))
    yield from _body(operation.get("requestBody"))
    yield from _answers(operation.get("responses", {}))
    yield "</details>"


def _parameters(parameters: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    rows = [
        f"<tr><td><code>{_text(one['name'])}</code></td>"
        f"<td>{_text(one['in'])}{', required' if one.get('required') else ''}</td>"
        f"<td>{_kind(one.get('schema', {}))}</td><td>{_text(one.get('description', ''))}</td></tr>"
        for one in parameters
    ]
    if rows:
        yield f"<table><tr><th>parameter</th><th>in</th><th>type</th><th></th></tr>{''.join(rows)}</table>"


def _body(body: Mapping[str, Any] | None) -> Iterator[str]:
    if body is None:
        return
    yield f"<p>Body: {_text(body.get('description', ''))}</p><ul>"
    for media_type, content in body["content"].items():
        yield f"<li><code>{_text(media_type)}</code> {_kind(content.get('schema', {}))}</li>"
    yield "</ul>"
    for content in body["content"].values():
        yield from _example(content)


def _answers(responses: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield "<table><tr><th>answer</th><th></th><th>type</th></tr>"
    for status, response in responses.items():
        kinds = [
            f"<code>{_text(media_type)}</code> {_kind(content.get('schema', {}))}"
            for media_type, content in response.get("content", {}).items()
        ]
        headers = "".join(f"<br><code>{_text(name)}</code>" for name in response.get("headers", ()))
        look = ' class="error"' if str(status) >= "400" else ""
        yield f"<tr{look}><td>{_text(status)}{headers}</td><td>{_text(response.get('description', ''))}</td>"
        yield f"<td>{'<br>'.join(kinds)}</td></tr>"
    yield "</table>"
    for response in responses.values():
        for content in response.get("content", {}).values():
            yield from _example(content)


def _example(content: Mapping[str, Any]) -> Iterator[str]:
    found = [content["example"]] if "example" in content else []
    found += [one.get("value") for one in content.get("examples", {}).values()]
    for example in found:
        yield f"<pre>{_text(example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False))}</pre>"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f'<details id="schema-{_text(name)}"><summary>{_text(name)}</summary>'
    if description := schema.get("description"):
        yield f"<p>{_text(description)}</p>"
    required = schema.get("required", ())
    rows = [
        f"<tr><td><code>{_text(field)}</code></td><td>{_kind(kind)}</td><td>{'' if field in required else 'optional'}</td>"
        f"<td>{_text(kind.get('description', '')) if isinstance(kind, Mapping) else ''}</td></tr>"
        for field, kind in schema.get("properties", {}).items()
    ]
    if rows:
        yield f"<table>{''.join(rows)}</table>"
    else:
        yield f"<p>{_kind(schema)}</p>"
    yield "</details>"


def _kind(schema: Any) -> str:
    """A schema in a few words, with a link where it has a name."""
    if not isinstance(schema, Mapping) or not schema:
        return "anything"
    if reference := schema.get("$ref"):
        name = str(reference).rpartition("/")[2]
        return f'<a href="#schema-{_text(name)}">{_text(name)}</a>'
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return " or ".join(_kind(one) for one in schema[word])
    if "enum" in schema:
        return " | ".join(f"<code>{_text(json.dumps(one, ensure_ascii=False))}</code>" for one in schema["enum"])
    if "const" in schema:
        return f"<code>{_text(json.dumps(schema['const'], ensure_ascii=False))}</code>"
    match schema.get("type"):
        case "array":
            return f"list of {_kind(schema.get('items', {}))}"
        case list() as several:
            return _text(" or ".join(several))
        case str() as one:
            bounds = [f"{sign} {schema[name]}" for name, sign in _BOUNDS.items() if name in schema]
            return _text(" ".join([one, *([schema["format"]] if "format" in schema else []), *bounds]))
        case _:
            return "anything"


_BOUNDS = {"minimum": "≥", "maximum": "≤", "minLength": "length ≥", "maxLength": "length ≤", "default": "default"}


def curl(method: str, path: str, operation: Mapping[str, Any], base_url: str) -> str:
    """A line to paste. What stands in braces in the path is the reader's to fill in."""
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


def _text(value: object) -> str:
    return escape(str(value))
