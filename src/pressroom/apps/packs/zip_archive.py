"""Zip archives of stored files, written as a stream: their length is known before the first byte, and the same files are the
same bytes. Every entry has its size and checksum in front, so that also readers of streams can unpack it."""

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from itertools import batched
from typing import NamedTuple

BIG = 0xFFFFFFFF
MANY = 0xFFFF
IN_MEMORY = 1024 * 1024  # a file up to this size is read once; a longer one twice: for its checksum, and to send it
HEADERS_AT_ONCE = 500

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_OFFSET_64 = struct.Struct("<2HQ")
_UTF8 = 0x0800
_DATE = (1 << 5) | 1  # 1 January 1980, the first day that the format knows
_REGULAR_FILE = 0o100644 << 16
_MADE_BY_UNIX = 3 << 8 | 45


class ZipFile(NamedTuple):
    """A file under its name in the archive. `key` is where its bytes are."""

    name: str
    key: str
    size: int


type ReadFile = Callable[[str], Awaitable[AsyncIterator[bytes]]]


class _Entry(NamedTuple):
    name: bytes
    size: int
    checksum: int
    offset: int


def archive_size(files: Iterable[ZipFile]) -> int:
    offset = central = count = 0
    for file in files:
        name = len(file.name.encode())
        central += _CENTRAL.size + name + (_OFFSET_64.size if offset >= BIG else 0)
        offset += _LOCAL.size + name + file.size
        count += 1
    is_64 = count >= MANY or offset >= BIG or central >= BIG
    return offset + central + _END.size + (_END_64.size + _LOCATOR_64.size if is_64 else 0)


async def write_archive(files: Sequence[ZipFile], read: ReadFile) -> AsyncIterator[bytes]:
    """In the order in which they are given. Each is below 4 GiB."""
    entries: list[_Entry] = []
    offset = 0
    for file in files:
        kept: list[bytes] | None = [] if file.size <= IN_MEMORY else None
        checksum = 0
        async for chunk in await read(file.key):
            checksum = zlib.crc32(chunk, checksum)
            if kept is not None:
                kept.append(chunk)
        entry = _Entry(file.name.encode(), file.size, checksum, offset)
        yield _local_header(entry)
        if kept is not None:
            yield b"".join(kept)
        else:
            async for chunk in await read(file.key):
                yield chunk
        entries.append(entry)
        offset += _LOCAL.size + len(entry.name) + entry.size
    central = 0
    for some in batched(entries, HEADERS_AT_ONCE):
        headers = b"".join([_central_header(entry) for entry in some])
        central += len(headers)
        yield headers
        await asyncio.sleep(0)  # a hundred thousand entries take a second, in which others have their turn
    yield _end(len(entries), central, offset)


def _local_header(entry: _Entry) -> bytes:
    return (
        _LOCAL.pack(b"PK\3\4", 20, _UTF8, 0, 0, _DATE, entry.checksum, entry.size, entry.size, len(entry.name), 0) + entry.name
    )


def _central_header(entry: _Entry) -> bytes:
    far = entry.offset >= BIG
    extra = _OFFSET_64.pack(1, 8, entry.offset) if far else b""
    fields = (entry.checksum, entry.size, entry.size, len(entry.name), len(extra), 0, 0, 0, _REGULAR_FILE)
    needed = 45 if far else 20
    header = _CENTRAL.pack(b"PK\1\2", _MADE_BY_UNIX, needed, _UTF8, 0, 0, _DATE, *fields, BIG if far else entry.offset)
    return header + entry.name + extra


def _end(count: int, central: int, offset: int) -> bytes:
    end = _END.pack(b"PK\5\6", 0, 0, min(count, MANY), min(count, MANY), min(central, BIG), min(offset, BIG), 0)
    if count < MANY and central < BIG and offset < BIG:
        return end
    end_64 = _END_64.pack(b"PK\6\6", _END_64.size - 12, _MADE_BY_UNIX, 45, 0, 0, count, count, central, offset)
    return end_64 + _LOCATOR_64.pack(b"PK\6\7", 0, offset + central, 1) + end
