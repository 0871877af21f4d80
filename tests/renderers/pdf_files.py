"""PDF files for the tests of the engine that merges them: printed ones, and such as are written byte by byte."""

import io
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
import pikepdf

from pressroom.renderers import Rendered
from pressroom.renderers.html import Html, HtmlOptions
from pressroom.renderers.pdf import pack_pdfs
from pressroom.renderers.pdf.engine import Pdf

CATALOGUE = b"<</Type/Catalog/Pages 2 0 R%s>>"
ONE_PAGE = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
PAGE = b"<</Type/Page/Parent 2 0 R/Resources<<>>/MediaBox[0 0 200 100]%s>>"
HELLO = Pdf.sample.encode()


@cache
def engine() -> Pdf:
    return Pdf()


@cache
def printer() -> Html:
    return Html()


def make(parts: Sequence[bytes], output: str = "pdf", **options: Any) -> Rendered:
    rendered = engine().render(pack_pdfs(parts), output, msgspec.convert(options, Pdf.Options))
    if output == "pdf":
        assert problems_of(rendered.data) == []
    return rendered


def problems_of(pdf: bytes) -> list[str]:
    """What `qpdf --check` finds in a file."""
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        return [str(problem) for problem in opened.check_pdf_syntax()]


def print_pages(name: str, pages: int, **options: Any) -> bytes:
    """Each page has a heading and a link by name to the last one; the names are the same in every file."""
    body = "".join(
        f"<h1 id='s{number}' style='break-before: page'>{name} {number}</h1><p><a href='#s{pages}'>last</a>"
        f" <a href='https://example.org/{name}'>out</a></p>"
        for number in range(1, pages + 1)
    )
    source = f"<html lang='en'><title>{name}</title>{body}</html>"
    return printer().render(source, "pdf", msgspec.convert(options, HtmlOptions)).data


def blank(width: float = 595, height: float = 842, rotation: int = 0, box: Sequence[float] | None = None) -> bytes:
    """An empty page. `box` is what is shown of it."""
    with pikepdf.new() as pdf:
        page = pdf.add_blank_page(page_size=(width, height))
        page.obj.Rotate = rotation
        if box:
            page.obj.CropBox = list(box)
        return saved(pdf)


def saved(pdf: pikepdf.Pdf, **options: Any) -> bytes:
    stream = io.BytesIO()
    pdf.save(stream, **options)
    return stream.getvalue()


def raw(objects: Sequence[bytes]) -> bytes:
    """A file of these objects, numbered from 1; the first is its catalogue."""
    pdf, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(pdf))
        pdf += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(pdf)
    pdf += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    pdf += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    pdf += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(pdf)


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(data), data)


@cache
def bomb(megabytes: int) -> bytes:
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(megabytes)) + packer.flush()


def deep_outline(depth: int) -> bytes:
    """Each bookmark is inside of the one before."""
    items = [
        b"<</Title(b%d)/Parent %d 0 R/First %d 0 R/Last %d 0 R/Count 1/Dest[3 0 R/Fit]>>" % (n, n + 4, n + 6, n + 6)
        for n in range(depth)
    ]
    root = b"<</First 5 0 R/Last 5 0 R/Count 1>>"
    return raw([CATALOGUE % b"/Outlines 4 0 R", ONE_PAGE, PAGE % b"", root, *items, b"<</Title(end)/Parent 4 0 R>>"])


def with_field(name: str) -> bytes:
    """A page with one text field in a form."""
    field = b"<</Type/Annot/Subtype/Widget/FT/Tx/T(%s)/V(x)/Rect[10 10 90 30]/P 3 0 R/F 4>>" % name.encode()
    return raw([CATALOGUE % b"/AcroForm<</Fields[4 0 R]>>", ONE_PAGE, PAGE % b"/Annots[4 0 R]", field])
