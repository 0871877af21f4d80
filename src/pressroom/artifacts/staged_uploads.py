"""Uploads that wait until they are processed, beside the artifacts: in their folder, or in their bucket."""

import re
from collections.abc import AsyncIterable, AsyncIterator
from typing import Protocol

from pressroom.errors import InvalidArgument

GZIP = "application/gzip"  # the content type that a presigned address is signed for

_NAME = re.compile(r"[0-9A-Z]{26}")


class StagedUploads(Protocol):
    """By the id of what they are uploads of. Full, read-only or out of reach is StoreFull, StoreReadOnly, StoreUnavailable."""

    async def upload_url(self, id: str, seconds: int) -> str | None:
        """Where the upload can be PUT with the content type `application/gzip`. None: here, through `receive`."""
        ...

    async def receive(self, id: str, chunks: AsyncIterable[bytes]) -> int:
        """Keep an upload, whole or not at all, in place of an earlier one. Returns its size."""
        ...

    async def size(self, id: str) -> int | None:
        """None if there is none."""
        ...

    def read(self, id: str) -> AsyncIterator[bytes]:
        """Raises NotFound."""
        ...

    async def delete(self, id: str) -> None:
        """What is not there is not missed."""
        ...

    def list_ids(self, older_than: float) -> AsyncIterator[str]:
        """Of uploads that came more than so many seconds ago."""
        ...


def upload_name(id: str) -> str:
    if not _NAME.fullmatch(id):
        raise InvalidArgument(f"{id[:80]!r} is not the id of an upload")
    return f"{id}.tar.gz"


def id_of(name: str) -> str | None:
    """The id of an upload by the name of its file; None for a file that is none."""
    id = name.removesuffix(".tar.gz")
    return id if id != name and _NAME.fullmatch(id) else None
