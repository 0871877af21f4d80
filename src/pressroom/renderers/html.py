"""HTML to PDF without a browser, by PlutoPrint. No scripts run, nothing is fetched; CSS grid is not understood."""

import base64
import binascii
import io
import re
import urllib.parse
from typing import Annotated, Any, Literal

import msgspec

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import MB, MEDIA_TYPES, Engine, Limits, Notice, Rendered
from pressroom.renderers.source_errors import line_and_column

type Length = Annotated[str, msgspec.Meta(pattern=r"^\d{1,4}(\.\d{1,3})?(mm|cm|in|pt|px)$")]

# The date that is written into every PDF: a clock would make two renders of the same source differ.
_DATE = "2000-01-01T00:00:00Z"

# A document needs an address of its own for links inside it to work. This one is reserved, and leads nowhere.
_NOWHERE = "http://document.invalid/"

_GRID = re.compile(r"display\s*:\s*(inline-)?grid", re.IGNORECASE)
# None of these looks past the next "<": a document of "<img <img <img" would be read once for each of them.
_PICTURE = re.compile(r"<img\b(?![^<>]*\balt\s*=)[^<>]*>", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^<>]*>([^<]*)</title>", re.IGNORECASE)
_LANG = re.compile(r"<html\b[^<>]*\blang\s*=", re.IGNORECASE)


class HtmlOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A header or footer is text; {page}, {pages} and {title} are filled in. A document's own @page goes before these."""

    page: Literal["A3", "A4", "A5", "Letter", "Legal"] = "A4"
    landscape: bool = False
    margin_top: Length = "20mm"
    margin_right: Length = "15mm"
    margin_bottom: Length = "20mm"
    margin_left: Length = "15mm"
    header: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    footer: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    page_numbers: bool = False
    title: Annotated[str, msgspec.Meta(max_length=1_000)] = ""


class Html(Engine):
    name = "html"
    title = "HTML"
    takes = "html"
    makes = ("pdf", "png")
    sample = "<!DOCTYPE html><html lang='en'><title>Hello</title><p>Hello</p></html>"
    Options = HtmlOptions
    limits = Limits(source=10 * MB, output=50 * MB, seconds=60, memory=1024 * MB)
    packages = ("plutoprint",)
    uses_fonts = True

    def __init__(self) -> None:
        import plutoprint

        self._pluto = plutoprint
        self._fetcher = _make_fetcher_class(plutoprint)

    def render(self, source: str, output: str, options: HtmlOptions) -> Rendered:
        if not source.strip():
            raise SourceInvalid("the source is empty")
        title = options.title or _title_of(source)
        warnings = [*_find_warnings(source, title)]
        book = self._pluto.Book(media=self._pluto.MEDIA_TYPE_PRINT)
        fetcher = self._fetcher()
        book.custom_resource_fetcher = fetcher
        try:
            sheet = _page_style(options, title or "") + (_PAPER if output == "png" else "")
            book.load_html(_repair_source(source), user_style=sheet, base_url=_NOWHERE)
            pages = book.get_page_count()
        except self._pluto.Error as reason:
            raise SourceInvalid(f"the page cannot be laid out: {str(reason)[:300]}") from None
        if pages > self.limits.pages:
            raise TooLarge(f"the document has {pages:,} pages; the limit is {self.limits.pages:,}")
        warnings += fetcher.notices
        data = self._pdf(book, title) if output == "pdf" else self._png(book)
        return Rendered(data, MEDIA_TYPES[output], warnings, {"pages": pages, **({"title": title} if title else {})})

    def print_own_page(self, source: str) -> bytes:
        """The PDF of a page of ours, which says the size of its paper: that of a style that is added would win over it."""
        book = self._pluto.Book(media=self._pluto.MEDIA_TYPE_PRINT)
        book.custom_resource_fetcher = self._fetcher()
        book.load_html(source, base_url=_NOWHERE)
        return self._pdf(book, None)

    def _pdf(self, book: Any, title: str | None) -> bytes:
        pluto = self._pluto
        if title:
            book.set_metadata(pluto.PDF_METADATA_TITLE, title)
        book.set_metadata(pluto.PDF_METADATA_CREATOR, "Pressroom")
        book.set_metadata(pluto.PDF_METADATA_CREATION_DATE, _DATE)
        book.set_metadata(pluto.PDF_METADATA_MODIFICATION_DATE, _DATE)
        stream = io.BytesIO()
        book.write_to_pdf_stream(stream)
        return stream.getvalue()

    def _png(self, book: Any) -> bytes:
        width, height = book.get_document_width(), book.get_document_height()
        if max(width, height) > self.limits.side or width * height > self.limits.pixels:
            raise TooLarge(f"the picture would have {width:,.0f} by {height:,.0f} pixels")
        stream = io.BytesIO()
        book.write_to_png_stream(stream)
        return stream.getvalue()


def _page_style(options: HtmlOptions, title: str) -> str:
    margins = f"{options.margin_top} {options.margin_right} {options.margin_bottom} {options.margin_left}"
    orientation = " landscape" if options.landscape else ""
    boxes = ""
    if options.header:
        boxes += f"@top-center {{ content: {_css_content(options.header, title)}; {_SMALL} }}\n"
    footer = options.footer or ("{page} / {pages}" if options.page_numbers else "")
    if footer:
        boxes += f"@bottom-center {{ content: {_css_content(footer, title)}; {_SMALL} }}\n"
    return f"@page {{ size: {options.page}{orientation}; margin: {margins};\n{boxes}}}\n"


_PAPER = ":root { background-color: #ffffff }\n"  # a picture has none of its own
_SMALL = 'font: 9pt "Liberation Sans", sans-serif; color: #555555'


def _css_content(template: str, title: str) -> str:
    parts = []
    for part in re.split(r"(\{page\}|\{pages\}|\{title\})", template):
        match part:
            case "":
                continue
            case "{page}":
                parts.append("counter(page)")
            case "{pages}":
                parts.append("counter(pages)")
            case "{title}":
                parts.append(_css_string(title))
            case text:
                parts.append(_css_string(text))
    return " ".join(parts)


def _css_string(text: str) -> str:
    """A CSS string. Everything that could end it is written as an escape."""
    safe = "".join(character if character.isalnum() or character in " .,-" else f"\\{ord(character):x} " for character in text)
    return f'"{safe}"'


def _find_warnings(source: str, title: str | None) -> list[Notice]:
    warnings = []
    if title is None:
        warnings.append(Notice("no_title", "the document has no title; add <title>, or set `title`"))
    if not _LANG.search(source):
        warnings.append(Notice("no_lang", 'the document names no language; add lang="en", or whatever it is, to <html>'))
    for match in list(_PICTURE.finditer(source))[:20]:
        line, column = line_and_column(source, match.start())
        warnings.append(Notice("no_alt", "a picture has no text for those who cannot see it", line, column))
    if grid := _GRID.search(source):
        line, column = line_and_column(source, grid.start())
        message = "this engine does not know CSS grid; the engine html-browser does"
        warnings.append(Notice("unsupported_css", message, line, column))
    return warnings


def _title_of(source: str) -> str | None:
    match = _TITLE.search(source)
    return None if match is None else match[1].strip() or None


def _make_fetcher_class(pluto: Any) -> Any:
    """A fetcher class that knows only what the document carries inside itself."""

    class Fetcher(pluto.ResourceFetcher):  # type: ignore[misc]
        def __init__(self) -> None:
            self.notices: list[Notice] = []

        def fetch_url(self, url: str) -> Any:
            if url.lower().startswith("data:"):
                return _decode_data_url(pluto, url)
            if len(self.notices) < 20:
                self.notices.append(
                    Notice("blocked_fetch", f"{url[:200]!r} was not fetched: a document must carry what it shows")
                )
            raise ValueError("not fetched")

    return Fetcher


# A dash pattern of zeros alone, which SVG reads as no dashes, stops the library from drawing the rest of the document.
# Nothing is taken back once it is read: "0.0" can be read as one zero or as two, and thirty of them in a billion ways.
_ZERO_DASHES = re.compile(r"""(stroke-dasharray\s*+[:=]\s*+["']?)(?:0(?:\.0*+)?+(?:px|pt|%)?+[\s,]*+)++(?=["';}!])""")


_CARRIED_SVG = re.compile(r"(data:image/svg\+xml;base64,)([A-Za-z0-9+/=]+)")


def _repair_source(source: str) -> str:
    """Also inside pictures that the document carries: the library reads those without asking the fetcher."""
    return _CARRIED_SVG.sub(_repair_embedded_svg, _without_bad_dashes(source.replace("\0", "\N{REPLACEMENT CHARACTER}")))


def _repair_embedded_svg(match: re.Match[str]) -> str:
    try:
        markup = base64.b64decode(match[2], validate=True).decode()
    except ValueError:
        return match[0]
    mended = _without_bad_dashes(markup)
    return match[0] if mended == markup else match[1] + base64.b64encode(mended.encode()).decode()


def _without_bad_dashes(markup: str) -> str:
    return _ZERO_DASHES.sub(r"\1none", markup) if "dasharray" in markup else markup


def _decode_data_url(pluto: Any, url: str) -> Any:
    head, _, body = url[5:].partition(",")
    kind, *parameters = head.split(";")
    try:
        data = urllib.parse.unquote_to_bytes(body)
        if "base64" in parameters:
            data = base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        data = b""
    return pluto.ResourceData(data, kind or "text/plain", "utf-8")
