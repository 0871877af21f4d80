"""What a pack's link leads to: a document that is locked or disabled is not downloaded by it, in no way."""

import io
import zipfile

from pressroom.apps.packs.access import Overlay
from pressroom.apps.packs.store import save_overlay
from tests.apps.packs.conftest import Staging


async def test_a_document_that_was_locked_meanwhile_is_not_downloaded_by_a_link(staged: Staging) -> None:
    """The pages did not show it, and the API gave it away."""
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render")
        files = {doc_id: one["file_id"] for doc_id, one in (await stage.settled(pack)).items()}
        link = (await stage.http.post(f"/packs/{pack}/link")).json()["link"]
        stranger = stage.client(None)
        reached = await stranger.get(f"/files/{files['offer']}/download?link={link}")

        lock = Overlay(doc_id="offer", scope="pack", scope_id=pack, tier="paid")
        await stage.app.packs.database.run(lambda: save_overlay("", lock, "test"), name="test")

        refused = await stranger.get(f"/files/{files['offer']}/download?link={link}")
        archive = zipfile.ZipFile(io.BytesIO((await stranger.get(f"/packs/{pack}.zip?link={link}")).content))
        assert (reached.status_code, refused.status_code) == (200, 404)
        assert archive.namelist() == ["checklist.pdf"]
        assert (await stage.http.get(f"/files/{files['offer']}/download")).status_code == 200
