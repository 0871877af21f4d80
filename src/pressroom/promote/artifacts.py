"""The bytes of artifacts, from the folder into the bucket, a few at a time. What is there already is not sent again."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pressroom import failpoints
from pressroom.artifacts import Blobs, key_of
from pressroom.errors import ArtifactsDamaged, NotFound
from pressroom.promote.sqlite_source import LiveBlob

AT_ONCE = 4  # uploads wait for the bucket and not for us; a few hide that, and more take turns


@dataclass
class CopiedBlobs:
    """How many blobs there are in all, their bytes, and how many of them were in the bucket before."""

    blobs: int
    bytes: int
    there_before: int


async def copy_blobs(
    blobs: list[LiveBlob], disk: Blobs | None, bucket: Blobs, on_progress: Callable[[int, int], None]
) -> CopiedBlobs:
    """Returns when all are in the bucket. Raises ArtifactsDamaged with those that the folder does not have as it should."""
    copied, damaged, left = CopiedBlobs(len(blobs), sum(blob.size for blob in blobs), 0), [], iter(blobs)
    done = 0

    async def copy_remaining(left: Iterator[LiveBlob]) -> None:
        nonlocal done
        for blob in left:
            try:
                was_there = await _copy(blob, disk, bucket)
                copied.there_before += was_there
            except (NotFound, _HashMismatch):
                damaged.append(key_of(blob.sha256, blob.generation))
            done += 1
            on_progress(done, len(blobs))

    async with asyncio.TaskGroup() as together:
        for _ in range(AT_ONCE):
            together.create_task(copy_remaining(left))
    if damaged:
        raise ArtifactsDamaged(
            f"{len(damaged):,} artifacts are missing from the folder, or are not the bytes that were put there, the first "
            f"being {min(damaged)}; see `pressroom fsck --artifacts`. Nothing was promoted"
        )
    return copied


class _HashMismatch(Exception):
    """A file does not have the hash that is its name."""


async def _copy(blob: LiveBlob, disk: Blobs | None, bucket: Blobs) -> bool:
    """Whether it was there before. What is sent is hashed before and, by the bucket, after."""
    key = key_of(blob.sha256, blob.generation)
    if await _size(bucket, key) == blob.size:
        return True
    if disk is None:
        raise NotFound("there is no artifact folder")

    async def require_same_blob(sha256: str, size: int) -> int:
        if (sha256, size) != (blob.sha256, blob.size):
            raise _HashMismatch
        return blob.generation

    await bucket.put(await disk.get(key), reserve=require_same_blob)
    failpoints.hit("promote.blob_copied")
    if await _size(bucket, key) != blob.size:
        raise ArtifactsDamaged(f"the bucket does not have {key} as it was sent; nothing was promoted")
    return False


async def _size(bucket: Blobs, key: str) -> int | None:
    try:
        return await bucket.size(key)
    except NotFound:
        return None
