"""Bytes and rows together, on every kind of artifact store: kept, found, collected, checked."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.artifact_lifecycle import blob_key, bundle_draft, store_artifact, store_file
from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.artifact_lifecycle.fsck import fsck
from pressroom.backends import open_database
from pressroom.config import Settings
from pressroom.errors import NotFound
from pressroom.store import Database
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import ArtifactDraft
from tests.contract.conftest import Shelf

DAY = 86_400_000


@asynccontextmanager
async def opened(database: str, shelf: Shelf) -> AsyncIterator[Database]:
    rows = open_database(Settings(database=database), shelf.clock, BUILT_IN_SCHEMA)
    try:
        yield rows
    finally:
        await rows.close()


def recorded(draft: ArtifactDraft) -> Callable[[], artifacts.Work[artifacts.Artifact]]:
    return lambda: artifacts.record(draft, keep_for=DAY)


async def test_what_is_kept_is_sound_until_it_expires_and_then_goes_with_its_bytes(shelf: Shelf, database: str) -> None:
    async with opened(database, shelf) as rows:
        one = await store_artifact(shelf.blobs, rows, b"<svg/>", media_type="image/svg+xml")
        page = await store_file(shelf.blobs, rows, "index.html", b"<html/>", media_type="text/html")
        picture = await store_file(shelf.blobs, rows, "logo.svg", b"<svg/>", media_type="image/svg+xml")
        many = bundle_draft([page, picture], media_type="text/html")
        for draft in (one, many):
            await rows.run(recorded(draft), name="record")

        assert await fsck(shelf.blobs, rows, grace=0) == []
        assert len([listed async for listed in shelf.blobs.list_blobs()]) == 2

        shelf.clock.advance(days=2)
        assert (await collect_garbage(shelf.blobs, rows)).dropped == 2
        shelf.clock.advance(days=2)
        assert (await collect_garbage(shelf.blobs, rows)).deleted == 2

        assert [listed async for listed in shelf.blobs.list_blobs()] == []
        assert await fsck(shelf.blobs, rows, grace=0) == []


async def test_what_comes_back_after_that_is_there_again(shelf: Shelf, database: str) -> None:
    async with opened(database, shelf) as rows:
        await store_artifact(shelf.blobs, rows, b"<svg/>", media_type="image/svg+xml")
        await collect_garbage(shelf.blobs, rows, grace=0)

        artifact = await rows.run(
            recorded(await store_artifact(shelf.blobs, rows, b"<svg/>", media_type="image/svg+xml")), name="record"
        )

        assert await shelf.blobs.verify(blob_key(artifact))
        assert await fsck(shelf.blobs, rows, grace=0) == []


async def test_fsck_misses_what_was_taken_and_names_what_nobody_knows(shelf: Shelf, database: str) -> None:
    async with opened(database, shelf) as rows:
        taken = await rows.run(
            recorded(await store_artifact(shelf.blobs, rows, b"taken", media_type="text/plain")), name="record"
        )
        await shelf.blobs.delete([blob_key(taken)])
        stray = await shelf.blobs.put(b"stray")

        found = {(one.what, one.subject) for one in await fsck(shelf.blobs, rows, grace=0)}

        assert found == {("missing", blob_key(taken)), ("orphan", stray.key)}
        assert (await collect_garbage(shelf.blobs, rows, min_age=0, orphans=True)).orphans == 1
        with pytest.raises(NotFound):
            await shelf.blobs.size(stray.key)
