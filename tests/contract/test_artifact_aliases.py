"""Second names of bytes in every kind of artifact store, and what keeps and deletes them (R23)."""

from functools import partial

import pytest

from pressroom import artifact_lifecycle
from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.artifact_lifecycle.fsck import fsck
from pressroom.errors import BlobGone, InvalidArgument, NotFound
from pressroom.pressroom import Pressroom
from pressroom.store.artifacts import aliases, artifacts
from tests.contract.conftest import Shelf

PATH = "renders/0199e3c3-0000-7000-8000-000000000000/offer.pdf"


async def _has(shelf: Shelf, path: str) -> bool:
    try:
        await shelf.blobs.alias_size(path)
    except NotFound:
        return False
    return True


async def test_bytes_are_found_by_a_second_name_until_it_is_deleted(shelf: Shelf) -> None:
    first, second = [await shelf.blobs.put(data) for data in (b"one", b"the second")]

    await shelf.blobs.alias(first.key, PATH)
    await shelf.blobs.alias(first.key, PATH)
    assert await shelf.blobs.alias_size(PATH) == 3
    await shelf.blobs.alias(second.key, PATH)
    assert await shelf.blobs.alias_size(PATH) == 10
    assert {blob.key async for blob in shelf.blobs.list_blobs()} == {first.key, second.key}, "a second name is no blob"

    await shelf.blobs.unalias([PATH, PATH])
    assert not await _has(shelf, PATH)
    assert await shelf.blobs.verify(second.key)


async def test_bytes_that_are_not_there_get_no_second_name(shelf: Shelf) -> None:
    with pytest.raises(NotFound):
        await shelf.blobs.alias("0" * 64, PATH)


@pytest.mark.parametrize("path", ["blobs/00/x", "renders/../secret", "renders", "/renders/x", "renders/.x", "renders/A B", ""])
async def test_no_second_name_leaves_its_place(shelf: Shelf, path: str) -> None:
    for call in (partial(shelf.blobs.alias, "0" * 64, path), partial(shelf.blobs.unalias, [path])):
        with pytest.raises(InvalidArgument):
            await call()


async def test_a_second_name_lives_as_long_as_its_artifact(shelf: Shelf, database: str) -> None:
    async with Pressroom(database, workers=None) as press:
        db = press.rendering.database
        draft = await artifact_lifecycle.store_artifact(shelf.blobs, db, b"%PDF-1.7", media_type="application/pdf")
        await artifact_lifecycle.name_artifact(shelf.blobs, db, draft, PATH)
        await db.run(partial(artifacts.record, draft, holder="pack:1"), name="record")
        await db.run(partial(aliases.attach, PATH, draft.uid), name="record")

        assert (await collect_garbage(shelf.blobs, db, grace=0)).unaliased == 0
        assert await fsck(shelf.blobs, db) == []
        await shelf.blobs.unalias([PATH])
        assert [problem.what for problem in await fsck(shelf.blobs, db)] == ["alias"]
        await shelf.blobs.alias(artifact_lifecycle.blob_key(await db.read(partial(artifacts.get, draft.uid))), PATH)

        await db.run(partial(artifacts.release, "pack:1"), name="record")
        counts = await collect_garbage(shelf.blobs, db, grace=0)

        assert (counts.dropped, counts.unaliased) == (1, 1)
        assert not await _has(shelf, PATH)


async def test_a_second_name_of_an_attempt_that_never_settled_is_collected(shelf: Shelf, database: str) -> None:
    """And one that is being deleted is given to nothing: the next attempt comes later."""
    async with Pressroom(database, workers=None) as press:
        db = press.rendering.database
        draft = await artifact_lifecycle.store_artifact(shelf.blobs, db, b"%PDF-1.7", media_type="application/pdf")
        await artifact_lifecycle.name_artifact(shelf.blobs, db, draft, PATH)
        assert (await collect_garbage(shelf.blobs, db, grace=3600)).unaliased == 0
        await db.run(partial(aliases.condemn_unattached, 0, 10), name="collect")
        with pytest.raises(BlobGone):
            await artifact_lifecycle.name_artifact(shelf.blobs, db, draft, PATH)

        assert (await collect_garbage(shelf.blobs, db, grace=0)).unaliased == 1

        assert not await _has(shelf, PATH)
        await artifact_lifecycle.name_artifact(
            shelf.blobs,
            db,
            await artifact_lifecycle.store_artifact(shelf.blobs, db, b"%PDF-1.7", media_type="application/pdf"),
            PATH,
        )
        assert await _has(shelf, PATH)
