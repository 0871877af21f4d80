"""Read one HTML page: its links and anchors.

libxml2 reads pages of strangers here, so this runs in a process of its own (link_check_process.py, search/reading_process.py).
"""

import codecs
import re
from collections.abc import Mapping

from lxml import etree  # type: ignore[import-untyped]

from pressroom.apps.docs.domain.links import PageLink, PageLinks
from pressroom.apps.docs.uploads.media_types import charset_of

_META_REFRESH = re.compile(r"\s*[0-9.]*\s*[;,]\s*url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)
_LINK_ATTRIBUTES = {
    "a": "href",
    "area": "href",
    "link": "href",
    "img": "src",
    "script": "src",
    "iframe": "src",
    "frame": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "track": "src",
    "embed": "src",
    "object": "data",
}
_FOLLOWED = {"a", "area"}


def read_links(page: bytes) -> PageLinks:
    reader = _LinkReader()
    parse_html(page, reader)
    return PageLinks(reader.links, frozenset(reader.anchors), reader.base, reader.is_redirect)


def parse_html(page: bytes, target: object) -> None:
    """Whatever the bytes are: HTML has no errors, only an empty page is no tree."""
    parser = etree.HTMLParser(target=target, encoding="utf-8", no_network=True, huge_tree=True)
    try:
        etree.fromstring(_as_utf8(page), parser)
    except etree.XMLSyntaxError:
        return


def _as_utf8(page: bytes) -> bytes:
    if page.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return page.decode("utf-16", errors="replace").encode(errors="replace")
    name = charset_of(page)
    try:
        is_utf8 = codecs.lookup(name).name == "utf-8"
        return page if is_utf8 else page.decode(name, errors="replace").encode(errors="replace")
    except (LookupError, ValueError):
        return page


class _LinkReader:
    def __init__(self) -> None:
        self.links: list[PageLink] = []
        self.anchors: set[str] = set()
        self.base: str | None = None
        self.is_redirect = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if not attributes:
            return
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        name = _LINK_ATTRIBUTES.get(tag)
        if name is not None:
            self._add_link(tag, attributes, name)
        elif tag == "base" and self.base is None:
            self.base = attributes.get("href")
        elif tag == "meta" and attributes.get("http-equiv", "").lower() == "refresh":
            redirect = _META_REFRESH.match(attributes.get("content", ""))
            if redirect:
                self.is_redirect = True
                self.links.append(PageLink(redirect[1], True))

    def end(self, tag: str) -> None:
        pass

    def close(self) -> None:
        pass

    def _add_link(self, tag: str, attributes: Mapping[str, str], name: str) -> None:
        if tag == "a" and "name" in attributes:
            self.anchors.add(attributes["name"])
        url = attributes.get(name)
        if url is not None:
            self.links.append(PageLink(url, tag in _FOLLOWED))
