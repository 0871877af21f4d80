"""Pages of batches, renders, one PDF and documents of the registry, as a browser gets them: without a script."""

import io
import json
from zipfile import ZipFile

import pypdf

from pressroom.api.access import Scope
from pressroom.apps.packs.model import Pack
from tests.apps.packs.test_pages import WRONG_DATE, Library, library, post, row
from tests.web.browsing import Page, Person, member

CSV = "title,person.name,start\nAnna,Anna Example,2027-01-01\nBert,Bert Example,soon\n"


async def followed(person: Person, location: str) -> bytes:
    """What a download leads to."""
    answer = await person.get(location)
    while answer.status_code in (302, 303):
        answer = await person.get(answer.headers["location"])
    assert answer.status_code == 200, answer.text
    return answer.content


async def test_one_pdf_of_a_pack_is_made_and_downloaded_from_its_page(database: str) -> None:
    async with library(database) as scene, member(scene.stage, Scope.SUBMITTER, "red") as person:
        nothing = await scene.pack(title="nothing ready")
        pack = await scene.pack(render=True)
        page = f"/library/{pack.id}"

        refused = await person.post(f"/library/{nothing.id}/bundle", {"contents": "yes"})
        asked = await post(person, page, f"{page}/bundle", contents="yes", page_numbers="yes", stamp="COPY")
        bundle = await scene.app.bundles.find(pack)
        assert bundle.latest is not None
        await scene.ended(bundle.latest.job_uid)
        shown = await person.get(page)
        data = await followed(person, f"{page}/bundle/download")

        assert (refused.status_code, "Nothing was queued." in refused.text) == (409, True)
        assert asked.headers["location"] == page
        assert "Download as one PDF" in shown.text
        assert bundle.latest.order.stamp == "COPY"
        text = "".join(one.extract_text() for one in pypdf.PdfReader(io.BytesIO(data)).pages)
        assert ("Offer for Anna Example" in text, "Checklist" in text, "COPY" in text) == (True, True, True)
        assert (await person.get(f"/library/{nothing.id}/bundle/download")).status_code == 404
        too_long = await person.post(f"{page}/bundle", {"stamp": "x" * 201})
        assert too_long.status_code == 422


async def test_a_batch_is_made_from_pasted_lines_watched_retried_and_downloaded(database: str) -> None:
    async with library(database) as scene, member(scene.stage, Scope.SUBMITTER, "red") as person:
        empty = await person.get("/library/batches")
        wrong = await person.post("/library/batches", {"format": "csv", "lines": "a,a\n1,2"})
        made = await post(person, "/library/batches", "/library/batches", format="csv", lines=CSV)
        address = made.headers["location"]
        (batch,) = (await scene.stage.press.list(kind="packs.batch")).jobs
        await scene.ended(batch.uid)
        for job in (await scene.stage.press.list(kind="packs.render")).jobs:
            await scene.ended(job.uid)
        shown = await person.get(address)
        failed = await person.get(f"{address}?status=failed")
        listed = await person.get("/library/batches")
        archive = await person.get(f"{address}.zip")
        retried = await post(person, address, f"{address}/retry")
        async with member(scene.stage, Scope.SUBMITTER, "blue") as stranger:
            foreign = [(await stranger.get(path)).status_code for path in (address, f"{address}.zip")]

        assert "There are no batches yet." in empty.text
        assert (wrong.status_code, "stands twice" in wrong.text, "a,a\n1,2" in wrong.text) == (422, True, True)
        assert "Anna" in row(shown.text, "line-2")
        assert "ready" in row(shown.text, "line-2")
        assert "offer:" in row(shown.text, "line-3")
        assert 'id="line-2"' not in failed.text
        assert "⚠ ended" in Page(listed.text).words
        assert "2 Anna/offer.pdf" in ZipFile(io.BytesIO(archive.content)).namelist()
        assert retried.headers["location"] == address
        assert foreign == [404, 404]


async def failed_pack(scene: Library) -> Pack:
    return await scene.pack(WRONG_DATE, render=True, title="a wrong date")


async def test_failed_renders_of_all_packs_are_listed_and_requested_again(database: str) -> None:
    async with library(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        pack = await failed_pack(scene)
        shown = await person.get("/library/renders?status=failed")
        by_pack = await person.get(f"/library/renders?pack={pack.id}")
        (failed,) = (one for one in await scene.app.packs.renders(pack, "offer") if one.status == "failed")
        again = await post(person, "/library/renders?status=failed", f"/library/renders/{failed.job_id}/requeue")
        newest = (await scene.app.packs.renders(pack, "offer"))[0]
        await scene.ended(newest.job_uid)
        every = await post(person, "/library/renders", "/library/renders/requeue")
        wrong = [(await person.get(f"/library/renders?{query}")).status_code for query in ("status=lost", "pack=7")]
        async with member(scene.stage, Scope.OPERATOR, "blue") as stranger:
            foreign = await stranger.get("/library/renders")
            taken = await stranger.post(f"/library/renders/{failed.job_id}/requeue", {})
        async with member(scene.stage, Scope.SUBMITTER, "red") as submitter:
            refused = await submitter.get("/library/renders")

        assert "offer" in row(shown.text, f"render-{failed.job_id}")
        assert by_pack.text.count("data-row") == 2
        assert newest.number == 2
        assert (again.status_code, every.status_code) == (303, 303)
        assert wrong == [422, 422]
        assert failed.job_id not in foreign.text
        assert "location" not in taken.headers or "status=failed" in taken.headers["location"]
        assert refused.status_code == 403


async def test_a_document_of_the_registry_is_changed_added_moved_and_removed_in_a_form(database: str) -> None:
    async with library(database) as scene, member(scene.stage, Scope.ADMIN, "red") as person:
        key = "/library/settings/documents_registry"
        form = "/library/settings/documents"
        offer = {"replaces": "offer", "doc_id": "offer", "title": "The offer", "is_enabled": "yes", "tier": "paid"}
        offer |= {"template": "offer", "style": "base", "engine": "html", "place": "2", "required": "person.name\nstart"}
        offer |= {"sample": '{"person": {"name": "Sample"}}', "options": ""}

        shown = await person.get(f"{form}/offer")
        changed = await post(person, f"{form}/offer", form, **offer)
        added = await post(person, form, form, **offer | {"replaces": "", "doc_id": "second", "place": ""})
        twice = await person.post(form, offer | {"replaces": "", "doc_id": "second"})
        broken = await person.post(form, offer | {"sample": "{"})
        removed = await post(person, f"{form}/retired", f"{form}/remove", doc_id="retired")
        published = await person.post(f"{key}/publish", {"number": "4"})
        unknown = await person.get(f"{form}/nothing")

        assert 'value="Offer"' in shown.text
        assert [answer.status_code for answer in (changed, added, removed, published)] == [303] * 4
        assert (twice.status_code, broken.status_code, unknown.status_code) == (422, 422, 422)
        assert ("there is a document" in twice.text, "sample is not JSON" in broken.text) == (True, True)
        assert 'value="The offer"' in broken.text
        registry = json.loads(await scene.app.configuration.read_body("red", "documents_registry", 4))
        assert [one["doc_id"] for one in registry] == ["checklist", "offer", "report", "second"]
        assert registry[1]["title"] == "The offer"
        assert registry[1]["required"] == ["person.name", "start"]
        assert registry[1]["sample"] == {"person": {"name": "Sample"}}
