"""The library's pages as a browser gets them: without a script, on both databases (R41)."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import httpx

from pressroom import Pressroom
from pressroom.api.access import Scope
from pressroom.apps.packs.app import PacksApp
from pressroom.apps.packs.demo import fill_demo
from pressroom.apps.packs.model import Pack, PackDraft
from pressroom.apps.packs.settings import PacksSettings
from pressroom.apps.packs.store import PackFilter
from tests.apps.packs.conftest import CONFIG, DATA
from tests.service.access_stage import Stage, on_stage
from tests.web.browsing import Page, Person, browsing, found_token, member
from tests.web.test_live import CHANGED, OPEN, Ear

PNG = b"\x89PNG\r\n\x1a\n"
WRONG_DATE = DATA | {"start": "soon"}


@dataclass
class Library:
    """A service that strangers can reach, with the templates of the organisation `red`."""

    stage: Stage
    app: PacksApp

    async def configure(self, **changed: str) -> None:
        texts = CONFIG | {key.replace("__", ":"): body for key, body in changed.items()}
        await self.app.configuration.put_many("red", texts, author="test")

    async def pack(self, data: Any = DATA, *, render: bool = False, org: str = "red", **fields: str) -> Pack:
        pack = await self.app.packs.create(org, PackDraft(data=data, **{"title": "Anna Example"} | fields), "test")
        if render:
            answer = await self.app.packs.render_all(org, pack.id, requested_by="test")
            await self.ended(*(job.job_uid for job in answer.jobs))
        return pack

    async def render(self, pack: Pack, doc_id: str) -> None:
        answer = await self.app.packs.render_one("red", pack.id, doc_id, requested_by="test")
        await self.ended(*(job.job_uid for job in answer.jobs))

    async def ended(self, *jobs: str) -> None:
        for job in jobs:
            await self.stage.press.wait_until_ended(job, timeout=120)


@asynccontextmanager
async def library(database: str, *, works: bool = True, settings: PacksSettings | None = None) -> AsyncIterator[Library]:
    async with on_stage(database, works=works, sections={"packs": settings or PacksSettings()}) as stage:
        app = stage.press.app("packs")
        assert isinstance(app, PacksApp)
        found = Library(stage, app)
        await found.configure()
        yield found


async def post(person: Person, page: str, action: str, **fields: str) -> httpx.Response:
    """Send a form of a page, as it stands there."""
    shown = (await person.get(page)).text
    assert f'action="{action}"' in shown, shown
    return await person.client.post(action, data={"form_token": found_token(shown), **fields})


def row(page: str, id: str) -> str:
    """The words of a row."""
    found = re.search(rf'<tr[^>]* id="{id}".*?</tr>', page, re.DOTALL)
    assert found is not None, page
    return " ".join(Page(found[0].replace("<br>", " ")).words.split())


async def test_the_demonstration_has_packs_in_every_state(file: str) -> None:
    async with Pressroom(file, workers=None, apps=["packs"]) as press:
        app = press.app("packs")
        assert isinstance(app, PacksApp)
        await fill_demo(app)
        packs, _ = await app.packs.list(None, PackFilter())

    states = [{}, {"queued": 2}, {"failed": 1, "ready": 1}, {"ready": 2}]
    assert [one.states for one in packs] == states


async def test_an_empty_library_says_how_to_begin(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.VIEWER, "red") as person:
        page = await person.get("/library")

    assert "There are no packs yet." in page.text
    assert "pressroom packs import examples/packs" in page.text
    assert "Authorization: Bearer $TOKEN" in page.text
    assert "http://pressroom/packs" in page.text


async def test_packs_are_listed_filtered_searched_and_paged(database: str) -> None:
    async with library(database, works=False) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        first = await scene.pack(title="Spring offers", user="u-17")
        await scene.app.packs.render_all("red", first.id, requested_by="test")
        for number in range(51):
            await scene.pack({"person": {"name": f"Person {number}"}}, title=f"Pack {number}")
        await scene.pack(title="Blue's", org="blue")

        newest = await person.get("/library")
        older = await person.get(re.search(r'rel="next" href="([^"]+)"', newest.text)[1])  # type: ignore[index]
        queued = await person.get("/library?status=queued")
        by_user = await person.get("/library?user=u-17")
        by_words = await person.get("/library?q=person+50")
        by_id = await person.get(f"/library?q={first.id}")
        none = await person.get("/library?q=blue")
        wrong = await person.get("/library?status=lost")

    assert newest.text.count("data-row") == 50
    assert "Spring offers" not in newest.text
    assert older.text.count("data-row") == 2
    assert "2 queued" in row(older.text, f"pack-{first.id}")
    assert [answer.text.count("data-row") for answer in (queued, by_user, by_words, none)] == [1, 1, 1, 0]
    assert "Pack 50" in by_words.text
    assert "No pack matches." in none.text
    assert by_id.headers["location"] == f"/library/{first.id}"
    assert wrong.status_code == 422


async def test_a_pack_shows_where_each_document_is(database: str) -> None:
    """Ready, failed, locked, disabled; then outdated, with how many that is on the button."""
    async with library(database) as scene, member(scene.stage, Scope.SUBMITTER, "red") as person:
        pack = await scene.pack(WRONG_DATE, render=True)
        failed = await person.get(f"/library/{pack.id}")
        await scene.app.packs.save_data("red", pack.id, DATA, "somebody")
        await scene.render(pack, "offer")
        outdated = await person.get(f"/library/{pack.id}?data=2")

    assert "failed" in row(failed.text, "document-offer")
    assert "'soon' is not a date" in row(failed.text, "document-offer").replace("&#39;", "'")
    assert "ready" in row(failed.text, "document-checklist")
    assert "version 1, 1 page" in row(failed.text, "document-checklist")
    assert "locked Paid document, not unlocked" in row(failed.text, "document-report")
    assert "disabled Disabled for this pack" in row(failed.text, "document-retired")
    assert "Render all (1)" in failed.text
    assert "version 2, 1 page" in row(outdated.text, "document-offer")
    assert "outdated" not in row(outdated.text, "document-offer")
    assert "outdated" in row(outdated.text, "document-checklist")
    assert "Render outdated (1)" in outdated.text
    assert "Render all" not in outdated.text
    assert "Changed in version 2" in outdated.text
    assert "&#34;start&#34;: &#34;2027-01-01&#34;" in outdated.text


async def test_documents_are_rendered_by_forms(database: str) -> None:
    async with library(database, works=False) as scene, member(scene.stage, Scope.SUBMITTER, "red") as person:
        pack, poor = await scene.pack(), await scene.pack({"start": "2027-01-01"})
        page = f"/library/{pack.id}"
        all_of_them = await post(person, page, f"{page}/render", which="missing")
        told = await person.get(page)
        again = await post(person, page, f"{page}/offer/render")
        locked = await person.client.post(f"{page}/report/render", data={"form_token": await person.form_token()})
        unknown = await person.client.post(f"{page}/offfer/render", data={"form_token": await person.form_token()})
        poor_page = f"/library/{poor.id}"
        in_part = await post(person, poor_page, f"{poor_page}/render", which="missing")
        told_in_part = await person.get(poor_page)
        refused = await post(person, poor_page, f"{poor_page}/offer/render")

    assert (all_of_them.status_code, all_of_them.headers["location"]) == (303, page)
    assert "2 documents are queued." in told.text
    assert "queued" in row(told.text, "document-offer")
    assert again.status_code == 303
    assert (locked.status_code, "DOCUMENT_LOCKED" in locked.text) == (403, True)
    assert (unknown.status_code, "did you mean offer?" in unknown.text) == (404, True)
    assert in_part.status_code == 303
    assert "1 document is queued." in told_in_part.text
    assert "offer was left out: it needs data that the pack does not have (person" in told_in_part.text
    assert (refused.status_code, "does not have: person" in refused.text, "NEEDS_INPUT" in refused.text) == (422, True, True)


async def test_versions_are_listed_downloaded_and_compared(database: str) -> None:
    """The change of data and templates stands beside the change of the file."""
    async with library(database) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        pack = await scene.pack(render=True)
        await scene.app.packs.save_data("red", pack.id, DATA | {"start": "2027-03-01"}, "test")
        await scene.configure(template__offer=CONFIG["template:offer"].replace("From", "Starting"))
        await scene.render(pack, "offer")
        page = f"/library/{pack.id}/offer"

        versions = await person.get(page)
        archive = await person.get(f"/library/{pack.id}.zip")
        file = await person.get(f"{page}/2/download")
        pdf = await person.get(file.headers["location"])
        compared = await person.get(f"{page}/compare")
        overlay = await person.get(f"{page}/overlay?a=1&b=2")
        pictures = [await person.get(f"{page}/1/picture{query}") for query in ("", "?page=1&large=1", "?page=2")]
        rest = ("offer/3/picture", "offer/3/download", "none", "%00")
        absent = [await person.get(f"/library/{pack.id}/{path}") for path in rest]

    assert len(ZipFile(BytesIO(archive.content)).namelist()) == 2
    newest = row(versions.text, "version-2")
    assert "ready" in newest
    assert "by test" in newest
    assert "data 2" in newest
    assert "template:offer 2" in newest
    assert pdf.content.startswith(b"%PDF-")
    assert 'filename="offer.pdf"' in pdf.headers["content-disposition"]
    words = " ".join(Page(compared.text).words.split())
    assert "The text of 1 of 1 page changed." in words
    assert "Data: version 1 → 2" in words
    assert '"start": "2027-03-01"' in words
    assert "template:offer: version 1 → 2" in words
    assert "<p>Starting {{ start | date }}.</p>" in words
    assert "Starting Mar 1, 2027." in words
    assert [answer.status_code for answer in pictures] == [200, 200, 404]
    assert all(answer.content.startswith(PNG) for answer in (*pictures[:2], overlay))
    assert pictures[0].headers["cache-control"].startswith("private")
    assert [answer.status_code for answer in absent] == [404, 404, 404, 404]


async def test_a_version_whose_file_is_not_kept_says_so(file: str) -> None:
    async with library(file, settings=PacksSettings(versions=1)) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        pack = await scene.pack(render=True)
        await scene.render(pack, "offer")
        async with scene.app.packs.database.transaction() as tx:  # as the collection of released artifacts does
            first = "SELECT artifact FROM packs_render WHERE doc_id = 'offer' AND number = 1"
            await tx.execute(f"DELETE FROM artifact WHERE uid = ({first})")

        versions = await person.get(f"/library/{pack.id}/offer")
        compared = await person.get(f"/library/{pack.id}/offer/compare?a=1&b=2")
        gone = await person.get(f"/library/{pack.id}/offer/1/download")

    assert "no longer kept" in row(versions.text, "version-1")
    assert "Download" in row(versions.text, "version-2")
    assert "The file of one of these versions is no longer kept." in compared.text
    assert gone.status_code == 404


async def test_the_holder_of_a_link_sees_this_pack_alone(database: str) -> None:
    """No login, no data, no hidden documents, and nothing to press but Download."""
    settings = PacksSettings(paid_docs_visible=False)
    async with (
        library(database, settings=settings) as scene,
        member(scene.stage, Scope.SUBMITTER, "red") as person,
        browsing(scene.stage) as holder,
    ):
        pack, other = await scene.pack(render=True, user="u-17"), await scene.pack(title="Another", render=True)
        page = f"/library/{pack.id}"
        made = await post(person, page, f"{page}/link", lifetime="7d")
        link = re.search(r'id="secret">http://pressroom(/library/p/[0-9a-z]{13})<', made.text)[1]  # type: ignore[index]
        shown_again = await person.get(page)
        seen = await holder.get(link)
        versions = await holder.get(f"{link}/offer")
        picture = await holder.get(f"{link}/offer/1/picture")
        file = await holder.get(f"{link}/offer/1/download")
        archive = await holder.get(f"{link}.zip")
        hidden = [await holder.get(f"{link}/{rest}") for rest in ("report", "retired", "nothing", "report/1/download")]
        closed = [await holder.get(path) for path in (page, f"/library/{other.id}", "/library")]
        withdrawn = await post(person, page, f"{page}/withdraw")
        after = [await holder.get(path) for path in (link, f"{link}.zip", f"{link}/offer", f"{link}/offer/1/download")]
        _, expired = await scene.app.packs.make_link("red", pack.id, seconds=0)
        over = await holder.get(f"/library/p/{expired}")

    assert link.rpartition("/")[2] not in shown_again.text
    assert "Anna Example" in seen.text
    assert "Download Offer" in seen.text
    assert "Report" not in seen.text
    assert "Retired" not in seen.text
    assert "<form" not in seen.text
    assert "u-17" not in seen.text
    assert "set-cookie" not in seen.headers
    assert seen.headers["x-robots-tag"] == "noindex"
    assert seen.headers["referrer-policy"] == "same-origin"
    assert "2027-01-01" not in versions.text
    assert "template:offer" not in versions.text
    assert "by test" not in versions.text
    assert picture.content.startswith(PNG)
    assert file.status_code == 302
    assert len(ZipFile(BytesIO(archive.content)).namelist()) == 2
    assert [answer.status_code for answer in (*hidden, *after, over)] == [404] * 9
    assert [answer.status_code for answer in closed] == [303, 303, 303]
    assert withdrawn.status_code == 303
    assert "has expired, or was withdrawn" in over.text


async def test_a_locked_document_is_named_to_the_holder_and_nothing_more(file: str) -> None:
    async with library(file, settings=PacksSettings()) as scene, browsing(scene.stage) as holder:
        pack = await scene.pack(render=True)
        _, link = await scene.app.packs.make_link("red", pack.id)
        locked = json.dumps([{"doc_id": "offer", "title": "Offer", "template": "offer", "style": "base", "tier": "paid"}])
        await scene.configure(documents_registry=locked)

        seen = await holder.get(f"/library/p/{link}")
        rest = [await holder.get(f"/library/p/{link}/offer{path}") for path in ("", "/1/download", "/1/picture")]
        archive = await holder.get(f"/library/p/{link}.zip")

    assert row(seen.text, "document-offer").startswith("Offer")
    assert "Download" not in seen.text
    assert ZipFile(BytesIO(archive.content)).namelist() == []
    assert [answer.status_code for answer in rest] == [404, 404, 404]


async def test_a_pack_is_deleted_and_restored_by_an_operator(database: str) -> None:
    async with (
        library(database, works=False) as scene,
        member(scene.stage, Scope.OPERATOR, "red") as operator,
        member(scene.stage, Scope.SUBMITTER, "red") as submitter,
    ):
        pack = await scene.pack()
        page = f"/library/{pack.id}"
        offered = (await submitter.get(page)).text
        refused = await submitter.client.post(f"{page}/delete", data={"form_token": found_token(offered)})
        deleted = await post(operator, page, f"{page}/delete")
        gone = await operator.get(page)
        restored = await post(operator, "/library/deleted", f"{page}/restore")
        back = await operator.get(page)
        audit = await operator.get("/desk/audit")

    assert "Delete pack" not in offered
    assert refused.status_code == 403
    assert deleted.headers["location"] == "/library/deleted"
    assert gone.status_code == 404
    assert restored.headers["location"] == page
    assert back.status_code == 200
    assert "pack.delete" in audit.text
    assert "pack.restore" in audit.text


async def test_another_organisation_finds_nothing(database: str) -> None:
    async with library(database) as scene, member(scene.stage, Scope.ADMIN, "blue") as person:
        pack = await scene.pack(render=True)
        page = f"/library/{pack.id}"
        paths = ("", "/offer", "/offer/compare", "/offer/1/download", "/offer/1/picture", "/offer/overlay?a=1&b=1")
        answers = [await person.get(f"{page}{path}") for path in paths]
        answers.append(await person.get(f"/library/live?pack={pack.id}"))
        token = await person.form_token()
        forms = ("render", "offer/render", "link", "withdraw", "delete", "restore")
        answers += [await person.client.post(f"{page}/{form}", data={"form_token": token}) for form in forms]
        found = await person.get(f"/desk/find?q={pack.id}")
        listed = await person.get("/library")

    assert [answer.status_code for answer in answers] == [404] * len(answers)
    assert "Nothing is called" in found.text
    assert "There are no packs yet." in listed.text


async def test_the_search_box_finds_packs_by_id_title_and_file(database: str) -> None:
    async with library(database) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        pack = await scene.pack(title="Ärger im Büro", render=True)
        file_id = (await scene.app.packs.renders(pack, "offer"))[0].file_id
        answers = [await person.get("/desk/find", params={"q": text}) for text in (pack.id, "arger", str(file_id))]

    assert [answer.headers.get("location") for answer in answers] == [f"/library/{pack.id}", f"/library/{pack.id}", None]
    assert f'href="/library/{pack.id}/offer"' in answers[2].text  # beside the artifact's job


async def test_an_open_page_hears_of_its_own_pack_only(database: str) -> None:
    """Also with the pack's link, until that is withdrawn."""
    async with library(database, works=False) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        pack, other = await scene.pack(), await scene.pack(title="Another")
        _, link = await scene.app.packs.make_link("red", pack.id)
        page, list_page = await person.get(f"/library/{pack.id}"), await person.get("/library")
        assert f'data-live="/library/live?pack={pack.id}"' in page.text
        assert 'data-live="/library/live"' in list_page.text
        by_login = Ear(scene.stage, "/library/live", f"pack={pack.id}", cookie=person.cookie)
        by_link = Ear(scene.stage, "/library/live", f"link={link}")
        of_all = Ear(scene.stage, "/library/live", "", cookie=person.cookie)
        stranger = Ear(scene.stage, "/library/live", "")
        async with by_login, by_link, of_all, stranger:
            await stranger.end()
            for ear in (by_login, by_link, of_all):
                await ear.until(OPEN)
            await scene.app.packs.render_all("red", other.id, requested_by="test")
            await of_all.until(CHANGED)
            assert CHANGED not in by_login.heard + by_link.heard

            await scene.app.packs.render_all("red", pack.id, requested_by="test")
            await by_login.until(CHANGED)
            await by_link.until(CHANGED)

            await scene.app.packs.withdraw_link("red", pack.id)
            await scene.app.packs.render_one("red", pack.id, "offer", requested_by="test")
            await by_link.end()

    assert stranger.status == 401
