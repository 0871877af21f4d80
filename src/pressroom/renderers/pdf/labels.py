"""What our HTML printer adds to a merged file: the contents page, page numbers and stamps, in every script of our fonts.

Numbers and stamps are printed on small pages of their own, which are put on the pages of the documents: over the foot, and
across the middle, as a reader sees them, whatever size and rotation a page has.
"""

import html
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from math import atan2, cos, hypot, sin

import pikepdf
from pikepdf import Array, Dictionary, Name

from pressroom.renderers.fonts import textwidth
from pressroom.renderers.html import Html

NUMBER_WIDTH, NUMBER_HEIGHT = 200.0, 12.0  # points
NUMBER_BOTTOM = 8.0  # below it printers leave white; above it lie the footers that documents bring
STAMP_SIZE = 100.0  # of its letters on its own page; on a document it is scaled
STAMP_HEIGHT = 120.0
LINK = "http://document.invalid/part/"

_MARK = {"ltr": "\N{LEFT-TO-RIGHT MARK}", "rtl": "\N{RIGHT-TO-LEFT MARK}"}
_STAMP_COLOUR = "rgba(110, 110, 110, 0.3)"
_DEFAULT_PAPER = (595.28, 841.89)  # A4
_LEAST_PAPER, _MOST_PAPER = 280.0, 1_700.0  # points; a contents page on less or more cannot be read


@dataclass(frozen=True)
class ContentsEntry:
    title: str
    state: str
    page: int  # as it is printed, from 1


class Printer:
    """HTML to PDF in this process. The html engine is loaded by the first print."""

    def __init__(self) -> None:
        self._engine: Html | None = None

    def print(self, body: str, style: str, lang: str = "") -> pikepdf.Pdf:
        self._engine = self._engine or Html()
        source = f"<!DOCTYPE html><html lang='{html.escape(lang or 'en')}'><title>-</title><style>{style}</style>{body}</html>"
        return pikepdf.open(BytesIO(self._engine.print_own_page(source)))


def print_contents(
    printer: Printer, entries: Sequence[ContentsEntry], title: str, paper: tuple[float, float], lang: str
) -> pikepdf.Pdf:
    """The contents page, or several. A link to LINK and the index of its entry lies on each title."""
    width, height = paper if all(_LEAST_PAPER <= side <= _MOST_PAPER for side in paper) else _DEFAULT_PAPER
    style = (
        f"@page {{ size: {width:.2f}pt {height:.2f}pt; margin: 56pt }}"
        " body { font: 11pt 'Liberation Sans'; color: #1c2024; margin: 0 } h1 { font-size: 20pt; margin: 0 0 18pt }"
        " p { margin: 0 0 6pt; line-height: 1.35 } a { color: inherit; text-decoration: none }"
        " i { color: #666; font-style: normal } b { font-weight: normal }"
    )
    leaders = "".join(f" #e{index}::after {{ content: leader('.') '{one.page}' }}" for index, one in enumerate(entries))
    # After the mark neither the leader nor the number is drawn into the end of a title in another direction.
    rows = "".join(
        f"<p dir='{direction_of(one.title)}'><a href='{LINK}{index}'>{html.escape(one.title)}</a>"
        f"{f' <i>{html.escape(one.state)}</i>' if one.state else ''}{_MARK[direction_of(one.title)]}"
        f"<b id='e{index}'></b></p>"
        for index, one in enumerate(entries)
    )
    return printer.print(f"<h1 dir='{direction_of(title)}'>{html.escape(title)}</h1>{rows}", style + leaders, lang)


def print_numbers(printer: Printer, count: int) -> pikepdf.Pdf:
    style = (
        f"@page {{ size: {NUMBER_WIDTH}pt {NUMBER_HEIGHT}pt; margin: 0 }} body {{ margin: 0 }}"
        f" div {{ font: 9pt/{NUMBER_HEIGHT}pt 'Liberation Sans'; color: #555; text-align: center; break-after: page }}"
        " div:last-child { break-after: auto }"
    )
    return printer.print("".join(f"<div>{number} / {count}</div>" for number in range(1, count + 1)), style)


def print_stamp(printer: Printer, text: str) -> tuple[pikepdf.Pdf, float]:
    """The stamp on one line, and how wide it is."""
    width = max(textwidth.width(text, bold=True), 1.0) * STAMP_SIZE + STAMP_SIZE
    style = (
        f"@page {{ size: {width:.2f}pt {STAMP_HEIGHT}pt; margin: 0 }} body {{ margin: 0 }}"
        f" div {{ font: bold {STAMP_SIZE}pt/{STAMP_HEIGHT}pt 'Liberation Sans'; color: {_STAMP_COLOUR}; text-align: center;"
        " white-space: nowrap }"
    )
    return printer.print(f"<div dir='{direction_of(text)}'>{html.escape(' '.join(text.split()))}</div>", style), width


def direction_of(text: str) -> str:
    """As dir="auto" says it, which the printer does not know: that of the first letter that has one."""
    directions = (unicodedata.bidirectional(character) for character in text)
    return "rtl" if next((one for one in directions if one in ("L", "R", "AL")), "L") != "L" else "ltr"


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


@dataclass(frozen=True)
class ShownPage:
    """A page as a reader sees it: its size after rotation in points, and where that lies in its own coordinates."""

    width: float
    height: float
    box: tuple[float, float, float, float]
    rotation: int
    unit: float

    @classmethod
    def of(cls, page: pikepdf.Page) -> "ShownPage":
        left, bottom, right, top = crop_box(page)
        rotation, unit = rotation_of(page), _unit_of(page)
        width, height = (right - left) * unit, (top - bottom) * unit
        if rotation in (90, 270):
            width, height = height, width
        return cls(width, height, (left, bottom, right, top), rotation, unit)

    def matrix_for(self, placed: Sequence[float]) -> tuple[float, ...]:
        """A placement on the page as it is seen, in coordinates of the page itself."""
        left, bottom, right, top = self.box
        scale = 1 / self.unit
        turned = {
            0: (scale, 0.0, 0.0, scale, left, bottom),
            90: (0.0, scale, -scale, 0.0, right, bottom),
            180: (-scale, 0.0, 0.0, -scale, right, top),
            270: (0.0, -scale, scale, 0.0, left, top),
        }[self.rotation]
        a, b, c, d, e, f = placed
        g, h, i, j, k, m = turned
        return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def crop_box(page: pikepdf.Page) -> tuple[float, float, float, float]:
    """What is shown of a page: the crop box within the media box, its corners in order."""
    media = _box(page.obj.get(Name.MediaBox)) or (0.0, 0.0, 612.0, 792.0)
    crop = _box(page.obj.get(Name.CropBox)) or media
    left, bottom, right, top = (
        max(crop[0], media[0]), max(crop[1], media[1]), min(crop[2], media[2]), min(crop[3], media[3]),
    )  # fmt: skip
    return (left, bottom, right, top) if left < right and bottom < top else media


def rotation_of(page: pikepdf.Page) -> int:
    rotation = page.obj.get(Name.Rotate)
    return int(rotation) % 360 if isinstance(rotation, int) and rotation % 90 == 0 else 0


def _unit_of(page: pikepdf.Page) -> float:
    unit = page.obj.get(Name("/UserUnit"))
    return float(unit) if unit is not None and 0 < float(unit) < 100_000 else 1.0


def _box(value: object) -> tuple[float, float, float, float] | None:
    if not isinstance(value, Array) or len(value) != 4:
        return None
    x0, y0, x1, y1 = (float(number) for number in value)
    found = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    return found if found[0] < found[2] and found[1] < found[3] else None
