"""The PDF files of a source, opened. A file that is damaged or encrypted is refused with its number."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import pikepdf

from pressroom.errors import PressroomError, SourceInvalid, TooLarge

# What qpdf says begins with the name of the stream that it reads, which is an address in memory.
_STREAM = re.compile(r"^stream <[^>]*>\s*(\([^)]*\))?:?\s*")


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
        with blaming(self.number):
            return 0 if self.pdf is None else len(self.pdf.pages)


@contextmanager
def open_parts(files: Sequence[bytes], max_pages: int) -> Iterator[list[Part]]:
    """Raises SourceInvalid for a damaged file, and TooLarge for too many pages."""
    parts: list[Part] = []
    try:
        total = 0
        for number, data in enumerate(files, 1):
            parts.append(part := _open_part(number, data))
            total += part.page_count
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
            # Without recovery: a file that was cut off would be merged with the pages that are left, and nobody would know.
            return Part(number, data, pikepdf.open(BytesIO(data), attempt_recovery=False))
        except pikepdf.PasswordError:
            return Part(number, data, None)


@contextmanager
def blaming(number: int) -> Iterator[None]:
    """Whatever the libraries raise while they read a part is about that part: any value in it may have any type."""
    try:
        yield
    except (PressroomError, MemoryError, RecursionError):
        raise
    except Exception as reason:
        raise SourceInvalid(f"part {number} is damaged: {_plain_reason(reason)}") from reason


def _plain_reason(reason: Exception) -> str:
    if isinstance(reason, pikepdf.PdfError):
        return _STREAM.sub("", str(reason))[:300] or "it cannot be read"
    return f"a value in it has the wrong type ({type(reason).__name__})"


def refuse_damaged(parts: Sequence[Part]) -> None:
    """Refuse files of which qpdf said while it read them that something is wrong."""
    for part in parts:
        if part.pdf is not None and (warnings := part.pdf.get_warnings()):
            raise SourceInvalid(f"part {part.number} is damaged: {_STREAM.sub('', str(warnings[0]))[:300]}")
