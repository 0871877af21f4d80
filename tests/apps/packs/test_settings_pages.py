"""`/library/settings` as a browser gets it: without a script."""

import json

import pytest

from pressroom.api.access import Scope
from tests.apps.packs.conftest import DATA, REGISTRY
from tests.apps.packs.test_pages import library
from tests.web.browsing import member

KEY = "/library/settings/template:offer"


async def test_a_template_is_edited_tried_published_and_rolled_back(database: str) -> None:
    async with library(database) as scene, member(scene.stage, Scope.ADMIN, "red") as person:
        await scene.configure(documents_registry=json.dumps([REGISTRY[0] | {"sample": DATA}]))

        broken = await person.post(f"{KEY}/draft", {"text": "<p>\r\n{{ person.name", "comment": "a try"})
        with_problems = await person.get(broken.headers["location"])
        refused = await person.post(f"{KEY}/publish", {"number": "2"})
        saved = await person.post(f"{KEY}/draft", {"text": "<p>Dear {{ person.name }}</p>"})
        difference = await person.get(f"{KEY}?version=3&from=1")
        tried = await person.get(f"{KEY}/3/dry-run")
        published = await person.post(f"{KEY}/publish", {"number": "3"})
        back = await person.post(f"{KEY}/rollback", {})

        assert (broken.status_code, saved.status_code, published.status_code, back.status_code) == (303,) * 4
        assert "Line 2" in with_problems.text
        assert "a try" in with_problems.text
        assert (refused.status_code, "Nothing was changed" in refused.text) == (409, True)
        assert "Dear {{ person.name }}" in difference.text
        assert 'class="gone"' in difference.text
        assert "data:image/png;base64," in tried.text
        assert "1 page," in tried.text
        versions = await scene.app.configuration.list_versions("red", "template:offer")
        assert [(one.number, one.status) for one in versions] == [(3, "retired"), (2, "invalid"), (1, "published")]
        assert await scene.app.configuration.read_body("red", "template:offer", 2) == "<p>\n{{ person.name"


async def test_overlays_are_made_and_deleted_and_keys_are_listed(file: str) -> None:
    async with library(file) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        async with member(scene.stage, Scope.OPERATOR, "blue") as stranger:
            empty = await stranger.get("/library/settings")
        pack = await scene.pack()
        overlay = {"doc_id": "report", "scope": "pack", "scope_id": pack.id, "unlocked": "yes", "reason": "paid <b>"}

        saved = await person.post("/library/settings/overlays", overlay)
        shown = await person.get("/library/settings")
        wrong = await person.post("/library/settings/overlays", overlay | {"scope": "all"})
        deleted = await person.post("/library/settings/overlays/delete", overlay)
        after = await person.get("/library/settings")

        assert "Nothing is configured." in empty.text
        assert (saved.status_code, wrong.status_code, deleted.status_code) == (303, 422, 303)
        assert pack.id in shown.text
        assert "paid &lt;b&gt;" in shown.text
        assert pack.id not in after.text
        assert "template:letterhead" in shown.text
        opened = await person.get("/library/settings?key=strings:de")
        assert opened.headers["location"].endswith("/library/settings/strings%3Ade")
        assert (await person.get("/library/settings?key=secrets")).status_code == 422


@pytest.mark.parametrize(("scope", "sees", "publishes"), [(Scope.SUBMITTER, 403, 403), (Scope.OPERATOR, 200, 403)])
async def test_settings_are_for_operators_and_publishing_for_admins(file: str, scope: Scope, sees: int, publishes: int) -> None:
    async with library(file) as scene, member(scene.stage, scope, "red") as person:
        assert (await person.get("/library/settings")).status_code == sees
        assert (await person.get(KEY)).status_code == sees
        assert (await person.post(f"{KEY}/publish", {"number": "1"})).status_code == publishes
        navigation = (await person.get("/library")).text
        assert ("/library/settings" in navigation) == (sees == 200)


async def test_a_document_of_a_draft_that_is_wrong_can_be_edited(database: str) -> None:
    async with library(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        wrong = json.dumps([{"doc_id": "offer", "title": 5, "required": 5, "options": [], "sample": "x"}])
        await scene.app.configuration.save("red", "documents_registry", wrong, author="test")

        shown = await person.get("/library/settings/documents/offer")

        assert shown.status_code == 200
