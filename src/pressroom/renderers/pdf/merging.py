"""Several files into one, with an outline, a contents page, running page numbers and stamps."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import MEDIA_TYPES, Notice, Rendered
from pressroom.renderers.pdf import bookmarks, labels
from pressroom.renderers.pdf.annotations import active_content_notice, clean_annotations
from pressroom.renderers.pdf.beside_pages import BesidePages
from pressroom.renderers.pdf.bookmarks import Bookmark
from pressroom.renderers.pdf.destinations import Destination, NamedDestinations
from pressroom.renderers.pdf.geometry import ShownPage, top_of
from pressroom.renderers.pdf.labels import ContentsEntry, Printer
from pressroom.renderers.pdf.names import NameTable
from pressroom.renderers.pdf.options import DocumentEntry, PdfOptions
from pressroom.renderers.pdf.parts import Part, StreamCheck, blaming, check_warnings, require_plain
from pressroom.renderers.pdf.placing import PageLabels

# The date that is written into every PDF: a clock would make two renders of the same source differ.
_DATE = "D:20000101000000Z"
_MAX_NOTICES = 100


@dataclass
class MergedDocument:
    """One of the files in the merged one. Pages count from 0."""

    entry: DocumentEntry
    title: str
    first: int
    pages: int
    outline: list[Bookmark]


class Merger:
    def __init__(self, printer: Printer, options: PdfOptions, max_pages: int) -> None:
        self._printer = printer
        self._options = options
        self._max_pages = max_pages
        self._notices: list[Notice] = []
        self._names = NameTable()
        self._streams = StreamCheck()
        self._removed = 0  # scripts and actions

    def merge(self, parts: Sequence[Part]) -> Rendered:
        require_plain(parts)
        entries = self._entries(parts)
        with pikepdf.new() as pdf:
            beside = BesidePages(pdf)
            documents = [self._add(pdf, part, entry, beside) for part, entry in zip(parts, entries, strict=True)]
            self._notices += active_content_notice(self._removed)
            with blaming(None):
                self._streams.check_copies(pdf, parts)
                data, details = self._finish(pdf, parts, documents, beside)
        for part in parts:  # what only its writing has read
            check_warnings(part)
        return Rendered(data, MEDIA_TYPES["pdf"], self._notices[:_MAX_NOTICES], details)

    def _finish(
        self, pdf: pikepdf.Pdf, parts: Sequence[Part], documents: Sequence[MergedDocument], beside: BesidePages
    ) -> tuple[bytes, dict[str, Any]]:
        contents = self._add_contents(pdf, documents) if self._options.contents else 0
        self._names.write(pdf, contents)
        beside.write()
        self._write_outline(pdf, documents, contents)
        self._add_stamps(pdf, documents)
        if self._options.page_numbers:
            self._add_numbers(pdf)
        self._describe(pdf)
        return self._save(pdf, parts), self._details(pdf, documents, contents)

    def _entries(self, parts: Sequence[Part]) -> Sequence[DocumentEntry]:
        given = self._options.documents
        if given and len(given) != len(parts):
            entries = f"{len(given)} entries for {len(parts)} PDF files"
            raise SourceInvalid(f"option documents: there are {entries}; give one for each, or none")
        return given or [DocumentEntry()] * len(parts)

    def _add(self, pdf: pikepdf.Pdf, part: Part, entry: DocumentEntry, beside: BesidePages) -> MergedDocument:
        source, first = part.opened, len(pdf.pages)
        with blaming(part.number):
            pages = list(source.pages)
            named = NamedDestinations(source, pages)
            outline = bookmarks.read_bookmarks(source, named)
            self._streams.check_pages(part, pages)
            for page in pages:
                pdf.pages.append(page)
            copied = [pdf.pages[first + number] for number in range(len(pages))]
            self._copy_form(pdf, part, pages, copied)
            self._removed += clean_annotations(copied, self._names.add(named, first))
            self._notices += beside.add(part.number, source)
            title = entry.title or own_title(source) or f"Document {part.number}"
            self._notices += check_warnings(part)
        return MergedDocument(entry, title, first, len(pages), bookmarks.moved(outline, first))

    def _copy_form(self, pdf: pikepdf.Pdf, part: Part, pages: Sequence[pikepdf.Page], copied: Sequence[pikepdf.Page]) -> None:
        """The fields on the pages become fields of the merged form. One whose name is taken gets another."""
        form = part.opened.acroform
        if not form.exists:
            return
        for page, copy in zip(pages, copied, strict=True):
            names = [field.fully_qualified_name for field in form.get_form_fields_for_page(page)]
            pdf.acroform.fix_copied_annotations(copy, page, form)
            after = [field.fully_qualified_name for field in pdf.acroform.get_form_fields_for_page(copy)]
            for old, new in zip(names, after, strict=False):
                if old is not None and new is not None and old != new:
                    renamed = (
                        f"the form field {old[:100]!r} is now {new[:100]!r}, as an earlier document has a field of this name"
                    )
                    self._notices.append(Notice("field_renamed", f"part {part.number}: {renamed}"))

    def _add_contents(self, pdf: pikepdf.Pdf, documents: Sequence[MergedDocument]) -> int:
        """Put the contents in front, and return how many pages they take, which all page numbers in them depend on."""
        first = ShownPage.of(pdf.pages[0])
        paper = (min(first.width, first.height), max(first.width, first.height))
        count = 1
        for _ in range(4):
            entries = [ContentsEntry(one.title, one.entry.state, one.first + count + 1) for one in documents]
            printed = labels.print_contents(self._printer, entries, self._options.contents_title, paper, self._options.lang)
            if len(printed.pages) == count:
                break
            count = len(printed.pages)
        if len(pdf.pages) + count > self._max_pages:
            raise TooLarge(f"with its contents the document has more than {self._max_pages:,} pages")
        for number, page in enumerate(printed.pages):
            pdf.pages.insert(number, page)
        for document in documents:
            document.first += count
            document.outline = bookmarks.moved(document.outline, count)
        self._link_contents(pdf, documents, count)
        return count

    @staticmethod
    def _link_contents(pdf: pikepdf.Pdf, documents: Sequence[MergedDocument], count: int) -> None:
        pages = list(pdf.pages)
        objects = [page.obj for page in pages]
        for page in objects[:count]:
            for link in page.get("/Annots") or ():
                document = documents[int(str(link.A.URI).removeprefix(labels.LINK))]
                del link.A
                link.Dest = top_of(pages, document.first).as_array(objects)

    def _write_outline(self, pdf: pikepdf.Pdf, documents: Sequence[MergedDocument], contents: int) -> None:
        pages = list(pdf.pages)
        outline = [Bookmark(self._options.contents_title, Destination(0))] if contents else []
        for one in documents:
            if one.entry.title or contents:
                outline.append(Bookmark(one.title, top_of(pages, one.first), children=one.outline))
            else:
                outline += one.outline
        bookmarks.write_bookmarks(pdf, outline)

    def _add_stamps(self, pdf: pikepdf.Pdf, documents: Sequence[MergedDocument]) -> None:
        texts = [self._options.stamp] * len(pdf.pages)
        for one in documents:
            text = self._options.stamps.get(one.entry.state, self._options.stamp)
            texts[one.first : one.first + one.pages] = [text] * one.pages
        put = PageLabels(pdf)
        forms: dict[str, tuple[Any, float]] = {}
        for page, text in zip(pdf.pages, texts, strict=True):
            if not text.strip():
                continue
            if text not in forms:
                printed, width = labels.print_stamp(self._printer, text)
                forms[text] = (pdf.copy_foreign(printed.pages[0].as_form_xobject()), width)
            put.add_stamp(page, *forms[text], behind=self._options.stamp_behind)

    def _add_numbers(self, pdf: pikepdf.Pdf) -> None:
        printed = labels.print_numbers(self._printer, len(pdf.pages))
        put = PageLabels(pdf)
        for page, number in zip(pdf.pages, printed.pages, strict=True):
            put.add_number(page, pdf.copy_foreign(number.as_form_xobject()))
        pdf.Root.PageLabels = Dictionary(Nums=Array([0, Dictionary(S=Name.D)]))

    def _describe(self, pdf: pikepdf.Pdf) -> None:
        info = pdf.docinfo
        if self._options.title:
            info.Title = String(self._options.title)
            pdf.Root.ViewerPreferences = Dictionary(DisplayDocTitle=True)
        info.Creator, info.Producer = String("Pressroom"), String("Pressroom")
        info.CreationDate, info.ModDate = String(_DATE), String(_DATE)
        if self._options.lang:
            pdf.Root.Lang = String(self._options.lang)

    def _details(self, pdf: pikepdf.Pdf, documents: Sequence[MergedDocument], contents: int) -> dict[str, Any]:
        listed = [{"title": one.title, "page": one.first + 1, "pages": one.pages} for one in documents]
        details: dict[str, Any] = {"pages": len(pdf.pages), "contents_pages": contents, "documents": listed}
        return details | ({"title": self._options.title} if self._options.title else {})

    @staticmethod
    def _save(pdf: pikepdf.Pdf, parts: Sequence[Part]) -> bytes:
        stream = BytesIO()
        pdf.save(
            stream,
            deterministic_id=True,
            min_version=max(part.opened.pdf_version for part in parts),
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            # A stream stays as it is packed: nothing is unpacked that a viewer may never show.
            stream_decode_level=pikepdf.StreamDecodeLevel.none,
        )
        return stream.getvalue()


def own_title(pdf: pikepdf.Pdf) -> str:
    info = pdf.trailer.get("/Info")
    title = info.get("/Title") if isinstance(info, Dictionary) else None
    return " ".join(str(title).split())[: bookmarks.MAX_TITLE] if isinstance(title, String) else ""
