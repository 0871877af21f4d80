"""What a file has beside its pages: attached files and layers are taken over; lost tags and signatures get a warning."""

from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, String

from pressroom.renderers import Notice
from pressroom.renderers.pdf.destinations import name_tree

_MAX_FIELDS = 10_000


class BesidePages:
    """Collects it from one file after another, whose pages must have been copied, and writes it into the merged one."""

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self._pdf = pdf
        self._attachments: dict[bytes, Any] = {}
        self._layers: list[Any] = []
        self._hidden: list[Any] = []
        self._order: list[Any] = []

    def add(self, number: int, source: pikepdf.Pdf) -> list[Notice]:
        self._add_attachments(source)
        self._add_layers(source)
        notices = []
        if isinstance(source.Root.get("/StructTreeRoot"), Dictionary) and _is_marked(source):
            notices.append(Notice("tags_lost", f"part {number} is tagged for screen readers; the merged file is not"))
        if _is_signed(source):
            notices.append(Notice("signature_lost", f"part {number} is signed; a signature does not hold in a merged file"))
        return notices

    def _add_attachments(self, source: pikepdf.Pdf) -> None:
        names = source.Root.get("/Names")
        for name, file in name_tree(names.get("/EmbeddedFiles")) if isinstance(names, Dictionary) else ():
            if not isinstance(file, Dictionary):
                continue
            free, count = name, 1
            while free in self._attachments:
                free, count = b"%s.%d" % (name, count), count + 1
            self._attachments[free] = self._copy(source, file)

    def _add_layers(self, source: pikepdf.Pdf) -> None:
        """What a file hides stays hidden: without its layers everything that was ever drawn on its pages would be seen."""
        found = source.Root.get("/OCProperties")
        if not isinstance(found, Dictionary):
            return
        properties = self._copy(source, found)
        default = properties.get("/D")
        default = default if isinstance(default, Dictionary) else Dictionary()
        layers = _groups(properties, "/OCGs")
        shown = {one.objgen for one in _groups(default, "/ON")}
        off = {one.objgen for one in _groups(default, "/OFF")}
        all_off = default.get("/BaseState") == "/OFF"
        self._layers += layers
        self._hidden += [one for one in layers if one.objgen in off or (all_off and one.objgen not in shown)]
        order = default.get("/Order")
        self._order += list(order) if isinstance(order, Array) else layers

    def _copy(self, source: pikepdf.Pdf, value: Dictionary) -> Any:
        return self._pdf.copy_foreign(value if value.is_indirect else source.make_indirect(value))

    def write(self) -> None:
        root, make_indirect = self._pdf.Root, self._pdf.make_indirect
        if self._attachments:
            entries = Array()
            for name, file in sorted(self._attachments.items(), key=lambda entry: entry[0]):
                entries.append(String(name))
                entries.append(file)
            limits = Array([entries[0], entries[-2]])
            leaf = make_indirect(Dictionary(Limits=limits, Names=entries))
            names = root.get("/Names", Dictionary())
            names.EmbeddedFiles = make_indirect(Dictionary(Kids=Array([leaf])))
            root.Names = names
        if self._layers:
            default = Dictionary(OFF=Array(self._hidden), Order=Array(self._order))
            root.OCProperties = Dictionary(OCGs=Array(self._layers), D=default)


def _groups(holder: Dictionary, key: str) -> list[Any]:
    found = holder.get(key)
    return [one for one in found if isinstance(one, Dictionary) and one.is_indirect] if isinstance(found, Array) else []


def _is_marked(source: pikepdf.Pdf) -> bool:
    info = source.Root.get("/MarkInfo")
    return isinstance(info, Dictionary) and bool(info.get("/Marked"))


def _is_signed(source: pikepdf.Pdf) -> bool:
    form = source.Root.get("/AcroForm")
    fields = form.get("/Fields") if isinstance(form, Dictionary) else None
    return isinstance(fields, Array) and any(
        isinstance(one, Dictionary) and one.get("/FT") == "/Sig" and "/V" in one for one in list(fields)[:_MAX_FIELDS]
    )
