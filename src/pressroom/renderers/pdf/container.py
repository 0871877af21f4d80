"""Several PDF files as one source: a line that names the format, how many there are, and each with its length in front."""

import struct
from collections.abc import Sequence

from pressroom.errors import SourceInvalid

MAX_PARTS = 500

_MAGIC = b"pressroom pdfs 1\n"
_COUNT = struct.Struct(">I")
_LENGTH = struct.Struct(">Q")


def pack_pdfs(parts: Sequence[bytes]) -> bytes:
    """One source for the engine `pdf`, in the order of its parts. What the parts hold is not looked at."""
    packed = [_MAGIC, _COUNT.pack(len(parts))]
    for part in parts:
        packed += [_LENGTH.pack(len(part)), part]
    return b"".join(packed)


def unpack_pdfs(source: bytes) -> list[bytes]:
    """The parts of a source. What is not packed is one PDF. Raises SourceInvalid."""
    if not source:
        raise SourceInvalid("the source is empty")
    if not source.startswith(_MAGIC):
        return [source]
    try:
        parts = _read_parts(source)
    except struct.error:
        raise SourceInvalid("the packed PDF files are cut off") from None
    if not parts:
        raise SourceInvalid("there is no PDF in the source")
    return parts


def _read_parts(source: bytes) -> list[bytes]:
    offset = len(_MAGIC)
    (count,) = _COUNT.unpack_from(source, offset)
    offset += _COUNT.size
    if count > MAX_PARTS:
        raise SourceInvalid(f"there are {count:,} PDF files in the source; the limit is {MAX_PARTS}")
    parts = []
    for number in range(1, count + 1):
        (length,) = _LENGTH.unpack_from(source, offset)
        offset += _LENGTH.size
        if length > len(source) - offset:
            raise SourceInvalid(f"the packed PDF files are cut off in part {number}")
        parts.append(source[offset : offset + length])
        offset += length
    if offset != len(source):
        raise SourceInvalid(f"{len(source) - offset:,} bytes follow the last of the packed PDF files")
    return parts
