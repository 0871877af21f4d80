"""Many files of this machine at once: whole, visible and on stable storage when the call returns; equal ones once."""

import asyncio
import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pressroom import failpoints
from pressroom.artifacts import Blobs, key_of
from pressroom.artifacts.local_files import LocalFile, measure_file
from pressroom.artifacts.staged_uploads import GZIP
from pressroom.errors import BlobGone, InvalidArgument, NotFound
from pressroom.ids import new_uid
from tests.contract.conftest import Shelf


async def scratch_files(blobs: Blobs, *contents: bytes) -> list[LocalFile]:
    folder = await blobs.make_scratch_folder()
    files = []
    for number, data in enumerate(contents):
        path = folder / str(number)
        path.write_bytes(data)
        sha256, size = measure_file(path)
        assert (sha256, size) == (hashlib.sha256(data).hexdigest(), len(data))
        files.append(LocalFile(path, key_of(sha256), size))
    return files


async def read(blobs: Blobs, key: str) -> bytes:
    return b"".join([chunk async for chunk in await blobs.get(key)])


async def test_files_are_there_once_they_are_put(shelf: Shelf) -> None:
    contents = [b"", b"hello", bytes(300_000), *(str(number).encode() for number in range(40))]
    files = await scratch_files(shelf.blobs, *contents)

    await shelf.blobs.put_files(files)
    await shelf.blobs.put_files(await scratch_files(shelf.blobs, *contents[:5]))

    for file, data in zip(files, contents, strict=True):
        assert await read(shelf.blobs, file.key) == data
        assert await shelf.blobs.verify(file.key)
    assert len([one async for one in shelf.blobs.list_blobs()]) == len(contents)


async def test_a_file_that_is_there_need_not_be_put_again(shelf: Shelf) -> None:
    (file,) = await scratch_files(shelf.blobs, b"hello")
    await shelf.blobs.put_files([file])

    await shelf.blobs.put_files([file._replace(path=None, is_known=True)])

    assert await shelf.blobs.verify(file.key)


async def test_a_file_that_should_be_there_and_is_not_is_missed(shelf: Shelf) -> None:
    if shelf.kind != "disk":
        pytest.skip("a bucket is not asked")
    with pytest.raises(BlobGone):
        await shelf.blobs.put_files([LocalFile(None, key_of(hashlib.sha256(b"hello").hexdigest()), 5, is_known=True)])


async def test_two_that_put_the_same_files_do_not_disturb_each_other(shelf: Shelf) -> None:
    contents = [str(number).encode() for number in range(30)]
    both = [await scratch_files(shelf.blobs, *contents) for _ in range(2)]

    await asyncio.gather(*map(shelf.blobs.put_files, both))

    assert all([await shelf.blobs.verify(file.key) for file in both[0]])


async def test_files_are_readable_by_our_own_user_alone(shelf: Shelf) -> None:
    (file,) = await scratch_files(shelf.blobs, b"hello")
    assert file.path is not None
    assert os.stat(file.path).st_mode & 0o077 == 0


@pytest.mark.parametrize("what", ["a link", "a second link", "a folder", "a pipe", "nothing"])
async def test_only_regular_files_are_measured(tmp_path: Path, what: str) -> None:
    target, path = tmp_path / "target", tmp_path / "file"
    target.write_bytes(b"secret")
    match what:
        case "a link":
            path.symlink_to(target)
        case "a second link":
            path.hardlink_to(target)
        case "a folder":
            path.mkdir()
        case "a pipe":
            os.mkfifo(path)
    with pytest.raises(InvalidArgument):
        measure_file(path)


async def test_a_crash_leaves_whole_files_or_none(shelf: Shelf) -> None:
    if shelf.kind != "disk":
        pytest.skip("a bucket has no files of ours")
    files = await scratch_files(shelf.blobs, b"one", b"two")
    failpoints.arm("blob.temp_written=raise@1")
    with pytest.raises(failpoints.FailpointHit):
        await shelf.blobs.put_files(files)
    assert [one async for one in shelf.blobs.list_blobs()] == []
    await shelf.blobs.put_files(files)
    assert all([await shelf.blobs.verify(file.key) for file in files])


async def test_scratch_folders_of_processes_that_died_go_with_the_temporary_files(shelf: Shelf) -> None:
    folder = await shelf.blobs.make_scratch_folder()
    (folder / "left").write_bytes(b"x")
    assert await shelf.blobs.delete_temporary_files(3600) == 0
    os.utime(folder, (0, 0))
    assert await shelf.blobs.delete_temporary_files(3600) == 1
    assert not folder.exists()


async def in_pieces(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def test_an_upload_waits_until_it_is_deleted(shelf: Shelf) -> None:
    staging, id = await shelf.blobs.open_staging(), new_uid()
    assert await staging.size(id) is None
    with pytest.raises(NotFound):
        assert [chunk async for chunk in staging.read(id)]

    assert await staging.receive(id, in_pieces(b"first", b"", b" try")) == 9
    assert await staging.receive(id, in_pieces(b"second", b" try")) == 10

    assert await staging.size(id) == 10
    assert b"".join([chunk async for chunk in staging.read(id)]) == b"second try"
    assert [one async for one in staging.list_ids(-60)] == [id]
    assert [one async for one in staging.list_ids(3600)] == []
    assert [one async for one in shelf.blobs.list_blobs()] == []
    await staging.delete(id)
    await staging.delete(id)
    assert await staging.size(id) is None


async def test_an_upload_that_breaks_off_is_not_kept(shelf: Shelf) -> None:
    staging, id = await shelf.blobs.open_staging(), new_uid()

    async def breaking() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await staging.receive(id, breaking())
    assert await staging.size(id) is None


@pytest.mark.parametrize("id", ["", "../../etc/passwd", "x" * 26, "0" * 25, "0" * 25 + "/"])
async def test_an_upload_has_an_id(shelf: Shelf, id: str) -> None:
    staging = await shelf.blobs.open_staging()
    with pytest.raises(InvalidArgument):
        await staging.size(id)


def _put(url: str, data: bytes, content_type: str) -> int:
    request = urllib.request.Request(url, data, {"Content-Type": content_type}, method="PUT")
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


async def test_a_presigned_address_takes_one_upload_of_its_type(shelf: Shelf) -> None:
    staging, id = await shelf.blobs.open_staging(), new_uid()
    url = await staging.upload_url(id, 600)
    if shelf.kind == "disk":
        assert url is None
        return
    assert url is not None
    assert f"/__staging/{id}.tar.gz?" in url
    assert await asyncio.to_thread(_put, url, b"x", "text/html") == 403
    assert await asyncio.to_thread(_put, url.replace(id, new_uid()), b"x", GZIP) == 403
    assert await asyncio.to_thread(_put, url, b"an archive", GZIP) == 200
    assert await staging.size(id) == 10
    shelf.clock.advance(minutes=-20)
    old = await staging.upload_url(id, 600)
    assert old is not None
    assert await asyncio.to_thread(_put, old, b"late", GZIP) == 403
