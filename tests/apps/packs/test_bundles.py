"""One PDF of a pack's documents: which, in what order, under which titles, and what is held."""

import dataclasses
import io
from typing import Any

import pypdf
import pytest

from pressroom.apps.packs.access import Overlay
from pressroom.apps.packs.store import purge_packs, save_overlay
from pressroom.renderers.pdf.engine import Pdf
from tests.apps.packs.conftest import Stage, Staging

GERMAN = '{"company": "Beispiel GmbH", "document.offer": "Angebot"}'


async def bundled(stage: Stage, pack: str, wanted: Any = None) -> dict[str, Any]:
    """The bundle of a pack, once the job that this requests has ended."""
    requested = await stage.http.post(f"/packs/{pack}/bundle", json=wanted)
    assert requested.status_code == 200, requested.text
    await stage.press.wait_until_ended(requested.json()["job_id"], timeout=120)
    found: dict[str, Any] = (await stage.http.get(f"/packs/{pack}/bundle")).json()
    return found


async def downloaded(stage: Stage, file_id: str, query: str = "") -> pypdf.PdfReader:
    client = stage.client(None) if query else stage.http
    link = (await client.get(f"/files/{file_id}/download{query}")).json()
    return pypdf.PdfReader(io.BytesIO((await stage.http.get(link["url"])).content))


async def ready_pack(stage: Stage, **fields: Any) -> str:
    await stage.configure()
    pack = await stage.new_pack(**fields)
    await stage.http.post(f"/packs/{pack}/render")
    await stage.settled(pack)
    return pack


async def test_the_ready_documents_become_one_pdf(staged: Staging) -> None:
    """In the order of the registry, with contents in the pack's language, an outline, and page numbers that run on."""
    async with staged() as stage:
        await stage.app.configuration.put(None, "strings:de", GERMAN, author="test")
        pack = await ready_pack(stage, lang="de", title="Anna Example")
        assert (await stage.http.get(f"/packs/{pack}/bundle")).json()["status"] == "not_requested"

        bundle = await bundled(stage, pack)

        assert (bundle["status"], bundle["pages"], bundle["outdated"], bundle["last_error"]) == ("ready", 3, False, None)
        assert [(one["doc_id"], one["title"], one["version"]) for one in bundle["documents"]] == [
            ("offer", "Angebot", 1),
            ("checklist", "Checklist", 1),
        ]
        assert bundle["good"]["file_id"] == bundle["file_id"]
        pdf = await downloaded(stage, bundle["file_id"])
        assert [(item.title, pdf.get_destination_page_number(item)) for item in pdf.outline if not isinstance(item, list)] == [
            ("Inhalt", 0),
            ("Angebot", 1),
            ("Checklist", 2),
        ]
        texts = [page.extract_text() for page in pdf.pages]
        assert [f"{number} / 3" in text for number, text in enumerate(texts, 1)] == [True] * 3
        assert "Inhalt" in texts[0]
        assert "Anna Example" in texts[1]
        assert (pdf.metadata.title, pdf.root_object["/Lang"]) == ("Anna Example", "de")
        again = await bundled(stage, pack)
        assert again["good"]["sha256"] == bundle["good"]["sha256"]


async def test_named_documents_are_in_the_order_of_the_call_with_the_stamps_of_their_states(staged: Staging) -> None:
    async with staged() as stage:
        pack = await ready_pack(stage)
        documents = [{"doc_id": "checklist", "state": "draft", "title": "To do"}, "offer"]

        bundle = await bundled(
            stage,
            pack,
            {"documents": documents, "contents": False, "page_numbers": False, "stamp": "Copy", "stamps": {"draft": "Draft"}},
        )

        pdf = await downloaded(stage, bundle["file_id"])
        first, second = (page.extract_text() for page in pdf.pages)
        assert ("Checklist" in first, "Draft" in first, "Copy" in first) == (True, True, False)
        assert ("Offer for" in second, "Draft" in second, "Copy" in second) == (True, False, True)
        assert [item.title for item in pdf.outline if not isinstance(item, list)] == ["To do", "Offer"]


async def test_what_is_not_ready_is_named(staged: Staging) -> None:
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()

        nothing = await stage.http.post(f"/packs/{pack}/bundle")

        assert (nothing.status_code, nothing.json()["code"]) == (409, "documents_not_ready")
        assert nothing.json()["missing"] == ["offer", "checklist"]
        await stage.http.post(f"/packs/{pack}/render/offer")
        await stage.settled(pack)
        some = (await stage.http.post(f"/packs/{pack}/bundle")).json()
        assert (some["documents"], some["missing"]) == (["offer"], ["checklist"])
        refusals = {}
        for name in ("checklist", "report", "retired", "ofer"):
            answer = await stage.http.post(f"/packs/{pack}/bundle", json={"documents": [name]})
            refusals[name] = (answer.status_code, answer.json()["code"])
        assert refusals == {
            "checklist": (409, "documents_not_ready"),
            "report": (403, "DOCUMENT_LOCKED"),
            "retired": (400, "DOCUMENT_DISABLED"),
            "ofer": (404, "unknown_document"),
        }
        twice = await stage.http.post(f"/packs/{pack}/bundle", json={"documents": ["offer", "offer"]})
        assert (twice.status_code, twice.json()["detail"]) == (422, "documents: 'offer' is named twice")


async def test_a_bundle_is_outdated_when_one_made_now_would_differ(staged: Staging) -> None:
    async with staged() as stage:
        pack = await ready_pack(stage)
        await bundled(stage, pack)
        chosen = await stage.new_pack()
        await stage.http.post(f"/packs/{chosen}/render")
        await stage.settled(chosen)
        await bundled(stage, chosen, {"documents": ["checklist"]})

        for one in (pack, chosen):
            await stage.http.post(f"/packs/{one}/render/offer")
            await stage.settled(one)

        assert (await stage.http.get(f"/packs/{pack}/bundle")).json()["outdated"] is True
        assert (await stage.http.get(f"/packs/{chosen}/bundle")).json()["outdated"] is False
        assert (await bundled(stage, pack))["outdated"] is False
        lock = Overlay(doc_id="checklist", scope="pack", scope_id=pack, enabled=False)
        await stage.app.packs.database.run(lambda: save_overlay("", lock, "test"), name="test")
        assert (await stage.http.get(f"/packs/{pack}/bundle")).json()["outdated"] is True


async def test_requests_while_one_is_queued_are_one_job(staged: Staging) -> None:
    """The newest wins."""
    async with staged() as stage:
        pack = await ready_pack(stage)
        await stage.press.queue.pause("packs.bundle")

        first = (await stage.http.post(f"/packs/{pack}/bundle")).json()
        second = (await stage.http.post(f"/packs/{pack}/bundle", json={"documents": ["offer"], "contents": False})).json()

        assert (first["job_id"], first["version"], second["version"]) == (second["job_id"], 1, 2)
        assert (await stage.http.get(f"/packs/{pack}/bundle")).json()["status"] == "queued"
        await stage.press.queue.resume("packs.bundle")
        await stage.press.wait_until_ended(first["job_id"], timeout=120)
        bundle = (await stage.http.get(f"/packs/{pack}/bundle")).json()
        assert (bundle["status"], bundle["version"], bundle["pages"]) == ("ready", 2, 1)


async def test_the_newest_file_is_held_until_the_next_is_ready(staged: Staging) -> None:
    """A failure hides no good file, and what is purged with its pack is released."""
    async with staged() as stage:
        pack = await ready_pack(stage)
        first = await bundled(stage, pack)

        second = await bundled(stage, pack, {"stamp": "Copy"})

        assert first["file_id"] != second["file_id"]
        assert (await stage.http.get(f"/files/{first['file_id']}/download")).status_code == 404
        requested = (await stage.http.post(f"/packs/{pack}/bundle", json={"documents": ["offer"]})).json()
        await stage.press.wait_until_ended(requested["job_id"], timeout=120)
        database = stage.app.packs.database
        assert await held(stage, pack) == 1
        await stage.http.delete(f"/packs/{pack}")
        await database.run(lambda: purge_packs(-1_000), name="test")
        assert await held(stage, pack) == 0


async def held(stage: Stage, pack: str) -> int:
    async with stage.press.transaction() as tx:
        ((count,),) = await tx.execute(
            "SELECT count(*) FROM artifact_hold WHERE holder = :holder", {"holder": f"packs:{pack}/bundle"}
        )
    return int(count)


async def test_a_bundle_that_fails_leaves_the_good_one(staged: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    async with staged() as stage:
        pack = await ready_pack(stage)
        good = await bundled(stage, pack)
        monkeypatch.setattr(Pdf, "limits", dataclasses.replace(Pdf.limits, source=10))

        failed = await bundled(stage, pack)

        assert (failed["status"], failed["file_id"]) == ("failed", None)
        assert failed["last_error"]
        assert failed["good"]["file_id"] == good["file_id"]
        assert (await stage.http.get(f"/files/{good['file_id']}/download")).status_code == 200


async def test_the_link_of_a_pack_leads_to_its_bundle_and_to_no_other(staged: Staging) -> None:
    async with staged() as stage:
        pack, other = await ready_pack(stage), await stage.new_pack()
        bundle = await bundled(stage, pack)
        links = {one: (await stage.http.post(f"/packs/{one}/link")).json()["link"] for one in (pack, other)}
        stranger = stage.client(None)

        seen = await stranger.get(f"/packs/{pack}/bundle?link={links[pack]}")
        pdf = await downloaded(stage, bundle["file_id"], f"?link={links[pack]}")

        assert (seen.status_code, seen.json()["file_id"], len(pdf.pages)) == (200, bundle["file_id"], 3)
        assert (await stranger.get(f"/packs/{pack}/bundle?link={links[other]}")).status_code == 404
        assert (await stranger.get(f"/files/{bundle['file_id']}/download?link={links[other]}")).status_code == 404
        assert (await stranger.get(f"/packs/{pack}/bundle")).status_code == 401
        assert (await stage.client("red-reader").get(f"/packs/{pack}/bundle")).status_code == 404


async def test_a_bundle_whose_job_is_retried_is_ready(staged: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    """The retry is a job of its own, and what it had made was not kept."""
    async with staged() as stage:
        pack = await ready_pack(stage)
        with monkeypatch.context() as patch:
            patch.setattr(Pdf, "limits", dataclasses.replace(Pdf.limits, source=10))
            failed = await bundled(stage, pack)

        retried = await stage.press.retry(failed["job_id"])
        await stage.press.wait(retried, timeout=120)

        bundle = (await stage.http.get(f"/packs/{pack}/bundle")).json()
        assert (failed["status"], bundle["status"], bundle["version"], bundle["last_error"]) == ("failed", "ready", 1, None)
        assert (await stage.http.get(f"/files/{bundle['file_id']}/download")).status_code == 200
