"""Put 64 MB, read them back, and print by how many bytes this process grew at most."""

import asyncio
import resource
import sys
from collections.abc import AsyncIterator

from pressroom.artifacts import Blobs
from pressroom.artifacts.disk import Disk
from pressroom.artifacts.s3 import S3, Bucket
from pressroom.clock import SystemClock

MB = 1024 * 1024


def store() -> Blobs:
    if len(sys.argv) == 2:
        return Disk(sys.argv[1], SystemClock())
    endpoint, prefix = sys.argv[1:]
    return S3(Bucket(endpoint, "artifacts", "a-test-key", "a-test-secret", prefix=prefix), SystemClock())


async def pieces() -> AsyncIterator[bytes]:
    for number in range(1024):
        yield number.to_bytes(2) * (MB // 32)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def main() -> None:
    blobs = store()
    await blobs.put(b"warm up")
    before = peak()
    blob = await blobs.put(pieces())
    assert blob.size == 64 * MB
    assert await blobs.verify(blob.key)
    print(peak() - before)


asyncio.run(main())
