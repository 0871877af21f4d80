"""Where links and bookmarks lead: a page of a file, and the part of it that is shown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isfinite
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

MAX_NAMES = 100_000


@dataclass(frozen=True)
class Destination:
    """A page by its index from 0, and how it is shown: a word such as XYZ and its numbers, as PDF has them."""

    page: int
    view: tuple[str, *tuple[float | None, ...]] = ("/Fit",)

    def moved(self, by: int) -> "Destination":
        return Destination(self.page + by, self.view)

    def as_array(self, pages: Sequence[Any]) -> Array:
        return Array([pages[self.page], Name(self.view[0]), *self.view[1:]])


class NamedDestinations:
    """The names that a file gives to places in it, in either of the two ways that there are."""

    def __init__(self, pdf: pikepdf.Pdf, pages: Iterable[pikepdf.Page]) -> None:
        self._pdf = pdf
        self._pages = {page.obj.objgen: index for index, page in enumerate(pages)}

    def resolve(self, value: Any) -> Destination | None:
        if isinstance(value, String):
            value = self.by_string.get(bytes(value))
        elif isinstance(value, Name):
            value = self._by_word.get(str(value))
        return self.explicit(value)

    def all_names(self) -> Iterator[tuple[bytes, Any]]:
        """A name of the newer kind goes before one of the older kind that is the same."""
        yield from self.by_string.items()
        for word, value in self._by_word.items():
            if (name := word[1:].encode()) not in self.by_string:
                yield name, value

    def explicit(self, value: Any) -> Destination | None:
        if isinstance(value, Dictionary):
            value = value.get("/D")
        if not isinstance(value, Array) or len(value) < 2 or not isinstance(value[1], Name):
            return None
        index = self._page_index(value[0])
        if index is None:
            return None
        return Destination(index, (str(value[1]), *[finite_number(one) for one in list(value)[2:6]]))

    def _page_index(self, page: Any) -> int | None:
        if isinstance(page, Dictionary):
            return self._pages.get(page.objgen)
        # A number is meant for pages of other files; some programs write it for their own.
        return page if isinstance(page, int) and 0 <= page < len(self._pages) else None

    @cached_property
    def by_string(self) -> dict[bytes, Any]:
        names = self._pdf.Root.get("/Names")
        return dict(name_tree(names.get("/Dests"))) if isinstance(names, Dictionary) else {}

    @cached_property
    def _by_word(self) -> dict[str, Any]:
        """The older kind, in a dictionary instead of a tree."""
        words = self._pdf.Root.get("/Dests")
        return dict(words.items()) if isinstance(words, Dictionary) else {}


def name_tree(root: Any) -> Iterator[tuple[bytes, Any]]:
    """The entries of a name tree in its order. A node is visited once, and at most MAX_NAMES entries are read."""
    for key, value in _tree_entries(root, "/Names"):
        if isinstance(key, String):
            yield bytes(key), value


def number_tree(root: Any) -> Iterator[tuple[int, Any]]:
    for key, value in _tree_entries(root, "/Nums"):
        if isinstance(key, int):
            yield key, value


def _tree_entries(root: Any, leaf: str) -> Iterator[tuple[Any, Any]]:
    seen: set[tuple[int, int]] = set()
    waiting = [root]
    count = 0
    while waiting and count < MAX_NAMES:
        node = waiting.pop()
        if not isinstance(node, Dictionary) or (node.is_indirect and node.objgen in seen):
            continue
        seen.add(node.objgen)
        if isinstance(entries := node.get(leaf), Array):
            pairs = list(entries)
            count += len(pairs) // 2
            yield from zip(pairs[::2], pairs[1::2], strict=False)
        if isinstance(kids := node.get("/Kids"), Array):
            waiting += reversed(list(kids))


def finite_number(value: Any) -> float | None:
    """A number of a file as a float: pikepdf gives int and Decimal. None for anything else, and for what no page can be."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    found = float(value)
    return found if isfinite(found) and abs(found) < 1e9 else None
