"""Where uploaded archives wait until they are processed: a folder, or the bucket of the artifact store."""

from collections.abc import AsyncIterable, AsyncIterator

from pressroom.app import Core


class Staging:
    """Archives by the uid of their build."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def upload_url(self, uid: str, capability: str, base_url: str) -> str:
        """Where the archive is to be PUT: a presigned address of the bucket, or an address of ours with the capability."""
        raise NotImplementedError

    async def receive(self, uid: str, chunks: AsyncIterable[bytes], limit: int) -> int:
        """Keep an archive, whole or not at all, and return its size. Raises ArchiveTooLarge."""
        raise NotImplementedError

    async def size(self, uid: str) -> int | None:
        """None if nothing was uploaded."""
        raise NotImplementedError

    def read(self, uid: str) -> AsyncIterator[bytes]:
        raise NotImplementedError

    async def delete(self, uid: str) -> None:
        raise NotImplementedError
