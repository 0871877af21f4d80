"""A row as PostgreSQL's COPY writes and reads it. That line is also what is hashed: one row, one line, on either side."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from pressroom.model import Row
from pressroom.store.engine.postgres_statements import text_without_nul

PIECE = 64 * 1024  # bytes; less costs more calls than it saves memory
_SPECIAL = re.compile(r"[\\\x00\x08-\x0d]")
_ESCAPES = str.maketrans({"\\": r"\\", "\b": r"\b", "\t": r"\t", "\n": r"\n", "\v": r"\v", "\f": r"\f", "\r": r"\r"})
_WIDTH = 16


@dataclass(slots=True)
class Tally:
    """Rows, their bytes, and the sum of their hashes: a sum, because the two databases sort text differently."""

    rows: int = 0
    size: int = 0
    digest: int = 0

    def add(self, line: Any) -> None:
        self.rows += 1
        self.size += len(line)
        self.digest += int.from_bytes(blake2b(line, digest_size=_WIDTH).digest())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and (self.rows, self.size, self.hash) == (other.rows, other.size, other.hash)

    @property
    def hash(self) -> str:
        return f"{self.digest % (1 << 8 * _WIDTH):0{2 * _WIDTH}x}"


def copy_line(row: Row) -> bytes:
    return ("\t".join([_format_field(value) for value in row]) + "\n").encode()


def _format_field(value: Any) -> Any:
    if value is None:
        return r"\N"
    if isinstance(value, int):
        return str(value)
    return text_without_nul(value).translate(_ESCAPES) if _SPECIAL.search(value) else value


def batch_lines(lines: Iterable[bytes], tally: Tally, *, rows: int, size: int) -> Iterator[bytes]:
    """Lines gathered into pieces and counted, until there are so many rows or bytes."""
    rows, size = tally.rows + rows, tally.size + size
    gathered: list[bytes] = []
    sent = tally.size
    for line in lines:
        gathered.append(line)
        tally.add(line)
        if tally.size - sent >= PIECE:
            yield b"".join(gathered)
            gathered.clear()
            sent = tally.size
        if tally.rows >= rows or tally.size >= size:
            break
    if gathered:
        yield b"".join(gathered)
