"""What is in PDF files: their text, and as JSON their pages, titles and outlines. Two of them compared by their text."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pypdfium2  # type: ignore[import-untyped]
from pikepdf import Name, String

from pressroom.renderers import MEDIA_TYPES, Rendered
from pressroom.renderers.pdf import bookmarks
from pressroom.renderers.pdf.destinations import NamedDestinations
from pressroom.renderers.pdf.geometry import ShownPage
from pressroom.renderers.pdf.merging import own_title
from pressroom.renderers.pdf.parts import Part, blaming


def extract_text(parts: Sequence[Part]) -> Rendered:
    """The text of all pages, a form feed between two of them."""
    pages = [page for part in parts for page in page_texts(part)]
    return Rendered("\f".join(pages).encode(), MEDIA_TYPES["txt"], (), {"pages": len(pages)})


def describe(parts: Sequence[Part], *, with_text: bool) -> Rendered:
    described = [_describe_part(part, with_text=with_text) for part in parts]
    pages = sum(part.page_count for part in parts)
    return _json({"page_count": pages, "parts": described}, pages)


def compare(parts: Sequence[Part]) -> Rendered:
    """The text of two files, page beside page. A page that one of them lacks is null there."""
    before, after = (page_texts(part) for part in parts)
    count = max(len(before), len(after))
    rows = []
    for number in range(count):
        old = before[number] if number < len(before) else None
        new = after[number] if number < len(after) else None
        rows.append({"page": number + 1, "same": old == new, "before": old, "after": new})
    compared = {"same": all(row["same"] for row in rows), "page_counts": [len(before), len(after)], "pages": rows}
    return _json(compared, count)


def page_texts(part: Part) -> list[str]:
    with blaming(part.number):
        document = pypdfium2.PdfDocument(part.data)
        try:
            return [_text_of(page) for page in document]
        finally:
            document.close()


def _text_of(page: pypdfium2.PdfPage) -> str:
    text: str = page.get_textpage().get_text_bounded()
    page.close()
    return text.replace("\r\n", "\n").replace("\f", " ").replace("\0", "")


def _describe_part(part: Part, *, with_text: bool) -> dict[str, Any]:
    if part.pdf is None:
        return {"encrypted": True, "needs_password": True, "pages": []}
    with blaming(part.number):
        pdf = part.pdf
        lang = pdf.Root.get(Name.Lang)
        outline = bookmarks.read_bookmarks(pdf, NamedDestinations(pdf, pdf.pages))
        pages: list[dict[str, Any]] = []
        for page in pdf.pages:
            shown = ShownPage.of(page)
            pages.append({"width": round(shown.width, 2), "height": round(shown.height, 2), "rotation": shown.rotation})
        if with_text:
            for described, text in zip(pages, page_texts(part), strict=True):
                described["text"] = text
        return {
            "title": own_title(pdf),
            "lang": str(lang) if isinstance(lang, String) else "",
            "version": pdf.pdf_version,
            "encrypted": pdf.is_encrypted,
            "needs_password": False,
            "pages": pages,
            "outline": [
                {"title": one.title, "depth": depth, "page": None if one.target is None else one.target.page + 1}
                for depth, one in bookmarks.flat(outline)
            ],
        }


def _json(value: dict[str, Any], pages: int) -> Rendered:
    return Rendered(msgspec.json.encode(value), MEDIA_TYPES["json"], (), {"pages": pages})
