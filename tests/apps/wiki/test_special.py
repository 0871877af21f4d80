"""The wiki's own pages."""

from pressroom.api.access import Scope
from pressroom.apps.wiki import articles, rerender_requests
from tests import looking
from tests.apps.wiki.test_pages import save
from tests.service.access_stage import on_stage
from tests.web.browsing import Page, member


async def test_all_articles_are_listed_a_page_at_a_time(database: str, monkeypatch) -> None:
    monkeypatch.setattr(articles, "LISTED", 2)
    async with on_stage(database, works=False) as stage, member(stage) as person:
        monkeypatch.setattr("pressroom.apps.wiki.views.PATIENCE", 0.0)
        for name in ("One", "Two", "Three"):
            await save(person, name, f"text of {name}")
        first = Page((await person.get("/wiki/Special:AllPages")).text)
        (next_page,) = [address for address in first.addresses if "after=" in address]
        second = Page((await person.get(next_page)).text)
        wrong = await person.get("/wiki/Special:AllPages?after=x")

    assert {"/wiki/One", "/wiki/Two"} <= first.addresses
    assert "/wiki/Three" in second.addresses
    assert "/wiki/One" not in second.addresses
    assert wrong.status_code == 422


async def test_what_refers_to_an_article_is_known(database: str) -> None:
    async with on_stage(database) as stage, member(stage) as person:
        await save(person, "Home", "see [[Other]]")
        found = await person.get("/wiki/Special:WhatLinksHere/Other")
        await save(person, "Home", "see nothing", previous=1)
        nothing = await person.get("/wiki/Special:WhatLinksHere/Other")

    assert "/wiki/Home" in Page(found.text).addresses
    assert "No article refers to this one" in nothing.text


async def test_everything_is_rendered_again_by_an_operator_and_nobody_else(database: str) -> None:
    async with on_stage(database) as stage:
        async with member(stage, Scope.SUBMITTER) as writer:
            await save(writer, "Home", "text")
            refused = await writer.get("/wiki/Special:RerenderAll")
            not_done = await writer.post("/wiki/Special:RerenderAll")
        async with member(stage, Scope.OPERATOR) as operator:
            asked = await operator.get("/wiki/Special:RerenderAll")
            done = await operator.post("/wiki/Special:RerenderAll")
            (batch,) = (await stage.press.list(kind=rerender_requests.NAME)).jobs
            assert await stage.press.wait(batch, timeout=60) == {"queued": 1}
            (render, *_) = (await stage.press.list(kind="wiki.render", parent=batch)).jobs
            await stage.press.wait_until_ended(render, timeout=60)
            told = await operator.get("/wiki/Special:RerenderAll")

    assert (refused.status_code, not_done.status_code) == (403, 403)
    assert "The newest revision of 1 article goes through the queue" in asked.text
    assert (done.status_code, done.headers["location"]) == (303, f"/desk/jobs/job_{batch.uid}")
    for cell in ("Waiting", 0), ("Rendered", 1), ("Failed", 0):
        assert 'data-label="{}" class="count">{}<'.format(*cell) in told.text


async def test_one_article_is_rendered_again_when_asked_and_not_when_looked_at(database: str) -> None:
    """D7: a GET request submits no render."""
    async with on_stage(database) as stage, member(stage) as person:
        await save(person, "Home", "text")
        asked = await person.get("/wiki/Home?rerender")
        before = len((await stage.press.list(kind="wiki.render")).jobs)
        soon = await person.post("/wiki/Home", {"action": "rerender"})
        looking.change(database, "UPDATE wiki_revision SET date_rendered = date_rendered - 5000")
        done = await person.post("/wiki/Home", {"action": "rerender"})
        after = len((await stage.press.list(kind="wiki.render")).jobs)

    assert "Render it again" in asked.text
    assert (soon.status_code, soon.headers["retry-after"]) == (429, "5")
    assert "was rendered a moment ago" in soon.text
    assert (before, after) == (1, 2)
    assert done.status_code == 303


async def test_one_old_revision_is_rendered_again(database: str) -> None:
    """W4"""
    async with on_stage(database) as stage, member(stage) as person:
        await save(person, "Home", "one [[Old]]")
        await save(person, "Home", "two [[New]]", previous=1)
        looking.change(database, "UPDATE wiki_revision SET date_rendered = 0")
        looking.change(database, "UPDATE wiki_html SET html = 'spoilt'")
        asked = await person.get("/wiki/Home?rerender&revision=1")
        done = await person.post("/wiki/Home", {"action": "rerender", "revision": "1"})
        _, first = await stage.press.app("wiki").articles.get_revision(None, "Home", 1)
        article, second = await stage.press.app("wiki").articles.get_revision(None, "Home", 2)
        old = await person.get("/wiki/Special:WhatLinksHere/Old")
        new = await person.get("/wiki/Special:WhatLinksHere/New")

    assert "Revision 1 of 2 goes through the queue" in asked.text
    assert (done.status_code, done.headers["location"]) == (303, "/wiki/Home?revision=1")
    assert "<p>one <a" in (first.html or "")
    assert second.html == "spoilt"
    assert (article.head, article.shown) == (2, 2)
    assert "No article refers to this one" in old.text, "links are those of the newest revision"
    assert "/wiki/Home" in Page(new.text).addresses
