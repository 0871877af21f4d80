"""Which links inside a site lead nowhere: to files that it does not have, and to anchors that the page does not have.

Only what stays inside the site is judged. Other hosts, addresses that begin with a slash (where a site is published is not
known here) and `..` above its first folder (another edition, perhaps) are left alone.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote

import msgspec

INDEX = "index.html"
MOST_BROKEN = 50_000  # of which the place is remembered
LONGEST_LINK = 500  # of one that is reported

_CONTROLS = "".join(map(chr, range(0x21)))  # what browsers strip from the ends of an address
_LINE_BREAKS = str.maketrans("", "", "\t\r\n")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LINES = re.compile(r"(L?[0-9]+)-L?[0-9]+")  # of source code, which a script marks
_PAGE = re.compile(r".*\.x?html?", re.IGNORECASE | re.DOTALL)

NO_FILE = "there is no such file"
NO_INDEX = f"the folder has no {INDEX}"
NO_ANCHOR = "the page has no such anchor"


class PageLink(msgspec.Struct, frozen=True):
    """`is_anchor`: one that people follow, so that the anchor counts too; others load a file."""

    url: str
    is_anchor: bool


class PageLinks(msgspec.Struct, frozen=True):
    """What one page has: links as they are written, the address that `<base>` gives, and the names of its anchors.
    `is_redirect`: it leads to another page at once, mostly with the anchor that it was asked for."""

    links: Sequence[PageLink]
    anchors: frozenset[str]
    base: str | None = None
    is_redirect: bool = False


class BrokenLink(msgspec.Struct, frozen=True):
    page: str
    link: str
    reason: str


class _Waiting(msgspec.Struct, frozen=True):
    """A link to an anchor of a page that was not read yet."""

    place: tuple[int, int]  # which page, which link of it
    url: str
    fragment: str


class SiteLinks:
    """Add every page of a site once, in any order; then `broken` are the links that lead nowhere."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files = frozenset(paths)
        self._pages: list[str] = []
        self._anchors: dict[str, frozenset[int]] = {}
        self._redirects: set[str] = set()
        self._waiting: dict[str, list[_Waiting]] = {}
        self._broken: list[tuple[tuple[int, int], str, str]] = []
        self.count = 0

    def add_page(self, path: str, page: PageLinks) -> None:
        number = len(self._pages)
        self._pages.append(path)
        self._add_anchors(path, page)
        document = path if page.base is None else _document(path, page.base)
        if document is None:  # `<base>` leads out of the site, and every link with it
            return
        for index, link in enumerate(dict.fromkeys(page.links)):
            self._check((number, index), document, link)

    def broken(self, limit: int) -> list[BrokenLink]:
        """The first ones, in the order in which pages were added."""
        first = sorted(self._broken)[:limit]
        return [BrokenLink(self._pages[place[0]], url[:LONGEST_LINK], reason) for place, url, reason in first]

    def _check(self, place: tuple[int, int], document: str, link: PageLink) -> None:
        resolved = resolve(document, link.url)
        if resolved is None:
            return
        target, fragment = resolved
        file = self._find(target)
        if file is None:
            self._add_broken(place, link.url, NO_INDEX if target.endswith("/") else NO_FILE)
        elif link.is_anchor and is_page(file) and _is_checked(fragment):
            self._check_anchor(place, file, link.url, fragment)

    def _find(self, target: str) -> str | None:
        if target in self._files:
            return target
        index = f"{target}{'' if not target or target.endswith('/') else '/'}{INDEX}"
        return index if index in self._files else None

    def _check_anchor(self, place: tuple[int, int], file: str, url: str, fragment: str) -> None:
        anchors = self._anchors.get(file)
        if anchors is None:
            self._waiting.setdefault(file, []).append(_Waiting(place, url, fragment))
        elif file not in self._redirects and not _has_anchor(anchors, fragment):
            self._add_broken(place, url, NO_ANCHOR)

    def _add_anchors(self, path: str, page: PageLinks) -> None:
        anchors = self._anchors[path] = frozenset(map(hash, page.anchors))
        if page.is_redirect:
            self._redirects.add(path)
        for waiting in self._waiting.pop(path, ()):
            if not page.is_redirect and not _has_anchor(anchors, waiting.fragment):
                self._add_broken(waiting.place, waiting.url, NO_ANCHOR)

    def _add_broken(self, place: tuple[int, int], url: str, reason: str) -> None:
        self.count += 1
        if len(self._broken) < MOST_BROKEN:
            self._broken.append((place, url, reason))


def is_page(path: str) -> bool:
    return _PAGE.fullmatch(path) is not None


def resolve(document: str, url: str) -> tuple[str, str] | None:
    """The path of a link in the site, and its fragment. None if it leaves the site. `document` is the path of the page, or what
    `<base>` makes of it. A path that is empty or ends with a slash is a folder."""
    url = url.strip(_CONTROLS)
    if not url.isprintable():
        url = url.translate(_LINE_BREAKS)
    before, _, fragment = url.partition("#")
    if not before or before.startswith("?"):
        return document, fragment
    if _SCHEME.match(before):
        return None
    joined = _joined(document[: document.rfind("/") + 1], before)
    return None if joined is None else (joined, fragment)


@lru_cache(maxsize=16_384)
def _joined(folder: str, address: str) -> str | None:
    """Pages of one folder share most of their links."""
    path = unquote(address.partition("?")[0].replace("\\", "/"))
    return None if path.startswith("/") else _normalized(folder + path)


def _document(page: str, base: str) -> str | None:
    resolved = resolve(page, base)
    return None if resolved is None else resolved[0]


def _normalized(path: str) -> str | None:
    """Without `.` and `..`; None above the first folder."""
    segments = path.split("/")
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            if not kept:
                return None
            kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", "..") and kept:
        kept.append("")
    return "/".join(kept)


def _is_checked(fragment: str) -> bool:
    """Not those of routers in JavaScript, nor the beginning of the page, which every page has."""
    name = fragment.partition(":~:")[0]  # what follows marks a text in the page
    return bool(name) and not name.startswith(("/", "!")) and name.lower() != "top"


def _has_anchor(anchors: frozenset[int], fragment: str) -> bool:
    name = fragment.partition(":~:")[0]
    if hash(name) in anchors or hash(unquote(name)) in anchors:
        return True
    lines = _LINES.fullmatch(name)
    return lines is not None and hash(lines[1]) in anchors
