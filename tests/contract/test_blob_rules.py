"""The rules of blobs hold on both databases, whose statements differ. The stories behind them are in journeys/."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pressroom import Pressroom
from pressroom.artifact_lifecycle import bundle_draft, store_file
from pressroom.artifacts.disk import Disk
from pressroom.clock import ManualClock
from pressroom.errors import BlobGone
from pressroom.model import Work
from pressroom.store.artifacts import artifacts, blobs
from pressroom.store.artifacts.artifacts import ArtifactFile
from tests import looking

DAY = 86_400_000


class Kept:
    """Bytes in a folder and their rows in a database, on a clock that the test moves."""

    def __init__(self, address: str, press: Pressroom, disk: Disk, clock: ManualClock) -> None:
        self.clock = clock
        self._address = address
        self._database = press._database
        self._disk = disk

    async def run[T](self, work: Work[T]) -> T:
        return await self._database.run(lambda: work, name="kept")

    async def put(self) -> ArtifactFile:
        return await store_file(self._disk, self._database, "a.txt", b"hello", media_type="text/plain")

    async def record(self, part: ArtifactFile) -> str:
        return (await self.run(artifacts.record(bundle_draft([part], media_type="text/plain"), keep_for=DAY))).uid

    @property
    def blob(self) -> tuple[Any, ...]:
        ((generation, state),) = looking.rows(self._address, "SELECT generation, state FROM blob")
        return generation, state


@asynccontextmanager
async def kept_in(database: str, folder: Path) -> AsyncIterator[Kept]:
    clock = ManualClock()
    async with Pressroom(database, workers=None, clock=clock) as press:
        yield Kept(database, press, Disk(folder / "kept", clock), clock)


async def test_bytes_that_two_bundles_share_are_kept_for_the_one_that_is_left(database: str, tmp_path: Path) -> None:
    async with kept_in(database, tmp_path) as kept:
        first, second = [await kept.record(await kept.put()) for _ in range(2)]

        await kept.run(artifacts.delete_artifacts([first]))
        assert kept.blob == (0, "live")
        await kept.run(artifacts.delete_artifacts([second]))
        assert kept.blob == (0, "marked")


@pytest.mark.parametrize("change", [{"size": 4}, {"generation": 1}])
async def test_a_bundle_that_is_wrong_about_its_bytes_is_refused(database: str, tmp_path: Path, change: dict[str, int]) -> None:
    async with kept_in(database, tmp_path) as kept:
        part = await kept.put()

        with pytest.raises(BlobGone):
            await kept.record(msgspec.structs.replace(part, **change))

        assert kept.blob == (0, "marked")


async def test_a_bundle_does_not_rely_on_bytes_that_are_condemned(database: str, tmp_path: Path) -> None:
    async with kept_in(database, tmp_path) as kept:
        part = await kept.put()
        kept.clock.advance(days=2)
        assert await kept.run(blobs.condemn_marked(DAY, 10)) == 1

        with pytest.raises(BlobGone):
            await kept.record(part)

        assert kept.blob == (0, "deleting")


async def test_a_burial_that_comes_late_does_not_bury_what_was_put_again(database: str, tmp_path: Path) -> None:
    async with kept_in(database, tmp_path) as kept:
        await kept.put()
        kept.clock.advance(days=2)
        await kept.run(blobs.condemn_marked(DAY, 10))
        gone = await kept.run(blobs.list_condemned(10))
        await kept.run(blobs.record_deleted(gone))
        await kept.put()
        kept.clock.advance(days=2)
        await kept.run(blobs.condemn_marked(DAY, 10))

        assert await kept.run(blobs.record_deleted(gone)) == 0

        assert kept.blob == (1, "deleting")
