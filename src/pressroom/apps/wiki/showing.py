"""What the wiki's pages share."""

from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from pressroom.api.problems import request_id_of
from pressroom.apps.wiki.links import address_of
from pressroom.web.desk import Visit, refuse


def page(visit: Visit, template: str, **values: Any) -> Response:
    return visit.page(template, wiki=partial(_address, visit.desk.prefix), **values)


def _address(prefix: str, url: str, what: str = "", **asked: Any) -> str:
    """Of an article, or of what can be asked about it."""
    if what == "source":
        return f"{address_of(url, prefix)}.md"
    query = what or urlencode(asked)
    return f"{address_of(url, prefix)}{'?' + query if query else ''}"


def whole_number(text: str, least: int = 1) -> int:
    if text.isascii() and text.isdigit() and len(text) < 16 and int(text) >= least:
        return int(text)
    raise refuse(f"{text[:50]!r} is not a number from {least}")


def trace_of(visit: Visit) -> dict[str, str]:
    return {"request_id": request_id_of(visit.request)}
