"""What every artifact store does with bytes, in a folder and on a real S3 server."""

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pressroom.artifacts import Blob, Blobs
from pressroom.errors import InvalidArgument, NotFound, StoreUnavailable
from tests.contract.conftest import Shelf

MB = 1024 * 1024
HELLO = hashlib.sha256(b"hello").hexdigest()


async def read(blobs: Blobs, key: str, start: int = 0, stop: int | None = None) -> bytes:
    return b"".join([chunk async for chunk in await blobs.get(key, start, stop)])


async def stream(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def second_generation(sha256: str, size: int) -> int:
    return 2


@pytest.mark.parametrize("data", [b"", b"hello", bytes(300_000), b"x" * (9 * MB)], ids=["empty", "small", "chunks", "parts"])
async def test_what_was_put_is_there(shelf: Shelf, data: bytes) -> None:
    blob = await shelf.blobs.put(data)

    assert blob == Blob(hashlib.sha256(data).hexdigest(), len(data))
    assert await read(shelf.blobs, blob.key) == data
    assert await shelf.blobs.size(blob.key) == len(data)
    assert await shelf.blobs.verify(blob.key)


@pytest.mark.parametrize("pieces", [(), (b"hel", b"", b"lo"), (b"a" * 5 * MB, b"b" * 6 * MB)], ids=["empty", "small", "parts"])
async def test_a_stream_is_kept_as_its_bytes_are(shelf: Shelf, pieces: tuple[bytes, ...]) -> None:
    whole = b"".join(pieces)

    blob = await shelf.blobs.put(stream(*pieces))

    assert blob == await shelf.blobs.put(whole)
    assert await read(shelf.blobs, blob.key) == whole


async def test_the_same_bytes_are_kept_once_however_often_they_are_put(shelf: Shelf) -> None:
    blobs = await asyncio.gather(
        *(shelf.blobs.put(b"hello") for _ in range(8)), *(shelf.blobs.put(stream(b"hello")) for _ in range(8))
    )

    assert set(blobs) == {Blob(HELLO, 5)}
    assert [(one.key, one.size) async for one in shelf.blobs.list_blobs()] == [(HELLO, 5)]


async def test_bytes_of_another_generation_have_another_name(shelf: Shelf) -> None:
    first = await shelf.blobs.put(b"hello")
    second = await shelf.blobs.put(b"hello", reserve=second_generation)

    await shelf.blobs.delete([first.key])

    assert (second.sha256, second.generation) == (HELLO, 2)
    assert await read(shelf.blobs, second.key) == b"hello"
    assert await shelf.blobs.verify(second.key)


async def test_a_put_that_may_not_go_on_leaves_nothing(shelf: Shelf) -> None:
    async def refuse(sha256: str, size: int) -> int:
        raise StoreUnavailable("no database")

    for data in (b"hello", stream(b"hello"), stream(b"x" * 9 * MB)):
        with pytest.raises(StoreUnavailable):
            await shelf.blobs.put(data, reserve=refuse)

    assert [one async for one in shelf.blobs.list_blobs()] == []
    assert await shelf.blobs.delete_temporary_files(0) == 0


async def test_a_stream_that_breaks_leaves_nothing(shelf: Shelf) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * 9 * MB
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await shelf.blobs.put(broken())

    assert [one async for one in shelf.blobs.list_blobs()] == []
    assert await shelf.blobs.delete_temporary_files(0) == 0


async def test_a_cancelled_put_leaves_nothing(shelf: Shelf) -> None:
    arrived = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        yield b"x" * 9 * MB
        arrived.set()
        await asyncio.Event().wait()

    putting = asyncio.create_task(shelf.blobs.put(endless()))
    await arrived.wait()
    putting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await putting

    assert [one async for one in shelf.blobs.list_blobs()] == []
    assert await shelf.blobs.delete_temporary_files(0) == 0


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [(0, None, b"hello"), (1, None, b"ello"), (1, 3, b"el"), (0, 99, b"hello"), (2, 2, b""), (5, None, b""), (5, 9, b"")],
)
async def test_a_range_is_a_slice(shelf: Shelf, start: int, stop: int | None, expected: bytes) -> None:
    blob = await shelf.blobs.put(b"hello")

    assert await read(shelf.blobs, blob.key, start, stop) == expected


async def test_a_range_may_span_chunks(shelf: Shelf) -> None:
    data = b"".join(number.to_bytes(4) for number in range(300_000))
    blob = await shelf.blobs.put(data)

    assert await read(shelf.blobs, blob.key, 100_001, 1_000_003) == data[100_001:1_000_003]


@pytest.mark.parametrize(("start", "stop"), [(6, None), (-1, None), (3, 2), (6, 9)])
async def test_what_is_no_range_is_refused_before_the_first_byte(shelf: Shelf, start: int, stop: int | None) -> None:
    blob = await shelf.blobs.put(b"hello")

    with pytest.raises(InvalidArgument):
        await shelf.blobs.get(blob.key, start, stop)


async def test_what_is_not_there_is_not_found(shelf: Shelf) -> None:
    with pytest.raises(NotFound):
        await shelf.blobs.get("0" * 64)
    with pytest.raises(NotFound):
        await shelf.blobs.get("0" * 64, 1, 2)
    with pytest.raises(NotFound):
        await shelf.blobs.size("0" * 64)
    with pytest.raises(NotFound):
        await shelf.blobs.verify("0" * 64)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "../x",
        "..",
        "/etc/passwd",
        "A" * 64,
        "a" * 63,
        "a" * 65,
        "a" * 64 + "\n",
        "a" * 64 + "-0",
        "a" * 64 + "-1/..",
        "é" * 64,
    ],
)
async def test_a_malformed_key_names_nothing(shelf: Shelf, key: str) -> None:
    for use in (
        shelf.blobs.get(key),
        shelf.blobs.size(key),
        shelf.blobs.verify(key),
        shelf.blobs.url(key),
        shelf.blobs.delete([key]),
    ):
        with pytest.raises(NotFound):
            await use


async def test_deleted_is_gone_and_deleting_again_does_no_harm(shelf: Shelf) -> None:
    kept, gone = await shelf.blobs.put(b"kept"), await shelf.blobs.put(b"gone")

    await shelf.blobs.delete([gone.key, "0" * 64])
    await shelf.blobs.delete([gone.key])

    assert [one.key async for one in shelf.blobs.list_blobs()] == [kept.key]
    with pytest.raises(NotFound):
        await shelf.blobs.size(gone.key)


async def test_a_listing_tells_size_and_age(shelf: Shelf) -> None:
    blobs = {await shelf.blobs.put(str(number).encode() * number) for number in range(1, 30)}

    listed = [one async for one in shelf.blobs.list_blobs()]

    assert {Blob(one.key, one.size) for one in listed} == blobs
    assert all(one.age < 120 for one in listed)


async def test_reading_and_writing_leave_the_event_loop_free(shelf: Shelf) -> None:
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    others = asyncio.create_task(take_turns())
    blob = await shelf.blobs.put(stream(*[b"x" * MB] * 32))
    turns_while_writing = turns
    await shelf.blobs.verify(blob.key)
    others.cancel()

    assert turns_while_writing >= 32  # one for each piece, and more while a piece is written; a blocked loop gives none
    assert turns - turns_while_writing >= 32


def test_64_megabytes_go_through_little_memory(shelf: Shelf) -> None:
    """In a process of its own, because memory that was once used is not given back."""
    place = [str(shelf.folder)] if shelf.bucket is None else list(map(str, (shelf.bucket.endpoint, shelf.bucket.prefix)))

    command = [sys.executable, str(Path(__file__).with_name("stream_64mb.py")), *place]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert grown < 40 * MB
