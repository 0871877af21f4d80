"""Puts printed labels on the pages of a file: page numbers at the foot and stamps across the middle, as a reader sees them."""

from collections.abc import Sequence
from math import atan2, cos, hypot, sin

import pikepdf
from pikepdf import Array, Dictionary, Name

from pressroom.renderers.pdf.geometry import ShownPage
from pressroom.renderers.pdf.labels import NUMBER_WIDTH, STAMP_HEIGHT, STAMP_SIZE

NUMBER_BOTTOM = 8.0  # points; below it printers leave white, and above it lie the footers that documents bring


class PageLabels:
    """Puts printed labels on the pages of one file."""

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self._pdf = pdf
        self._save = pdf.make_stream(b"q\n")

    def add_number(self, page: pikepdf.Page, number: pikepdf.Object) -> None:
        shown = ShownPage.of(page)
        corner = ((shown.width - NUMBER_WIDTH) / 2, NUMBER_BOTTOM)
        self._add(page, number, shown.matrix_for((1, 0, 0, 1, *corner)), "Footer")

    def add_stamp(self, page: pikepdf.Page, stamp: pikepdf.Object, width: float, *, behind: bool) -> None:
        shown = ShownPage.of(page)
        angle = atan2(shown.height, shown.width)
        scale = min(0.75 * hypot(shown.width, shown.height) / width, 0.2 * min(shown.width, shown.height) / STAMP_SIZE)
        a, b = scale * cos(angle), scale * sin(angle)
        x = shown.width / 2 - (a * width - b * STAMP_HEIGHT) / 2
        y = shown.height / 2 - (b * width + a * STAMP_HEIGHT) / 2
        self._add(page, stamp, shown.matrix_for((a, b, -b, a, x, y)), "Watermark", behind=behind)

    def _add(
        self, page: pikepdf.Page, label: pikepdf.Object, matrix: Sequence[float], subtype: str, *, behind: bool = False
    ) -> None:
        """As an artifact, which a screen reader passes over. What the page draws cannot move or colour it, nor the reverse."""
        name = self._add_resource(page, label)
        numbers = " ".join(f"{number:.5f}".rstrip("0").rstrip(".") for number in matrix)
        drawing = f"/Artifact <</Type /Pagination /Subtype /{subtype}>> BDC q {numbers} cm {name} Do Q EMC\n".encode()
        contents = page.obj.get(Name.Contents)
        existing = list(contents) if isinstance(contents, Array) else [] if contents is None else [contents]
        if behind:
            page.obj.Contents = Array([self._pdf.make_stream(drawing), *existing])
        else:
            page.obj.Contents = Array([self._save, *existing, self._pdf.make_stream(b"\nQ\n" + drawing)])

    @staticmethod
    def _add_resource(page: pikepdf.Page, label: pikepdf.Object) -> str:
        """Under a name that is free. Pages may share their resources, so that a page gets lists of its own."""
        resources = page.obj.get(Name.Resources)
        own = Dictionary(dict(resources.items())) if isinstance(resources, Dictionary) else Dictionary()
        found = own.get(Name.XObject)
        objects = Dictionary(dict(found.items())) if isinstance(found, Dictionary) else Dictionary()
        number = 1
        while (name := f"/Label{number}") in objects:
            number += 1
        objects[name] = label
        own.XObject = objects
        page.obj.Resources = own
        return name
