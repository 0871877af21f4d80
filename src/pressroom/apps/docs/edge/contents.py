"""The bytes of a site's files: small ones and compressed ones from memory."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from functools import partial

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
        self._running: dict[str, asyncio.Task[bytes | None]] = {}
        self._compressing = asyncio.Semaphore(AT_ONCE)

    def recent(self, key: str) -> bytes | None:
        return self._recent.get(key)

    def recent_compressed(self, key: str) -> bytes | None:
        return self._compressed.get(key)

    async def read(self, file: ServedFile) -> bytes:
        """All bytes of a small file. Raises NotFound."""
        data = self._recent.get(file.key)
        if data is None:
            data = await self._read_all(file.key)
            self._recent.put(file.key, data)
        return data

    async def stream(self, file: ServedFile, start: int, stop: int) -> AsyncIterator[bytes]:
        """Raises NotFound before the first byte."""
        return await self._blobs().get(file.key, start, stop)

    async def compressed(self, file: ServedFile) -> bytes | None:
        """Compressed once, however many ask. None if that is not worth it."""
        key = file.key
        if not MIN_COMPRESSED <= file.size <= MAX_COMPRESSED or key in self._incompressible:
            return None
        data = self._compressed.get(key)
        if data is not None:
            return data
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = asyncio.create_task(self._compress(file))
            running.add_done_callback(lambda _: self._running.pop(key, None))
        return await asyncio.shield(running)

    async def _compress(self, file: ServedFile) -> bytes | None:
        async with self._compressing:
            plain = self._recent.get(file.key) or await self._read_all(file.key)
            data = await in_thread(partial(gzip.compress, plain, LEVEL, mtime=0))
        if len(data) > 0.9 * len(plain):
            self._incompressible.put(file.key, b"-")
            return None
        self._compressed.put(file.key, data)
        return data

    async def _read_all(self, key: str) -> bytes:
        return b"".join([chunk async for chunk in await self._blobs().get(key)])
