"""Uploads in the bucket of the artifacts, below `__staging/`. Clients put them there themselves, with presigned addresses."""

import secrets
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import obstore
from obstore.store import S3Store

from pressroom.artifacts import CHUNK
from pressroom.artifacts.os_errors import translate_os_errors
from pressroom.artifacts.signing_secret import create_private_file
from pressroom.artifacts.staged_uploads import GZIP, id_of, upload_name
from pressroom.artifacts.threads import in_thread
from pressroom.errors import NotFound

FOLDER = "__staging"
PART = 8 * 1024 * 1024

type Requests = Callable[[], AbstractAsyncContextManager[None]]
type SignPut = Callable[[str, int, str], Awaitable[str]]
"""A presigned address by the path of an object, the seconds that it works, and the content type."""


class BucketStaging:
    """`StagedUploads` in a bucket. `requests` is around each request to the server: it renews credentials, and translates
    errors."""

    def __init__(self, store: S3Store, prefix: str, requests: Requests, sign_put: SignPut) -> None:
        self._store = store
        self._folder = f"{prefix}/{FOLDER}" if prefix else FOLDER
        self._requests = requests
        self._sign_put = sign_put

    async def upload_url(self, id: str, seconds: int) -> str | None:
        return await self._sign_put(self._path(id), seconds, GZIP)

    async def receive(self, id: str, chunks: AsyncIterable[bytes]) -> int:
        """Through a local file, so that an upload that breaks off leaves nothing in the bucket."""
        path, size = Path(tempfile.gettempdir()) / f"pressroom-{secrets.token_hex(16)}", 0
        file = await _run_disk_work(partial(create_private_file, path))
        try:
            async for chunk in chunks:
                size += len(chunk)
                await _run_disk_work(partial(file.write, chunk))
            await _run_disk_work(file.close)
            async with self._requests():
                await obstore.put_async(self._store, self._path(id), path, use_multipart=size > PART, chunk_size=PART)
        finally:
            with suppress(OSError):
                file.close()
            path.unlink(missing_ok=True)
        return size

    async def size(self, id: str) -> int | None:
        try:
            async with self._requests():
                return (await obstore.head_async(self._store, self._path(id)))["size"]
        except NotFound:
            return None

    async def read(self, id: str) -> AsyncIterator[bytes]:
        async with self._requests():
            response = await obstore.get_async(self._store, self._path(id))
            async for chunk in response.stream(min_chunk_size=CHUNK):
                yield bytes(chunk)

    async def delete(self, id: str) -> None:
        async with self._requests():
            await obstore.delete_async(self._store, [self._path(id)])

    async def list_ids(self, older_than: float) -> AsyncIterator[str]:
        now = datetime.now(UTC)
        async with self._requests():
            async for page in obstore.list(self._store, self._folder, chunk_size=1_000):
                for found in page:
                    id = id_of(found["path"].rpartition("/")[2])
                    if id is not None and (now - found["last_modified"]).total_seconds() >= older_than:
                        yield id

    def _path(self, id: str) -> str:
        return f"{self._folder}/{upload_name(id)}"


async def _run_disk_work[T](work: Callable[[], T]) -> T:
    with translate_os_errors(f"the temporary folder {tempfile.gettempdir()}"):
        return await in_thread(work)
