"""A deleted pack goes after its retention, and its files with it."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest

from pressroom.apps.packs import store
from pressroom.apps.packs.settings import PacksSettings
from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.store.engine.postgres_connection import SCHEMA
from pressroom.testing import ManualClock
from tests import looking
from tests.apps.packs.conftest import Staging

TABLES = ("packs_pack", "packs_data", "packs_render", "packs_document")


async def test_a_pack_is_purged_when_its_retention_is_over_and_its_bytes_are_collected(staged: Staging, database: str) -> None:
    clock = ManualClock()
    async with staged(settings=PacksSettings(retention=30 * 24 * 3600.0), clock=clock) as stage:
        await stage.configure()
        gone, kept = await stage.new_pack(), await stage.new_pack()
        for pack in (gone, kept):
            await stage.http.post(f"/packs/{pack}/render/offer")
            await stage.settled(pack)
        await stage.http.delete(f"/packs/{gone}")

        async def purge() -> int:
            await stage.app.purging.submit_if_due()
            jobs = (await stage.press.list(kind="packs.purge")).jobs
            return sum([(await stage.press.wait(job, timeout=60))["purged"] for job in jobs])

        clock.advance(days=29)
        assert await purge() == 0
        clock.advance(days=1, hours=1)
        assert await purge() == 1

        rows = {table: looking.rows(database, f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}
        assert rows == dict.fromkeys(TABLES, 1)
        # Jobs of a week ago are pruned, and so nothing but the pack's holds kept the files.
        while await stage.press.maintenance.prune():
            pass
        await collect_garbage(stage.app.rendering.blobs, stage.app.packs.database)
        clock.advance(days=2)
        await collect_garbage(stage.app.rendering.blobs, stage.app.packs.database)
        offer = (await stage.documents(kept))["offer"]
        link = (await stage.http.get(f"/files/{offer['file_id']}/download")).json()["url"]
        assert (await stage.http.get(link)).content.startswith(b"%PDF")
        media = looking.rows(database, "SELECT filename FROM artifact WHERE media_type = 'application/pdf'")
        assert len(media) == 1


HOLDS = "SELECT holder FROM artifact_hold ORDER BY holder"


@pytest.mark.parametrize("database", ["on_server"], indirect=True)
@pytest.mark.parametrize("meanwhile", ["restored", "rendered"])
async def test_a_pack_that_changes_while_it_is_purged(
    staged: Staging, database: str, eventually: Callable[..., Any], meanwhile: str
) -> None:
    """Restored in the last moment it lost its files; a render that ended then left its file held for ever."""
    async with staged(workers=None) as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render/offer")
        await stage.http.delete(f"/packs/{pack}")
        held = looking.rows(database, HOLDS)
        async with await psycopg.AsyncConnection.connect(database) as other:
            await other.execute(f"SET search_path TO {SCHEMA}")
            if meanwhile == "restored":
                await other.execute("UPDATE packs_pack SET date_deleted = NULL")
            else:
                await other.execute("UPDATE packs_render SET outcome = 'ready', date_settled = 1, artifact = snapshot")
                await other.execute(
                    "INSERT INTO artifact_hold (holder, artifact, date_created) SELECT %s, snapshot, 1 FROM packs_render",
                    (store.file_holder(pack, "offer", 1),),
                )
            purge = asyncio.create_task(stage.app.packs.database.run(partial(store.purge_packs, -1_000), name="test"))
            await eventually(lambda: looking.rows(database, "SELECT 1 FROM pg_locks WHERE NOT granted"))
            await other.commit()
            await purge

        assert len(held) == 1  # the snapshot
        assert looking.rows(database, HOLDS) == (held if meanwhile == "restored" else [])
        assert looking.rows(database, "SELECT count(*) FROM packs_pack")[0][0] == (meanwhile == "restored")


async def test_files_beyond_those_to_keep_are_released_over_time(
    staged: Staging, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many that were kept before the setting was lowered, only the newest were ever released."""
    monkeypatch.setattr(store, "RELEASED_AT_ONCE", 2, raising=False)
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        for number in range(1, 6):
            if number == 4:
                stage.app._renders._keep = 1
            await stage.http.post(f"/packs/{pack}/render/checklist")
            await stage.settled(pack)

        held = looking.rows(database, f"SELECT holder FROM artifact_hold WHERE holder LIKE 'packs:{pack}/checklist%'")
        assert held == [(store.file_holder(pack, "checklist", 5),)]
