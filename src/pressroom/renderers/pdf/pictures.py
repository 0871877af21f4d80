"""Pages as pictures, by pdfium with our fonts and no others."""

import ctypes
from collections.abc import Sequence
from io import BytesIO

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
from PIL import Image, ImageChops

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import MEDIA_TYPES, Limits, Rendered, fonts
from pressroom.renderers.pdf.parts import Part, blaming

DEFAULT_SCALE = 96 / 72
SAME = 32  # of 255: two greys that differ by less look the same; a line that moved by a tenth of a pixel is no change

_font_folders = (ctypes.c_char_p * 2)(str(fonts.FOLDER).encode(), None)  # pdfium keeps the address


def use_own_fonts() -> None:
    """By default pdfium draws a font that a file lacks with what the machine has, and the same file differs by machine."""
    pdfium.FPDF_DestroyLibrary()
    folders = ctypes.cast(_font_folders, ctypes.POINTER(ctypes.POINTER(ctypes.c_char)))
    config = pdfium.FPDF_LIBRARY_CONFIG(version=2, m_pUserFontPaths=folders, m_pIsolate=None, m_v8EmbedderSlot=0)
    pdfium.FPDF_InitLibraryWithConfig(config)


def draw_page(parts: Sequence[Part], page: int, width: int | None, limits: Limits) -> Rendered:
    """A page by its number from 1, counted through all parts."""
    total = sum(part.page_count for part in parts)
    if page > total:
        raise SourceInvalid(f"option page: there is no page {page:,}; there are {total:,}")
    before = 0
    for part in parts:
        if page <= before + part.page_count:
            break
        before += part.page_count
    picture = _draw(part, page - before, width, limits)
    assert picture is not None
    return _rendered(picture, {"pages": total})


def overlay_page(parts: Sequence[Part], page: int, width: int | None, limits: Limits) -> Rendered:
    """Page N of two files in one picture: what only the first has is red, what only the second has green."""
    first, second = parts
    total = max(first.page_count, second.page_count)
    if page > total:
        raise SourceInvalid(f"option page: there is no page {page:,}; there are {total:,}")
    drawn = [_draw(part, page, width, limits) for part in parts]
    there = [picture for picture in drawn if picture is not None]
    size = (max(picture.width for picture in there), max(picture.height for picture in there))
    old, new = (_on_paper(picture, size) for picture in drawn)
    changed = sum(ImageChops.difference(old, new).histogram()[SAME:]) / (size[0] * size[1])
    picture = Image.merge("RGB", (new, old, ImageChops.darker(old, new)))
    return _rendered(picture, {"pages": total, "changed": round(changed, 6)})


def _on_paper(picture: Image.Image | None, size: tuple[int, int]) -> Image.Image:
    paper = Image.new("L", size, 255)
    if picture is not None:
        paper.paste(picture.convert("L"))
    return paper


def _draw(part: Part, number: int, width: int | None, limits: Limits) -> Image.Image | None:
    if number > part.page_count:
        return None
    with blaming(part.number):
        document = pypdfium2.PdfDocument(part.data)
        try:
            document.init_forms()
            page = document[number - 1]
            wide, high = page.get_size()
            scale = width / wide if width else DEFAULT_SCALE
            if max(wide, high) * scale > limits.side or wide * high * scale * scale > limits.pixels:
                raise TooLarge(f"the picture would have {wide * scale:,.0f} by {high * scale:,.0f} pixels")
            picture: Image.Image = page.render(scale=scale).to_pil()
            return picture.convert("RGB")
        finally:
            document.close()


def _rendered(picture: Image.Image, details: dict[str, float]) -> Rendered:
    stream = BytesIO()
    picture.save(stream, "PNG")
    return Rendered(stream.getvalue(), MEDIA_TYPES["png"], (), {"width": picture.width, "height": picture.height, **details})
