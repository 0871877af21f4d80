"""The PDF files of a source, opened. A file that is damaged or encrypted is refused with its number."""

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import pikepdf
from pikepdf import Array, Dictionary, Stream

from pressroom.errors import PressroomError, SourceInvalid, TooLarge
from pressroom.renderers import MB, Notice

# What qpdf says begins with the name of the stream that it reads, which is an address in memory.
_STREAM = re.compile(r"^stream <[^>]*>\s*(\([^)]*\))?[:,]?\s*")
# What a reader of the file sees is the same with it and without.
_HARMLESS = re.compile(r"Resources is missing or invalid; repairing|MediaBox is undefined; setting to letter")

MAX_OBJECTS = 500_000  # more of them, one inside of the other, are too deep for the stack that the engine has
MAX_PAGE_CONTENTS = 256 * MB
MAX_CHECKED = 256 * MB  # of one file, unpacked
_CHUNK = 1 * MB
_REMEMBERED = 64 * 1024  # bytes of one stream


@dataclass(frozen=True)
class Part:
    """One of the files. `pdf` is None if it cannot be read without its password."""

    number: int
    data: bytes
    pdf: pikepdf.Pdf | None

    @property
    def opened(self) -> pikepdf.Pdf:
        if self.pdf is None:
            raise SourceInvalid(f"part {self.number} is encrypted; it needs a password")
        return self.pdf

    @property
    def is_encrypted(self) -> bool:
        return self.pdf is None or self.pdf.is_encrypted

    @cached_property
    def page_count(self) -> int:
        if self.pdf is None:
            return 0
        with blaming(self.number):
            tree = self.pdf.Root.get("/Pages")
            named = tree.get("/Count") if isinstance(tree, Dictionary) else None
            found = len(self.pdf.pages)
            if found != named:
                raise SourceInvalid(f"part {self.number} is damaged: it names {named} pages and has {found:,}")
            return found


@contextmanager
def open_parts(files: Sequence[bytes], max_pages: int) -> Iterator[list[Part]]:
    """Raises SourceInvalid for a damaged file, and TooLarge for too many pages."""
    parts: list[Part] = []
    try:
        total = 0
        for number, data in enumerate(files, 1):
            parts.append(part := _open_part(number, data))
            total += part.page_count
            check_warnings(part)
            if part.pdf is not None and not part.page_count:
                raise SourceInvalid(f"part {number} has no pages")
            if total > max_pages:
                raise TooLarge(f"the documents have more than {max_pages:,} pages")
        yield parts
    finally:
        for part in parts:
            if part.pdf is not None:
                part.pdf.close()


def require_plain(parts: Sequence[Part]) -> None:
    """Refuse encrypted files, also those that open without a password: their owner has restricted what may be done."""
    for part in parts:
        if part.is_encrypted:
            raise SourceInvalid(f"part {part.number} is encrypted; save it without a password first")


def _open_part(number: int, data: bytes) -> Part:
    with blaming(number):
        try:
            # Without recovery: a file that was cut off would be merged with the pages that are left, without a warning.
            # What pages inherit is not written into each of them yet, as that also corrects how many there should be.
            pdf = pikepdf.open(BytesIO(data), attempt_recovery=False, inherit_page_attributes=False)
        except pikepdf.PasswordError:
            return Part(number, data, None)
        if (objects := int(pdf.trailer.Size)) > MAX_OBJECTS:
            pdf.close()
            raise TooLarge(f"part {number} has {objects:,} objects; the limit is {MAX_OBJECTS:,}")
        return Part(number, data, pdf)


@contextmanager
def blaming(number: int | None) -> Iterator[None]:
    """Whatever the libraries raise while they read a part is about that part: any value in it may have any type.

    The number is None where it is not known which part it is.
    """
    try:
        yield
    except (PressroomError, MemoryError, RecursionError):
        raise
    except Exception as reason:
        subject = "one of the files" if number is None else f"part {number}"
        raise SourceInvalid(f"{subject} is damaged: {_plain_reason(reason)}") from reason


def _plain_reason(reason: Exception) -> str:
    if isinstance(reason, pikepdf.PdfError):
        return _STREAM.sub("", str(reason))[:300] or "it cannot be read"
    if isinstance(reason, RuntimeError):  # of pdfium, which does not say more
        return "it cannot be read"
    return f"a value in it has the wrong type ({type(reason).__name__})"


def check_warnings(part: Part) -> list[Notice]:
    """What qpdf said while it read the file, since the last call. Raises SourceInvalid unless nothing can be lost by it."""
    notices = []
    for warning in (_STREAM.sub("", str(one)) for one in (part.pdf.get_warnings() if part.pdf is not None else ())):
        if not _HARMLESS.search(warning):
            raise SourceInvalid(f"part {part.number} is damaged: {warning[:300]}")
        notices.append(Notice("repaired", f"part {part.number}: {warning[:300]}"))
    return notices[:20]


class StreamCheck:
    """Unpacks what is copied and throws it away: qpdf copies it as it is, and a viewer would show a page without its text.

    What was unpacked once is not unpacked again: documents of one printer share letterheads and fonts.
    """

    def __init__(self) -> None:
        self._checked: set[bytes] = set()

    def check_pages(self, part: Part, pages: Sequence[pikepdf.Page]) -> None:
        for number, page in enumerate(pages, 1):
            contents = page.obj.get("/Contents")
            for stream in contents if isinstance(contents, Array) else [] if contents is None else [contents]:
                if not isinstance(stream, Stream):
                    raise SourceInvalid(f"part {part.number} is damaged: the contents of page {number} are no stream")
                what = f"the contents of page {number}"
                if self._unpack(part.number, what, stream, MAX_PAGE_CONTENTS) > MAX_PAGE_CONTENTS:
                    raise TooLarge(f"part {part.number}: {what} unpack to more than {MAX_PAGE_CONTENTS // MB} MB")

    def check_copies(self, pdf: pikepdf.Pdf, parts: Sequence[Part]) -> None:
        """All other streams that were copied into a file. Pictures may be large: past a limit the rest is not looked at."""
        try:
            self._check_all(0, pdf, MAX_CHECKED * len(parts))
        except SourceInvalid:
            for part in parts:  # which of them it is
                self._check_all(part.number, part.opened, MAX_CHECKED)
            raise

    def _check_all(self, part: int, pdf: pikepdf.Pdf, left: int) -> None:
        for found in pdf.objects:
            if isinstance(found, Stream) and left > 0:
                left -= self._unpack(part, f"object {found.objgen[0]}", found, left)

    def _unpack(self, part: int, what: str, stream: Stream, limit: int) -> int:
        """How long it is, if it was not unpacked before. Past the limit it does not go on."""
        if not _is_flate(stream):
            return 0
        packed = stream.read_raw_bytes()
        if packed in self._checked:
            return 0
        size = _unpacked_size(part, what, packed, limit)
        if len(packed) <= _REMEMBERED:
            self._checked.add(packed)
        return size


def _is_flate(stream: Stream) -> bool:
    filters = stream.get("/Filter")
    return filters == "/FlateDecode" or (isinstance(filters, Array) and list(filters) == ["/FlateDecode"])


def _unpacked_size(part: int, what: str, packed: bytes, limit: int) -> int:
    """Past the limit it does not go on."""
    unpacker, total = zlib.decompressobj(), 0
    while packed and not unpacker.eof and total <= limit:
        try:
            total += len(unpacker.decompress(packed, _CHUNK))
        except zlib.error as reason:
            raise SourceInvalid(f"part {part} is damaged: {what} cannot be unpacked ({reason})") from None
        packed = unpacker.unconsumed_tail
    return total
