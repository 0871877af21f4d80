"""One PDF from several, or a picture, the text or a description of them. By qpdf (pikepdf) and pdfium (pypdfium2)."""

import resource

from pressroom.errors import SourceInvalid
from pressroom.renderers import MB, Engine, Limits, Rendered
from pressroom.renderers.html import Html
from pressroom.renderers.pdf.container import unpack_pdfs
from pressroom.renderers.pdf.options import PdfOptions

# qpdf copies what refers to what by functions that call themselves, about 120 bytes for each object in a chain.
_STACK = 120 * MB


class Pdf(Engine):
    name = "pdf"
    title = "PDF"
    takes = "pdf"
    takes_bytes = True
    makes = ("pdf", "png", "txt", "json")
    sample = (
        "%PDF-1.4\n"
        "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R"
        "/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n"
        "4 0 obj<</Length 34>>stream\nBT /F 24 Tf 20 40 Td (Hello) Tj ET\nendstream endobj\n"
        "xref\n0 5\n0000000000 65535 f \n0000000009 00000 n \n0000000052 00000 n \n0000000101 00000 n \n0000000251 00000 n \n"
        "trailer<</Size 5/Root 1 0 R>>\nstartxref\n331\n%%EOF\n"
    )
    Options = PdfOptions
    limits = Limits(source=100 * MB, output=100 * MB, seconds=60, memory=1024 * MB)
    packages = ("pikepdf", "pypdfium2")
    extra = "packs"
    uses_fonts = True

    @classmethod
    def version(cls) -> str:
        return f"{super().version()}, with {Html.version()}"

    def __init__(self) -> None:
        from pressroom.renderers.pdf import merging, parts, pictures, reading
        from pressroom.renderers.pdf.labels import Printer

        self._merging, self._parts, self._pictures, self._reading = merging, parts, pictures, reading
        self._printer = Printer()
        pictures.use_own_fonts()
        _, most = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (_STACK if most == resource.RLIM_INFINITY else min(_STACK, most), most))

    def render(self, source: bytes, output: str, options: PdfOptions) -> Rendered:
        files = unpack_pdfs(source)
        if (compares := _comparison(output, options)) and len(files) != 2:
            raise SourceInvalid(f"option {compares}: two PDF files are compared, not {len(files)}")
        with self._parts.open_parts(files, self.limits.pages) as parts:
            if output == "pdf":
                return self._merging.Merger(self._printer, options, self.limits.pages).merge(parts)
            if output == "json" and not compares:
                return self._reading.describe(parts, with_text=options.text)
            self._parts.require_plain(parts)
            if output == "json":
                return self._reading.compare(parts)
            if output == "txt":
                return self._reading.extract_text(parts)
            draw = self._pictures.overlay_page if compares else self._pictures.draw_page
            return draw(parts, options.page, options.width, self.limits)


def _comparison(output: str, options: PdfOptions) -> str | None:
    """The option that asks for a comparison."""
    if output == "json" and options.compare:
        return "compare"
    return "overlay" if output == "png" and options.overlay else None
