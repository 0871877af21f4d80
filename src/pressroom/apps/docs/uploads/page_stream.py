"""The pages of a build on their way into a process: paths first, then each page with its length before it."""

import asyncio
import struct
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from pressroom.apps.docs.domain.links import is_page

if TYPE_CHECKING:
    from pressroom.store.artifacts.artifacts import ArtifactFile


type ReadFile = Callable[[ArtifactFile], Awaitable[bytes]]

LARGEST_PAGE = 8 * 1024 * 1024  # bytes; larger ones are sent empty
AT_ONCE = 8  # files that are read at the same time
_LENGTH = struct.Struct(">I")


def pages_of(files: "Sequence[ArtifactFile]") -> "list[ArtifactFile]":
    """By path."""
    return sorted((file for file in files if is_page(file.path)), key=lambda file: file.path)


async def send_pages(paths: Sequence[str], pages: "Sequence[ArtifactFile]", read: ReadFile) -> AsyncGenerator[bytes]:
    head = msgspec.json.encode([paths, [page.path for page in pages]])
    yield _LENGTH.pack(len(head)) + head
    reads: deque[asyncio.Task[bytes]] = deque()
    waiting = iter(pages)
    try:
        while True:
            for page in _some(waiting, AT_ONCE - len(reads)):
                reads.append(asyncio.ensure_future(_read(page, read)))
            if not reads:
                return
            data = await reads.popleft()
            yield _LENGTH.pack(len(data)) + data
    finally:
        for pending in reads:
            pending.cancel()
        await asyncio.gather(*reads, return_exceptions=True)


def receive_pages(stream: BinaryIO) -> tuple[list[str], Iterator[tuple[str, bytes]]]:
    """All paths of the site, and its pages one after the other."""
    paths, pages = msgspec.json.decode(_receive(stream), type=tuple[list[str], list[str]])
    return paths, ((path, _receive(stream)) for path in pages)


def _some(pages: "Iterator[ArtifactFile]", count: int) -> "Iterator[ArtifactFile]":
    return (page for _, page in zip(range(count), pages, strict=False))


async def _read(page: "ArtifactFile", read: ReadFile) -> bytes:
    return b"" if page.size > LARGEST_PAGE else await read(page)


def _receive(stream: BinaryIO) -> bytes:
    (length,) = _LENGTH.unpack(stream.read(_LENGTH.size))
    return stream.read(length)
