"""What the wiki's pages share."""

import re
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from pressroom.apps.wiki.links import article_path
from pressroom.web.site import PageRequest, page_error

PATIENCE = 10.0  # seconds that a request waits for the render of the page it saves or opens

_TAG = re.compile(r'<[a-z][^>"]*(?:"[^"]*"[^>"]*)*>')
_ATTRIBUTE = re.compile(r'(?<=\s)(id|href|aria-label)="([^"]*)"|"[^"]*"')  # the second, so that none is found inside a value


def render_page(request: PageRequest, template: str, **values: Any) -> Response:
    return request.page(template, wiki=partial(_wiki_url, request.site.prefix), prefix_ids=prefix_ids, **values)


def _wiki_url(prefix: str, url: str, what: str = "", **params: Any) -> str:
    """Of an article, or of what can be asked about it."""
    if what == "source":
        return f"{article_path(url, prefix)}.md{'?' + urlencode(params) if params else ''}"
    query = what or urlencode(params)
    return f"{article_path(url, prefix)}{'?' + query if query else ''}"


def parse_number(text: str, least: int = 1) -> int:
    if text.isascii() and text.isdigit() and len(text) < 16 and int(text) >= least:
        return int(text)
    raise page_error(f"{text[:50]!r} is not a number from {least}")


def request_trace(request: PageRequest) -> dict[str, str]:
    return {"request_id": request.http.state.request_id}


def prefix_ids(body: str, prefix: str) -> str:
    """The HTML of an article with ids of its own, and links to those: it stands beside another, or inside a form of ours,
    and no two things on a page may have the same id. Nor may two landmarks have the same name.
    """

    def renamed(attribute: re.Match[str]) -> str:
        match attribute[1], attribute[2]:
            case "id", value:
                return f'id="{prefix}{value}"'
            case "href", value if value.startswith("#"):
                return f'href="#{prefix}{value[1:]}"'
            case "aria-label", "Table of contents":
                return f'aria-label="Table of contents, {prefix.rstrip("-")}"'
        return attribute[0]

    return _TAG.sub(lambda tag: _ATTRIBUTE.sub(renamed, tag[0]), body)
