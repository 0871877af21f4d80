"""A deleted pack goes after its retention, and its files with it."""

from pressroom.apps.packs.settings import PacksSettings
from pressroom.artifact_lifecycle.collect import collect_garbage
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
