"""HTML to PDF and PNG as Chromium draws it: CSS grid, tags and an outline, at the price of a browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pressroom.errors import EngineCrashed, SourceInvalid, TooLarge
from pressroom.renderers import MEDIA_TYPES, Engine, Missing, Notice, Rendered, fonts
from pressroom.renderers.browser import binary as browser_binary
from pressroom.renderers.browser import pdf_bytes
from pressroom.renderers.browser.browser import PAGE_LIMITS, Browser
from pressroom.renderers.browser.options import DocumentOptions, inches, pixels
from pressroom.renderers.browser.page import BrowserPage
from pressroom.renderers.browser.screenshot import content_size, set_viewport, take_screenshot

_HERE = Path(__file__).parent
CLEAN = (_HERE / "clean.js").read_text(encoding="utf-8")
TEMPLATE = (_HERE / "template.js").read_text(encoding="utf-8")

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline' data:; img-src data:; font-src data:; media-src data:; "
    "base-uri 'none'; form-action 'none'; webrtc 'block'"
)
SCRIPTS_TOO = "; script-src 'unsafe-inline'"
PAGE_NUMBERS = '<div style="text-align: center">{page} / {pages}</div>'
LARGEST_PRINT = 2.0  # Chromium refuses more
WINDOW = ("1280px", "800px")


class HtmlBrowser(Engine):
    name = "html-browser"
    title = "HTML, drawn by Chromium"
    takes = "html"
    makes = ("pdf", "png")
    sample = "<!DOCTYPE html><html lang=en><title>Hello</title><h1>Hello</h1>"
    Options = DocumentOptions
    limits = PAGE_LIMITS

    def __init__(self, browser: Browser | None = None) -> None:
        self._browser = browser or Browser()

    @classmethod
    def version(cls) -> str:
        return f"{browser_binary.version()}, {fonts.fonts_version()}, edition {cls.edition}"

    @classmethod
    def missing(cls) -> Missing | None:
        return browser_binary.missing()

    @classmethod
    def reads(cls) -> Sequence[Path]:
        return browser_binary.readable_paths()

    @classmethod
    def writes(cls) -> Sequence[Path]:
        return browser_binary.writable_paths()

    @classmethod
    def environment(cls) -> dict[str, str]:
        return browser_binary.chromium_environment()

    def render(self, source: str, output: str, options: DocumentOptions) -> Rendered:
        written = source.encode(errors="replace")  # half of a surrogate pair cannot be sent
        if len(written) > self.limits.source:
            raise TooLarge(f"the source has {len(written):,} bytes; the limit is {self.limits.source:,}")
        with self._browser.page(self.limits.seconds, scripts=options.javascript) as page:
            learned = self._show(page, written.decode(), options)
            page.call("Emulation.setEmulatedMedia", media=options.media or ("screen" if output == "png" else "print"))
            details: dict[str, Any] = {"title": learned["title"], "lang": learned["lang"]}
            if output == "png":
                data = self._screenshot(page, options)
            else:
                data, details["pages"] = self._make_deterministic(self._print(page, learned["title"], options))
            return Rendered(data, MEDIA_TYPES[output], [*page.notices, *_accessibility_notices(learned)], details)

    def close(self) -> None:
        self._browser.close()

    def _show(self, page: BrowserPage, source: str, options: DocumentOptions) -> dict[str, Any]:
        policy = POLICY + SCRIPTS_TOO if options.javascript else POLICY
        wanted = {"title": options.title, "lang": options.lang, "scripts": options.javascript}
        learned: dict[str, Any] = page.run(CLEAN, source, policy, wanted)
        for address in learned["removed"]:
            page.record_refused_url(address)
        page.show(learned["html"])
        return learned

    def _print(self, page: BrowserPage, title: str, options: DocumentOptions) -> bytes:
        if options.scale > LARGEST_PRINT:
            raise SourceInvalid(f"option: scale: a PDF is printed at {LARGEST_PRINT:g} at most; only a PNG can be larger")
        header, footer = self._header_and_footer(page, title, options)
        width, height = options.paper
        return page.stream(
            "Page.printToPDF",
            self.limits.output,
            paperWidth=width,
            paperHeight=height,
            marginTop=inches(options.margin_top),
            marginRight=inches(options.margin_right),
            marginBottom=inches(options.margin_bottom),
            marginLeft=inches(options.margin_left),
            displayHeaderFooter=bool(header or footer),
            headerTemplate=header or "<span></span>",  # an empty one would be the printer's own, with the date of today
            footerTemplate=footer or "<span></span>",
            printBackground=options.background,
            preferCSSPageSize=options.css_page_size,
            scale=options.scale,
            generateTaggedPDF=options.tagged,
            generateDocumentOutline=options.outline,
        )

    def _header_and_footer(self, page: BrowserPage, title: str, options: DocumentOptions) -> tuple[str, str]:
        style = (
            f"box-sizing: border-box; width: 100%; padding: 0 {options.margin_right} 0 {options.margin_left}; "
            f"font: 11px/1.3 '{fonts.SANS}', sans-serif; color: #444"
        )
        fields = {"title": title, "date": options.date, "style": style}
        footer = options.footer or (PAGE_NUMBERS if options.page_numbers else "")
        made = [page.run(TEMPLATE, template, fields) if template else "" for template in (options.header, footer)]
        return made[0], made[1]

    def _make_deterministic(self, pdf: bytes) -> tuple[bytes, int]:
        try:
            count, tidy = pdf_bytes.count_pages(pdf), pdf_bytes.make_deterministic(pdf)
        except (pdf_bytes.NotAPdf, ValueError) as reason:
            raise EngineCrashed(f"Chromium made a PDF that cannot be read: {reason}") from None
        if count > self.limits.pages:
            raise TooLarge(f"the document has {count:,} pages; the limit is {self.limits.pages:,}")
        return tidy, count

    def _screenshot(self, page: BrowserPage, options: DocumentOptions) -> bytes:
        width, height = (float(pixels(side)) for side in (options.width or WINDOW[0], options.height or WINDOW[1]))
        set_viewport(page, self.limits, width, height, options.scale)
        if options.full_page:
            width, height = content_size(page, width)
        return take_screenshot(page, self.limits, width, height, options.scale, white=options.background)


def _accessibility_notices(learned: dict[str, Any]) -> list[Notice]:
    """What a reader who does not see the page will miss."""
    remarks = []
    if not learned["lang"]:
        remarks.append(Notice("no_lang", "the document does not say its language: add <html lang=…> or the option lang"))
    if not learned["title"]:
        remarks.append(Notice("no_title", "the document has no title: add <title> or the option title"))
    if count := learned["withoutAlt"]:
        remarks.append(Notice("no_alt", f"{count} picture{'s' if count > 1 else ''} without a description: add alt=…"))
    return remarks
