"""The wiki's pages as a browser gets them, on both databases."""

import pytest

from pressroom.api.access import Scope
from pressroom.apps.wiki import renderers, views
from tests.service.access_stage import on_stage
from tests.web.browsing import Page, browsing, member


async def save(person, url: str, source: str, previous: int = 0, **fields: str):
    return await person.post(f"/wiki/{url}", {"source": source, "previous": str(previous), "action": "save"} | fields)


async def test_an_article_is_written_read_edited_and_read_again(database: str) -> None:
    async with on_stage(database) as stage, member(stage, Scope.SUBMITTER) as person:
        missing = await person.get("/wiki/Home")
        editor = await person.get("/wiki/Home?edit")
        saved = await save(person, "Home", "# Hello\n\nA *page*.", comment="first")
        read = await person.get("/wiki/Home")
        again = await person.get("/wiki/Home?edit")
        await save(person, "Home", "# Hello\n\nA *better* page.", previous=1)
        newest = await person.get("/wiki/Home")
        first = await person.get("/wiki/Home?revision=1")
        source = await person.get("/wiki/Home.md")
        old_source = await person.get("/wiki/Home.md?revision=1")

    assert (missing.status_code, "There is no article of this name yet" in missing.text) == (404, True)
    assert 'name="previous" value="0"' in editor.text
    assert (saved.status_code, saved.headers["location"]) == (303, "/wiki/Home")
    assert "<em>page</em>" in read.text
    assert 'name="previous" value="1"' in again.text
    assert "<em>better</em>" in newest.text
    assert "This is revision 1 of 2" in first.text
    assert first.headers["cache-control"] == "private, max-age=86400"
    assert (source.text, source.headers["content-type"]) == ("# Hello\n\nA *better* page.", "text/markdown; charset=utf-8")
    assert old_source.text == "# Hello\n\nA *page*."


@pytest.mark.parametrize(
    ("fields", "kept", "said"),
    [
        ({"action": "save"}, "the text", "the form has no field `source`"),
        ({"action": "preview"}, "the text", "the form has no field `source`"),
        ({"action": "delete", "source": "typed", "comment": "why"}, "typed", "there is no action &#39;delete&#39;"),
        ({"action": "Save", "source": "typed", "comment": "why"}, "typed", "there is no action &#39;Save&#39;"),
    ],
)
async def test_a_form_that_is_not_understood_saves_nothing_and_keeps_the_text(
    file: str, fields: dict[str, str], kept: str, said: str
) -> None:
    async with on_stage(file) as stage, member(stage) as person:
        await save(person, "Home", "the text")
        refused = await person.post("/wiki/Home", {"previous": "1"} | fields)
        source = await person.get("/wiki/Home.md")

    assert refused.status_code == 422
    assert f"{kept}</textarea>" in refused.text
    assert said in refused.text
    assert source.text == "the text"


async def test_the_same_text_is_said_not_to_be_new(database: str) -> None:
    async with on_stage(database) as stage, member(stage) as person:
        await save(person, "Home", "text")
        await save(person, "Home", "text", previous=1)
        told = await person.get("/wiki/Home")
        history = await person.get("/wiki/Home?history")

    assert "there is no new revision" in told.text
    assert history.text.count("data-row") == 1


async def test_two_tabs_make_a_conflict_that_loses_neither_text(database: str) -> None:
    async with on_stage(database) as stage, member(stage) as person:
        await save(person, "Home", "one")
        await save(person, "Home", "hers", previous=1, comment="mine first")
        conflict = await save(person, "Home", "his <b>", previous=1, comment="late")
        merged = await save(person, "Home", "hers and his", previous=2)
        page = await person.get("/wiki/Home")

    assert conflict.status_code == 409
    assert "his &lt;b&gt;</textarea>" in conflict.text
    assert "hers</textarea>" in conflict.text
    assert 'name="previous" value="2"' in conflict.text
    assert 'value="late"' in conflict.text
    assert merged.status_code == 303
    assert "hers and his" in page.text


async def test_a_browser_that_has_the_page_is_told_so(database: str) -> None:
    """Weak ETag, 304; another revision is another page."""
    async with on_stage(database) as stage, member(stage) as person:
        await save(person, "Home", "one")
        first = await person.get("/wiki/Home")
        again = await person.get("/wiki/Home", headers={"If-None-Match": first.headers["etag"]})
        await save(person, "Home", "two", previous=1)
        changed = await person.get("/wiki/Home", headers={"If-None-Match": first.headers["etag"]})

    assert first.headers["etag"].startswith('W/"')
    assert first.headers["cache-control"] == "private, no-cache"
    assert (again.status_code, again.content) == (304, b"")
    assert "content-security-policy" not in again.headers
    assert changed.status_code == 200


async def test_a_page_that_takes_long_says_so_and_listens(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "PATIENCE", 0.01)
    async with on_stage(database, works=False) as stage, member(stage) as person:
        await save(person, "Home", "text")
        page = await person.get("/wiki/Home")

    assert "is being rendered" in page.text
    assert "data-live=" in page.text
    assert "<pre>text</pre>" in page.text


async def test_a_render_that_failed_is_told_with_its_line_above_the_last_good_page(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_stage(database) as stage, member(stage) as person:
        await save(person, "Home", "good")
        monkeypatch.setattr(renderers, "OPTIONS", {"no such option": True})
        await save(person, "Home", "bad", previous=1)
        page = await person.get("/wiki/Home")

    assert "Revision 2 could not be rendered" in page.text
    assert "You see revision 1" in page.text
    assert "<p>good</p>" in page.text


async def test_the_source_beside_an_old_revision_is_its_own(file: str) -> None:
    async with on_stage(file) as stage, member(stage) as person:
        await save(person, "Home", "one")
        await save(person, "Home", "two", previous=1)
        old = Page((await person.get("/wiki/Home?revision=1")).text)
        new = Page((await person.get("/wiki/Home")).text)

    assert "/wiki/Home.md?revision=1" in old.addresses
    assert "/wiki/Home.md" in new.addresses


async def test_two_revisions_are_compared_as_text_and_as_rendered(database: str) -> None:
    async with on_stage(database) as stage, member(stage) as person:
        await save(person, "Home", "same\n\nold *line*")
        await save(person, "Home", "same\n\nnew *line*", previous=1)
        page = await person.get("/wiki/Home?compare=1&from=1&to=2")
        wrong = await person.get("/wiki/Home?compare=1&from=x&to=2")
        beyond = await person.get("/wiki/Home?compare=1&from=1&to=9")

    assert 'class="gone"' in page.text
    assert "old *line*" in page.text
    assert "new <em>line</em>" in page.text
    assert (wrong.status_code, beyond.status_code) == (422, 404)


async def test_a_preview_is_a_fragment_for_scripts_and_a_page_for_others(database: str) -> None:
    """W2: and nothing is kept of it."""
    async with on_stage(database) as stage, member(stage) as person:
        fields = {"source": "# Draft <script>alert(1)</script>", "previous": "0", "action": "preview"}
        fragment = await person.post("/wiki/Draft", fields, headers={"HX-Request": "true"})
        page = await person.post("/wiki/Draft", fields)
        gone = await person.get("/wiki/Draft")

    assert "<html" not in fragment.text
    assert 'id="preview"' in fragment.text
    assert "<script>alert" not in fragment.text
    assert "# Draft &lt;script&gt;" in page.text
    assert gone.status_code == 404


@pytest.mark.parametrize(
    ("url", "status"),
    [("Special:Nothing", 404), ("a%00b", 422), ("x" * 300, 422), ("...", 422), ("a//b", 422), ("[x]", 422)],
)
async def test_a_name_that_cannot_be_is_told_why(file: str, url: str, status: int) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:
        answer = await person.get(f"/wiki/{url}")

    assert answer.status_code == status
    assert "Traceback" not in answer.text


async def test_a_text_that_cannot_be_saved_is_not_lost(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:
        answer = await save(person, "Home", "my long text", title="x" * 201)

    assert answer.status_code == 422
    assert "my long text</textarea>" in answer.text
    assert "the title has at most 200 characters" in answer.text


async def test_spaces_are_underscores_in_an_address(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:
        answer = await person.get("/wiki/My%20first page?edit")

    assert (answer.status_code, answer.headers["location"]) == (301, "/wiki/My_first_page?edit")


async def test_a_viewer_reads_and_a_stranger_does_not(file: str) -> None:
    async with on_stage(file) as stage:
        async with member(stage) as person:
            await save(person, "Home", "text")
        async with member(stage, Scope.VIEWER) as viewer:
            read = await viewer.get("/wiki/Home")
            editor = await viewer.get("/wiki/Home?edit")
            saved = await save(viewer, "Home", "mine", previous=1)
        async with browsing(stage) as stranger:
            away = await stranger.get("/wiki/Home")

    assert read.status_code == 200
    assert not [address for address in Page(read.text).addresses if "edit" in address]
    assert (editor.status_code, saved.status_code) == (403, 403)
    assert (away.status_code, away.headers["location"].startswith("/desk/login")) == (303, True)
