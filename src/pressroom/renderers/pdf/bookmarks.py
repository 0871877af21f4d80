"""Outlines: read from a file as plain values, and written into another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pikepdf
from pikepdf import Dictionary, Name, String

from pressroom.renderers.pdf.destinations import Destination, NamedDestinations

MAX_BOOKMARKS = 20_000
MAX_DEPTH = 32  # what is deeper is put at this depth
MAX_TITLE = 1_000


@dataclass
class Bookmark:
    title: str
    target: Destination | None = None
    uri: str | None = None
    is_open: bool = False
    children: list["Bookmark"] = field(default_factory=list)


def read_bookmarks(pdf: pikepdf.Pdf, named: NamedDestinations) -> list[Bookmark]:
    root = pdf.Root.get("/Outlines")
    top = Bookmark("")
    if not isinstance(root, Dictionary):
        return []
    seen: set[tuple[int, int]] = set()
    waiting: list[tuple[Any, Bookmark, int]] = [(root.get("/First"), top, 1)]
    while waiting:
        item, parent, depth = waiting.pop()
        if not isinstance(item, Dictionary) or item.objgen in seen or len(seen) >= MAX_BOOKMARKS:
            continue
        seen.add(item.objgen)
        found = _read_bookmark(item, named)
        parent.children.append(found)
        below = found if depth < MAX_DEPTH else parent
        waiting.append((item.get("/Next"), parent, depth))
        waiting.append((item.get("/First"), below, depth + 1 if below is found else depth))
    return top.children


def _read_bookmark(item: Dictionary, named: NamedDestinations) -> Bookmark:
    title, count = item.get("/Title"), item.get("/Count")
    found = Bookmark(str(title)[:MAX_TITLE] if isinstance(title, String) else "", is_open=isinstance(count, int) and count > 0)
    action = item.get("/A")
    if "/Dest" in item:
        found.target = named.resolve(item.get("/Dest"))
    elif isinstance(action, Dictionary) and action.get("/S") == "/GoTo":
        found.target = named.resolve(action.get("/D"))
    elif isinstance(action, Dictionary) and action.get("/S") == "/URI" and isinstance(action.get("/URI"), String):
        found.uri = str(action.get("/URI"))
    return found


def write_bookmarks(pdf: pikepdf.Pdf, bookmarks: Sequence[Bookmark]) -> None:
    """Give a file this outline. The pages of its destinations are those of the file."""
    if not bookmarks:
        return
    root = pdf.make_indirect(Dictionary(Type=Name.Outlines))
    pages = [page.obj for page in pdf.pages]
    root.Count = _write_level(pdf, root, bookmarks, pages)
    pdf.Root.Outlines = root


def _write_level(pdf: pikepdf.Pdf, parent: Dictionary, bookmarks: Sequence[Bookmark], pages: Sequence[Any]) -> int:
    """Returns how many are seen while the parent is open. At most MAX_DEPTH levels call each other."""
    items = [pdf.make_indirect(_item_of(bookmark, pages)) for bookmark in bookmarks]
    visible = len(items)
    for bookmark, item, before, after in zip(bookmarks, items, [None, *items[:-1]], [*items[1:], None], strict=True):
        item.Parent = parent
        if before is not None:
            item.Prev = before
        if after is not None:
            item.Next = after
        if bookmark.children:
            below = _write_level(pdf, item, bookmark.children, pages)
            item.Count = below if bookmark.is_open else -below
            visible += below if bookmark.is_open else 0
    parent.First, parent.Last = items[0], items[-1]
    return visible


def _item_of(bookmark: Bookmark, pages: Sequence[Any]) -> Dictionary:
    item = Dictionary(Title=String(bookmark.title))
    if bookmark.target is not None:
        item.Dest = bookmark.target.as_array(pages)
    elif bookmark.uri is not None:
        item.A = Dictionary(S=Name.URI, URI=String(bookmark.uri))
    return item


def moved(bookmarks: Sequence[Bookmark], by: int) -> list[Bookmark]:
    """The same outline for pages that lie so many pages further behind."""
    return [
        Bookmark(one.title, one.target and one.target.moved(by), one.uri, one.is_open, moved(one.children, by))
        for one in bookmarks
    ]


def flat(bookmarks: Sequence[Bookmark], depth: int = 1) -> Iterator[tuple[int, Bookmark]]:
    for one in bookmarks:
        yield depth, one
        yield from flat(one.children, depth + 1)
