"""The bytes of a site's files: small ones and compressed ones from memory."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

from pressroom.apps.docs.edge.single_flight import SingleFlight
from pressroom.apps.docs.edge.sites import ServedFile
from pressroom.artifacts import CHUNK, Blobs
from pressroom.artifacts.recent_blobs import RecentBlobs
from pressroom.artifacts.threads import in_thread

RECENT_BYTES = 64 * 1024 * 1024  # of files, and as much of compressed ones
SMALL = CHUNK  # bytes of a file that is kept in memory; a larger one is streamed
MIN_COMPRESSED = 512  # bytes that are worth compressing
MAX_COMPRESSED = 8 * 1024 * 1024  # of a file that is compressed; search indexes are large
AT_ONCE = 2  # files that are compressed at the same time
LEVEL = 6


class Contents:
    """Under a hash bytes never change, so that nothing here is ever out of date."""

    def __init__(self, blobs: Callable[[], Blobs]) -> None:
        self._blobs = blobs
        self._recent = RecentBlobs(RECENT_BYTES)
        self._compressed = RecentBlobs(RECENT_BYTES)
        self._incompressible: RecentBlobs = RecentBlobs(4_096)  # by key, with one byte for each
        self._reading = SingleFlight[str, bytes]()
        self._compressing = SingleFlight[str, bytes | None]()
        self._threads = asyncio.Semaphore(AT_ONCE)

    async def read(self, file: ServedFile) -> bytes:
        """All bytes of a file that fits into memory, read once, however many ask. Raises NotFound."""
        data = self._recent.get(file.key)
        if data is None:
            data = await self._reading.run(file.key, partial(self._read_all, file.key))
            self._recent.put(file.key, data)
        return data

    async def stream(self, file: ServedFile, start: int, stop: int) -> AsyncIterator[bytes]:
        """Raises NotFound before the first byte."""
        return await self._blobs().get(file.key, start, stop)

    async def compressed(self, file: ServedFile) -> bytes | None:
        """Compressed once, however many ask. None if that is not worth it. Raises NotFound."""

        async def load() -> bytes:
            return self._recent.get(file.key) or await self._read_all(file.key)

        return await self._compress_once(file.key, file.size, load)

    async def compressed_data(self, key: str, data: bytes) -> bytes | None:
        """Of what is no file, by a key of its own."""

        async def load() -> bytes:
            return data

        return await self._compress_once(key, len(data), load)

    async def _compress_once(self, key: str, size: int, load: Callable[[], Awaitable[bytes]]) -> bytes | None:
        if not MIN_COMPRESSED <= size <= MAX_COMPRESSED or key in self._incompressible:
            return None
        data = self._compressed.get(key)
        if data is not None:
            return data
        return await self._compressing.run(key, partial(self._compress, key, load))

    async def _compress(self, key: str, load: Callable[[], Awaitable[bytes]]) -> bytes | None:
        async with self._threads:
            plain = await load()
            data = await in_thread(partial(gzip.compress, plain, LEVEL, mtime=0))
        if len(data) > 0.9 * len(plain):
            self._incompressible.put(key, b"-")
            return None
        self._compressed.put(key, data)
        return data

    async def _read_all(self, key: str) -> bytes:
        return b"".join([chunk async for chunk in await self._blobs().get(key)])
