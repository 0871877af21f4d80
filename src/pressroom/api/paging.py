"""Lists in pages: `?limit=` and `?cursor=`, and the link to the next page."""

import re
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from pressroom.api.problems import HttpError
from pressroom.api.schema import query
from pressroom.api.service import Service

PAGE_LIMIT = 200
LIMIT = query("limit", {"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT, "default": 50}, "How many")
NUMBER = "[0-9]{1,18}"  # a cursor that is the id of a row


def cursor_parameter(pattern: str) -> dict[str, Any]:
    return query("cursor", {"type": "string", "pattern": f"^{pattern}$"}, "As the last page gave it")


def parse_limit(request: Request) -> int:
    given = request.query_params.get("limit", "50")
    if not (given.isascii() and given.isdigit() and len(given) < 10 and 1 <= int(given) <= PAGE_LIMIT):
        raise HttpError(422, "invalid_argument", f"limit is a whole number from 1 to {PAGE_LIMIT}")
    return int(given)


def parse_cursor(request: Request, pattern: str) -> str | None:
    given = request.query_params.get("cursor")
    if given is not None and not re.fullmatch(pattern, given):
        raise HttpError(422, "invalid_argument", "that is not a cursor; pass the one that the last page gave")
    return given


def is_seconds(text: str) -> bool:
    """Whether it is a number as JSON spells it, without a sign."""
    return bool(re.fullmatch(r"\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?", text))


def next_page_link(service: Service, request: Request, cursor: str | None) -> dict[str, str]:
    """The header `Link` for the same request with this cursor. Empty without one."""
    if not cursor:
        return {}
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    where = f"{service.base_url}{request.url.path}?{urlencode([*rest, ('cursor', cursor)])}"
    return {"Link": f'<{where}>; rel="next"'}
