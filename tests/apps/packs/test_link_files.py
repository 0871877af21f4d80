"""What a pack's link leads to: a document that is locked or disabled is not downloaded by it, in no way."""

import io
import json
import zipfile
from types import SimpleNamespace

from pressroom.apps.packs.access import Overlay
from pressroom.apps.packs.store import save_overlay
from tests.apps.packs.conftest import Stage, Staging
from tests.apps.packs.test_bundles import bundled
from tests.web.test_live import Ear


async def lock(stage: Stage, pack: str, doc_id: str) -> None:
    overlay = Overlay(doc_id=doc_id, scope="pack", scope_id=pack, tier="paid")
    await stage.app.packs.database.run(lambda: save_overlay("", overlay, "test"), name="test")


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

        await lock(stage, pack, "offer")

        refused = await stranger.get(f"/files/{files['offer']}/download?link={link}")
        archive = zipfile.ZipFile(io.BytesIO((await stranger.get(f"/packs/{pack}.zip?link={link}")).content))
        assert (reached.status_code, refused.status_code) == (200, 404)
        assert archive.namelist() == ["checklist.pdf"]
        assert (await stage.http.get(f"/files/{files['offer']}/download")).status_code == 200


async def test_a_link_does_not_tell_of_documents_that_its_holder_may_not_have(staged: Staging) -> None:
    """The versions of a hidden document were listed, with who had requested them and from which texts."""
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render")
        await stage.settled(pack)
        link = (await stage.http.post(f"/packs/{pack}/link")).json()["link"]
        stranger = stage.client(None)

        seen = (await stranger.get(f"/packs/{pack}/documents/offer?link={link}")).json()["versions"][0]
        hidden = [await stranger.get(f"/packs/{pack}/documents/{one}?link={link}") for one in ("retired", "report", "nosuch")]
        await lock(stage, pack, "offer")
        locked = await stranger.get(f"/packs/{pack}/documents/offer?link={link}")

        told = (seen["version"], seen["requested_by"], seen["config"], seen["config_snapshot"])
        assert told == (1, "", {}, None)
        assert {(one.status_code, one.json()["detail"]) for one in (*hidden, locked)} == {(404, "there is no such document")}
        assert len((await stage.http.get(f"/packs/{pack}/documents/offer")).json()["versions"]) == 1


async def test_a_link_tells_no_errors(staged: Staging) -> None:
    """They name templates and fields of the data; the pages did not show them, and the API gave them away."""
    async with staged(allowed_hosts=("pressroom", "127.0.0.1")) as stage:
        await stage.configure(template__offer="{{ start // 1 }}", documents_registry=json.dumps(ONE))
        await stage.app.queue.pause("packs.render")
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render")
        link = (await stage.http.post(f"/packs/{pack}/link")).json()["link"]
        stranger = stage.client(None)
        path = f"/packs/{pack}/events"

        async with Ear(SimpleNamespace(app=stage.asgi), path, f"link={link}") as ear:  # type: ignore[arg-type]
            await ear.until(b"retry:")
            await stage.app.queue.resume("packs.render")
            await ear.until(b'"type":"failed"')
        failed = (await stage.settled(pack))["offer"]
        answers = [await stranger.get(f"/packs/{pack}/{path}?link={link}") for path in ("documents", "documents/offer")]

        assert "//" in failed["last_error"]
        assert answers[0].json()["documents"][0]["status"] == "failed"
        assert b"error" not in ear.heard
        assert not any(failed["last_error"] in one.text or "source_invalid" in one.text for one in answers)


async def test_a_bundle_with_a_document_that_was_locked_meanwhile_is_not_for_holders_of_the_link(staged: Staging) -> None:
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render")
        await stage.settled(pack)
        bundle = await bundled(stage, pack)
        link = (await stage.http.post(f"/packs/{pack}/link")).json()["link"]
        stranger = stage.client(None)
        before = (await stranger.get(f"/packs/{pack}/bundle?link={link}")).json()

        await lock(stage, pack, "offer")

        after = (await stranger.get(f"/packs/{pack}/bundle?link={link}")).json()
        assert (before["file_id"], before["requested_by"]) == (bundle["file_id"], None)
        assert (after["file_id"], after["good"], after["documents"]) == (None, None, [])
        assert (await stranger.get(f"/files/{bundle['file_id']}/download?link={link}")).status_code == 404
        assert (await stage.http.get(f"/files/{bundle['file_id']}/download")).status_code == 200


ONE = [{"doc_id": "offer", "title": "Offer"}]
