"""What our HTML printer adds to a merged file: the contents page, page numbers and stamps, in every script of our fonts.

Numbers and stamps are printed on small pages of their own, which are put on the pages of the documents: over the foot, and
across the middle, as a reader sees them, whatever size and rotation a page has.
"""

import html
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import pikepdf

from pressroom.errors import EngineMissing
from pressroom.renderers.fonts import textwidth
from pressroom.renderers.html import Html

NUMBER_WIDTH, NUMBER_HEIGHT = 200.0, 12.0  # points
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
        if missing := Html.missing():  # merging needs it for nothing else, and it has no wheel for some machines
            wanted = "contents, page numbers and stamps are printed by the engine html"
            raise EngineMissing(f"{wanted}, which cannot work here: {missing.what}; to mend it: {missing.install}")
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
        " body { font: 11pt 'Liberation Sans'; color: #1c2024; margin: 0; font-variant-ligatures: none }"
        " h1 { font-size: 20pt; margin: 0 0 18pt }"
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
    width = max(textwidth.text_width(text, bold=True), 1.0) * STAMP_SIZE + STAMP_SIZE
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
