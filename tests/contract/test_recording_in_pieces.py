"""Artifacts of many files, recorded in pieces: visible to readers when they are sealed, and collected if they never are."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from pressroom import Pressroom
from pressroom.artifact_lifecycle import ScratchFile, store_files
from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.artifact_lifecycle.fsck import fsck
from pressroom.artifacts.disk import Disk
from pressroom.artifacts.local_files import measure_file
from pressroom.clock import ManualClock
from pressroom.errors import BlobGone, InvalidArgument, NotFound
from pressroom.store import Database
from pressroom.store.artifacts import artifacts, recording
from pressroom.store.artifacts.artifacts import ArtifactFile


class Recorded:
    def __init__(self, database: Database, disk: Disk, clock: ManualClock) -> None:
        self.database, self.disk, self.clock = database, disk, clock

    async def store(self, contents: dict[str, bytes]) -> list[ArtifactFile]:
        folder = await self.disk.make_scratch_folder()
        files = []
        for number, (path, data) in enumerate(contents.items()):
            source = folder / str(number)
            source.write_bytes(data)
            sha256, size = measure_file(source)
            files.append(ScratchFile(path=path, source=source, sha256=sha256, size=size, media_type="text/plain"))
        return await store_files(self.disk, self.database, files)

    async def begin(self, files: list[ArtifactFile], **claimed: int) -> str:
        facts = {"files": len(files), "size": sum(file.size for file in files)} | claimed
        unit = partial(recording.begin_artifact, "site", media_type="text/html", org_id="acme", **facts)
        return await self.database.run(unit, name="test")

    async def add(self, uid: str, files: list[ArtifactFile]) -> None:
        await self.database.run(partial(recording.add_files, uid, files), name="test")

    async def seal(self, uid: str) -> None:
        await self.database.run(partial(recording.seal_artifact, uid, "edition:1"), name="test")

    async def problems(self) -> list[str]:
        return [problem.kind for problem in await fsck(self.disk, self.database)]


@asynccontextmanager
async def recorded_in(address: str, folder: Path) -> AsyncIterator[Recorded]:
    clock = ManualClock()
    async with Pressroom(address, workers=None, clock=clock) as press:
        yield Recorded(press._database, Disk(folder / "kept", clock), clock)


_UNKNOWN = ScratchFile(path="x", source=None, sha256="0" * 64, size=1, media_type="text/plain")

SITE = {f"{number}.html": str(number % 7).encode() for number in range(30)}


async def test_an_artifact_is_recorded_in_pieces(database: str, tmp_path: Path) -> None:
    async with recorded_in(database, tmp_path) as kept:
        files = await kept.store(SITE)
        uid = await kept.begin(files)
        for first in range(0, 30, 10):
            await kept.add(uid, files[first : first + 10])
            assert await kept.problems() == []
        await kept.seal(uid)
        assert await kept.problems() == []
        listed = await kept.database.read(partial(artifacts.files_of, uid))
        assert {file.path: file.sha256 for file in listed} == {file.path: file.sha256 for file in files}
        assert len([one async for one in kept.disk.list_blobs()]) == 7
        kept.clock.advance(days=30)
        await collect_garbage(kept.disk, kept.database, grace=0)
        assert len(await kept.database.read(partial(artifacts.files_of, uid))) == 30


async def test_one_that_lacks_files_cannot_be_sealed(database: str, tmp_path: Path) -> None:
    async with recorded_in(database, tmp_path) as kept:
        files = await kept.store(SITE)
        for claimed in ({}, {"size": 1}):
            uid = await kept.begin(files, **claimed)
            await kept.add(uid, files[: len(files) - (not claimed)])
            with pytest.raises(BlobGone):
                await kept.seal(uid)


async def test_one_that_is_never_sealed_is_collected(database: str, tmp_path: Path) -> None:
    async with recorded_in(database, tmp_path) as kept:
        files = await kept.store(SITE)
        uid = await kept.begin(files)
        await kept.add(uid, files)
        kept.clock.advance(days=2)
        for _ in range(2):
            await collect_garbage(kept.disk, kept.database, grace=0, min_age=0)
        assert [one async for one in kept.disk.list_blobs()] == []
        with pytest.raises(BlobGone):
            await kept.seal(uid)


async def test_bytes_that_were_collected_meanwhile_are_noticed(database: str, tmp_path: Path) -> None:
    async with recorded_in(database, tmp_path) as kept:
        files = await kept.store(SITE)
        uid = await kept.begin(files)
        kept.clock.advance(hours=1)
        await collect_garbage(kept.disk, kept.database, grace=0)
        with pytest.raises(BlobGone):
            await kept.add(uid, files)
        again = await kept.store(SITE)
        await kept.add(uid, again)
        await kept.seal(uid)
        assert await kept.problems() == []


async def test_what_is_there_already_is_reserved_again(database: str, tmp_path: Path) -> None:
    async with recorded_in(database, tmp_path) as kept:
        first = await kept.store(SITE)
        uid = await kept.begin(first)
        await kept.add(uid, first)
        await kept.seal(uid)
        again = await kept.store(SITE | {"new.html": b"new"})
        assert {file.generation for file in again} == {0}
        assert len([one async for one in kept.disk.list_blobs()]) == 8


@pytest.mark.parametrize("path", ["", "/a", "a//b", "../a", "a\0b", "a\\b"])
async def test_a_path_of_a_file_is_checked(file: str, tmp_path: Path, path: str) -> None:
    async with recorded_in(file, tmp_path) as kept:
        files = await kept.store({"a": b"a"})
        uid = await kept.begin(files)
        wrong = ArtifactFile(path=path, sha256=files[0].sha256, generation=0, size=1, media_type="text/plain")
        with pytest.raises(InvalidArgument):
            await kept.add(uid, [wrong])


async def test_one_with_many_files_is_deleted_in_pieces(database: str, tmp_path: Path) -> None:
    """While it is, it cannot be held any more: it may lack files already."""
    async with recorded_in(database, tmp_path) as kept:
        files = await kept.store(SITE)
        uid = await kept.begin(files)
        await kept.add(uid, files)
        await kept.seal(uid)
        other = await kept.begin(files[:1])
        await kept.add(other, files[:1])
        await kept.database.run(partial(recording.seal_artifact, other, "edition:2"), name="test")
        assert await kept.database.run(partial(artifacts.delete_files_of_unreferenced, 10), name="test") == 0
        await kept.database.run(partial(artifacts.release, "edition:1"), name="test")
        for left in (10, 10, 10, 0):
            assert await kept.database.run(partial(artifacts.delete_files_of_unreferenced, 10), name="test") == left
            with pytest.raises(NotFound):
                await kept.database.run(partial(artifacts.hold, "edition:1", uid), name="test")
            assert await kept.problems() == []
        assert await kept.database.run(partial(artifacts.delete_unreferenced, 10), name="test") == 1
        kept.clock.advance(days=2)
        await collect_garbage(kept.disk, kept.database, grace=0, min_age=0)
        assert [one.size async for one in kept.disk.list_blobs()] == [1]
        assert len(await kept.database.read(partial(artifacts.files_of, other))) == 1


async def test_a_file_without_a_source_must_be_one_that_an_artifact_refers_to(database: str, tmp_path: Path) -> None:
    async with recorded_in(database, tmp_path) as kept:
        with pytest.raises(BlobGone):
            await store_files(kept.disk, kept.database, [_UNKNOWN])
