"""The names of places in a merged file. Two files may use one name: the first has it, and the links inside the other follow."""

from collections.abc import Mapping
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from pressroom.renderers.pdf.destinations import Destination, NamedDestinations


class NameTable:
    def __init__(self) -> None:
        self._places: dict[bytes, Destination] = {}

    def add(self, named: NamedDestinations, first: int) -> dict[bytes, bytes]:
        """Take over the names of a file whose pages begin at `first`, and tell what each is called now if that differs."""
        renamed = {}
        for name, value in named.all_names():
            if (found := named.explicit(value)) is not None:
                self._places[new := self._free(name)] = found.moved(first)
                if new != name:
                    renamed[name] = new
        return renamed

    def _free(self, name: bytes) -> bytes:
        free, number = name, 1
        while free in self._places:
            free, number = b"%s.%d" % (name, number), number + 1
        return free

    def write(self, pdf: pikepdf.Pdf, moved_by: int) -> None:
        if not self._places:
            return
        pages = [page.obj for page in pdf.pages]
        entries = Array()
        for name, place in sorted(self._places.items()):
            entries.append(String(name))
            entries.append(place.moved(moved_by).as_array(pages))
        limits = Array([entries[0], entries[-2]])
        leaf = pdf.make_indirect(Dictionary(Limits=limits, Names=entries))
        pdf.Root.Names = Dictionary(Dests=pdf.make_indirect(Dictionary(Kids=Array([leaf]))))


def follow(link: Dictionary, renamed: Mapping[bytes, bytes]) -> None:
    """Make a link lead to the name that its place has now. Names of the older kind are strings in the merged file."""
    holder, key = link, Name.Dest
    action: Any = link.get("/A")
    if isinstance(action, Dictionary) and action.get("/S") == "/GoTo":
        holder, key = action, Name.D
    target = holder.get(key)
    if isinstance(target, Name):
        name = str(target)[1:].encode()
        holder[key] = String(renamed.get(name, name))
    elif isinstance(target, String) and (new := renamed.get(bytes(target))) is not None:
        holder[key] = String(new)
