"""The text of one HTML page for search: its heading and what it says, without navigation, scripts and footers.

Runs in a process of its own (reading_process.py).
"""

from collections.abc import Mapping
from typing import NamedTuple

from pressroom.apps.docs.uploads.html_page import parse_html
from pressroom.base.search_terms import index_text

EXCERPT = 16_000  # characters
LONGEST_TEXT = 100_000  # characters of a page; what follows is not found
LONGEST_HEADING = 200

_SKIPPED_TAGS = {
    "script",
    "style",
    "template",
    "noscript",
    "nav",
    "footer",
    "aside",
    "svg",
    "form",
    "button",
    "select",
    "iframe",
}
_SKIPPED_ROLES = {"navigation", "search", "banner", "contentinfo", "complementary"}
_INLINE_TAGS = {
    *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "samp"),
    *("small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr"),
}
_HEADINGS = ("h1", "h2")
_NOT_SEARCHED = {"genindex.html", "py-modindex.html", "search.html", "404.html"}


class PageText(NamedTuple):
    """`title` and `words` are folded for the index; the others are as people see them."""

    path: str
    heading: str
    excerpt: str
    title: str
    words: str


def is_searched(path: str) -> bool:
    """Not what Sphinx generates beside the pages: indexes, and the source of modules."""
    *folders, name = path.split("/")
    return name not in _NOT_SEARCHED and not name.startswith("genindex-") and not any(part.startswith("_") for part in folders)


def read_text(path: str, page: bytes) -> PageText | None:
    """None for a page without text, such as one that leads to another, and for one that asks not to be found.

    A change of what it returns needs a migration that empties docs_search: builds copy texts from each other."""
    reader = _TextReader()
    parse_html(page, reader)
    text = (_collapsed(reader.main) or _collapsed(reader.body))[:LONGEST_TEXT]
    if not text or reader.is_left_out:
        return None
    heading = (_collapsed(reader.main_heading) or _collapsed(reader.heading) or _collapsed(reader.title) or path)[
        :LONGEST_HEADING
    ]
    return PageText(path, heading, text[:EXCERPT], index_text(heading), index_text(text))


class _Element(NamedTuple):
    tag: str
    is_skipped: bool
    is_main: bool


class _TextReader:
    """Gathers the text of the body, and that of `<main>` apart: around it there may be a heading of the site."""

    def __init__(self) -> None:
        self.title: list[str] = []
        self.heading: list[str] = []
        self.main_heading: list[str] = []
        self.main: list[str] = []
        self.body: list[str] = []
        self.is_left_out = False
        self._open: list[_Element] = []
        self._skipped = 0  # open elements whose text is not that of the page
        self._in_main = 0
        self._size = 0
        self._into: list[str] | None = None  # the heading that is open

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        role = attributes.get("role", "").lower()
        is_skipped = tag in _SKIPPED_TAGS or role in _SKIPPED_ROLES or "headerlink" in attributes.get("class", "").split()
        # A header of the site names it on every page; that of an article is its own.
        is_skipped = is_skipped or (tag == "header" and not self._in_main) or attributes.get("hidden") is not None
        is_main = tag == "main" or role == "main"
        self._open.append(_Element(tag, is_skipped, is_main))
        self._skipped += is_skipped
        self._in_main += is_main
        if tag in _HEADINGS:
            self._open_heading(tag)
        elif tag == "meta":
            self._read_meta(attributes)
        self._separate(tag)

    def end(self, tag: str) -> None:
        if not self._open:
            return
        element = self._open.pop()
        self._skipped -= element.is_skipped
        self._in_main -= element.is_main
        if tag in _HEADINGS:
            self._into = None
        self._separate(tag)

    def data(self, text: str) -> None:
        if self._open and self._open[-1].tag == "title" and not self._skipped:
            self.title.append(text)
        elif not self._skipped and self._size < LONGEST_TEXT:
            self._size += len(text)
            self._add(text)

    def close(self) -> None:
        pass

    def _open_heading(self, tag: str) -> None:
        """The first that has words: of the main part any, elsewhere one of the first level."""
        if self._skipped:
            return
        heading = self.main_heading if self._in_main else self.heading
        if not _collapsed(heading) and (self._in_main or tag == "h1"):
            self._into = heading

    def _read_meta(self, attributes: Mapping[str, str]) -> None:
        """Pages that are not to be found, and those that lead on."""
        robots = attributes.get("name", "").lower() == "robots" and "noindex" in attributes.get("content", "").lower()
        self.is_left_out |= robots or attributes.get("http-equiv", "").lower() == "refresh"

    def _separate(self, tag: str) -> None:
        """Words of two paragraphs are two words."""
        if tag not in _INLINE_TAGS and not self._skipped and self._size < LONGEST_TEXT:
            self._add(" ")

    def _add(self, text: str) -> None:
        self.body.append(text)
        if self._in_main:
            self.main.append(text)
        if self._into is not None:
            self._into.append(text)


def _collapsed(pieces: list[str]) -> str:
    return " ".join("".join(pieces).replace("\x00", "").split())
