"""Links from one article to another: `[[Name]]`, `[[Name|words]]` and `[[Name#heading]]`."""

import html
import re
from collections.abc import Collection
from urllib.parse import quote, unquote

from pressroom.apps.wiki.model import clean_url, is_special_url, title_from_url
from pressroom.errors import InvalidArgument

MOST_LINKS = 2_000

_MARK = "data-wikilink"
_LINK = re.compile(r'<a\b[^>]*\bdata-wikilink="true"[^>]*>')
_HREF = re.compile(r'\bhref="([^"]*)"')


def find_targets(body: str) -> list[str]:
    """The articles that a page links to, each once, in order."""
    if _MARK not in body:
        return []
    names = (_parse_target(found[0])[0] for found in _LINK.finditer(body))
    return list(dict.fromkeys(name for name in names if name))[:MOST_LINKS]


def resolve_links(body: str, existing: Collection[str], prefix: str = "") -> str:
    """The page with the hrefs of its wiki links. Links to missing articles are marked, also for screen readers."""

    def resolve(found: re.Match[str]) -> str:
        url, anchor = _parse_target(found[0])
        if not url:
            return '<a class="wikilink missing" title="This name cannot be an article\'s">'
        address = html.escape(article_path(url, prefix) + (f"#{quote(anchor)}" if anchor else ""))
        if url in existing or is_special_url(url):
            return f'<a class="wikilink" href="{address}">'
        title = html.escape(f"{title_from_url(url)}: not written yet")
        return f'<a class="wikilink missing" href="{address}" title="{title}">'

    return _LINK.sub(resolve, body) if _MARK in body else body


def article_path(url: str, prefix: str = "") -> str:
    return f"{prefix}/wiki/{quote(url, safe='/:@!$&()*+,;=~-._')}"


def _parse_target(tag: str) -> tuple[str, str]:
    """The article's name, '' for one that cannot be, and the heading."""
    found = _HREF.search(tag)
    name, _, anchor = unquote(html.unescape(found[1])).partition("#") if found else ("", "", "")
    try:
        return clean_url(name), anchor
    except InvalidArgument:
        return "", anchor
