"""Where the bytes of artifacts lie: under the SHA-256 of their content, in a folder or in an S3 bucket.

A key is that hash as 64 lower-case hexadecimal digits, with `-N` after it from the second generation on
(`store/artifacts/blobs.py` says what generations are for). Bytes under a key are whole, match their hash, and never change.
"""

import hashlib
import re
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from pressroom.artifacts.local_files import LocalFile
from pressroom.artifacts.staged_uploads import StagedUploads
from pressroom.errors import InvalidArgument, NotFound

CHUNK = 256 * 1024
LINK_SECONDS = 600  # seconds that a link for downloading works (design 002)

_KEY = re.compile(r"([0-9a-f]{64})(?:-([1-9][0-9]{0,8}))?")
_ALIAS = re.compile(r"renders(?:/[a-z0-9][a-z0-9._-]{0,127}){1,4}")
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(; ?[\w-]+=[\w.-]+)*", re.ASCII)


class Blob(NamedTuple):
    key: str
    size: int

    @property
    def sha256(self) -> str:
        return self.key[:64]

    @property
    def generation(self) -> int:
        return int(self.key[65:] or 0)


class ListedBlob(NamedTuple):
    key: str
    size: int
    age: float  # seconds since it was put


type Data = bytes | AsyncIterable[bytes]

# Asked with the hash and size of bytes that are about to be put. Answers with the generation to put them under.
type Reserve = Callable[[str, int], Awaitable[int]]


class Blobs(Protocol):
    """A store of bytes. Full, read-only or out of reach is StoreFull, StoreReadOnly, StoreUnavailable."""

    async def put(self, data: Data, *, reserve: Reserve | None = None) -> Blob:
        """Keep bytes. They are on stable storage, and visible, whole, once this returns; if it does not, nothing is.

        Bytes that are there already are not written again. A stream may be longer than memory.
        """
        ...

    async def put_files(self, files: Sequence[LocalFile]) -> None:
        """Keep files of a folder that `make_scratch_folder` made. They are on stable storage, and visible, whole, once this
        returns; one sync serves all of them. A file may be moved away; their hashes were measured by the caller. Raises
        BlobGone if one without a path is found not to be there; not every store looks.
        """
        ...

    async def make_scratch_folder(self) -> Path:
        """A new, empty folder of this machine from which files can be put without being copied. Its maker removes it; what a
        process that died left behind goes with the temporary files.
        """
        ...

    async def open_staging(self) -> StagedUploads:
        """Where uploads wait until they are processed."""
        ...

    async def get(self, key: str, start: int = 0, stop: int | None = None) -> AsyncIterator[bytes]:
        """The bytes from `start` up to, but not including, `stop`; a `stop` past the end is the end.

        Raises NotFound, and InvalidArgument for a start past the end or a range that runs backwards, before the first byte.
        """
        ...

    async def size(self, key: str) -> int:
        """Raises NotFound."""
        ...

    async def verify(self, key: str) -> bool:
        """Whether the bytes still have the hash that they are kept under. Raises NotFound."""
        ...

    async def url(
        self,
        key: str,
        *,
        seconds: int = LINK_SECONDS,
        media_type: str = "application/octet-stream",
        filename: str | None = None,
    ) -> str:
        """A link under which anyone can download these bytes for so long, under this type and name. Never log it.

        Does not check whether they are there.
        """
        ...

    async def delete(self, keys: Iterable[str]) -> None:
        """What is not there is not missed."""
        ...

    async def alias(self, key: str, path: str) -> None:
        """Give bytes a second name, in place of what had it. For other programs: ours know keys. Raises NotFound."""
        ...

    async def alias_size(self, path: str) -> int:
        """Raises NotFound."""
        ...

    async def unalias(self, paths: Iterable[str]) -> None:
        """Delete second names. What is not there is not missed, and the bytes stay under their key."""
        ...

    def list_blobs(self) -> AsyncIterator[ListedBlob]:
        """Everything that is there, in no order to rely on."""
        ...

    async def delete_temporary_files(self, older_than: float) -> int:
        """Remove what puts that died left behind and did not touch for so many seconds. Returns how many those were."""
        ...


class ArtifactStore(Blobs, Protocol):
    """`Blobs` with an id of its own, by which a database knows it again wherever it is mounted or reached."""

    async def read_id(self) -> str | None:
        """None if it has none yet."""
        ...

    async def create_id(self) -> str:
        """Give it an id unless it has one. Returns the id that it has then."""
        ...


def key_of(sha256: str, generation: int = 0) -> str:
    return f"{sha256}-{generation}" if generation else sha256


def checked_key(key: str) -> str:
    """Raises NotFound: a malformed key names nothing, and is never made part of a path."""
    if not _KEY.fullmatch(key):
        raise NotFound("there are no bytes under that key; a key is 64 lower-case hexadecimal digits")
    return key


def checked_alias(path: str) -> str:
    """Raises InvalidArgument. No name of a blob, of a temporary file or of the store's own files begins like this."""
    if not _ALIAS.fullmatch(path):
        raise InvalidArgument(f"{path[:80]!r} is not a second name of bytes; use one like renders/JOB/offer.pdf")
    return path


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def checked_media_type(text: str) -> str:
    if len(text) > 200 or not _MEDIA_TYPE.fullmatch(text):
        raise InvalidArgument(f"{text[:80]!r} is not a media type; use one like image/svg+xml")
    return text


def checked_range(start: int, stop: int | None, size: int) -> tuple[int, int]:
    """A range within the size."""
    end = size if stop is None else min(stop, size)
    if not 0 <= start <= size or (stop is not None and stop < start):
        raise InvalidArgument(f"bytes {start} to {'the end' if stop is None else stop} are not a range of {size:,} bytes")
    return start, end


async def matches_hash(chunks: AsyncIterable[bytes], key: str) -> bool:
    digest = hashlib.sha256()
    async for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest() == key[:64]
