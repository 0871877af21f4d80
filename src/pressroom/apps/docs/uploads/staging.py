"""Where uploaded archives wait until they are processed: beside the artifacts, in their folder or their bucket."""

from collections.abc import AsyncIterable, AsyncIterator
from urllib.parse import urlencode

from pressroom.app import Core
from pressroom.apps.docs.errors import ArchiveTooLarge
from pressroom.apps.docs.settings import DocsSettings
from pressroom.artifacts.staged_uploads import StagedUploads

CAPABILITY = "capability"  # the parameter of an upload address of ours


class Staging:
    """Archives by the uid of their build."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._settings: DocsSettings = core.app_settings

    async def upload_url(self, uid: str, capability: str, base_url: str) -> str:
        """Where the archive is to be PUT: a presigned address of the bucket, or an address of ours with the capability."""
        presigned = await (await self._open()).upload_url(uid, int(self._settings.upload_ttl))
        return presigned or f"{base_url.rstrip('/')}/uploads/{uid}?{urlencode({CAPABILITY: capability})}"

    async def receive(self, uid: str, chunks: AsyncIterable[bytes], limit: int) -> int:
        """Keep an archive, whole or not at all, and return its size. Raises ArchiveTooLarge."""
        return await (await self._open()).receive(uid, _limited(chunks, limit))

    async def size(self, uid: str) -> int | None:
        """None if nothing was uploaded."""
        return await (await self._open()).size(uid)

    async def read(self, uid: str) -> AsyncIterator[bytes]:
        """Raises NotFound."""
        async for chunk in (await self._open()).read(uid):
            yield chunk

    async def delete(self, uid: str) -> None:
        await (await self._open()).delete(uid)

    async def list_uids(self, older_than: float) -> AsyncIterator[str]:
        """Of archives that came more than so many seconds ago."""
        async for uid in (await self._open()).list_ids(older_than):
            yield uid

    async def _open(self) -> StagedUploads:
        return await self._core.rendering.blobs.open_staging()


async def _limited(chunks: AsyncIterable[bytes], limit: int) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise ArchiveTooLarge(limit)
        yield chunk
