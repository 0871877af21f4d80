"""Values as JSON responses, with a tag by which a poller need not be told the same twice."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response


def reply(
    value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None, request: Request | None = None
) -> Response:
    """`request` is given where an unchanged answer may be a 304."""
    body = msgspec.json.encode(value)
    if request is None:
        return Response(body, status, headers, "application/json")
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    answered = {**(headers or {}), "ETag": tag}
    if matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=answered)
    return Response(body, status, answered, "application/json")


def matches(asked: str | None, tag: str) -> bool:
    """Whether a caller already has what `tag` names. Weak comparison, as RFC 9110 wants it for If-None-Match."""
    if asked is None:
        return False
    plain = tag.removeprefix("W/")
    return asked.strip() == "*" or any(one.strip().removeprefix("W/") == plain for one in asked.split(","))
