"""Articles and their revisions through the queue, on both databases. Criteria W1-W6, W28-W34, D2, D3, D5."""

import asyncio
import inspect
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from pressroom import Pressroom, Status, Tier
from pressroom.apps.wiki import articles, editor, pages, renders, special_pages, views
from pressroom.apps.wiki.articles import Articles
from pressroom.apps.wiki.model import ArticleDraft, RenderStatus, make_draft
from pressroom.apps.wiki.store import EditConflict, RenderedPage
from pressroom.errors import NotFound, SourceInvalid
from pressroom.model import Ending
from pressroom.worker import attempts
from tests import looking


@asynccontextmanager
async def open_wiki(database: str, workers: int | None = 2, **options: Any) -> AsyncIterator[Pressroom]:
    async with Pressroom(database, workers=workers, **options) as press:
        yield press


def draft(source: str, previous: int = 0, url: str = "Home", **more: Any) -> ArticleDraft:
    return make_draft(url, source, author="ada", previous=previous, **more)


async def jobs_of(press: Pressroom) -> list[Any]:
    return list(reversed((await press.list(kind=renders.NAME)).jobs))


async def full_jobs_of(press: Pressroom) -> list[Any]:
    """With their payloads, which a list leaves out."""
    return [await press.get(job) for job in await jobs_of(press)]


async def test_post_article_creates_revision_queues_render_updates_html(database: str) -> None:
    """W32, W34: in this order, and what comes back is what is kept."""
    async with open_wiki(database) as press:
        posted = await press.app("wiki").articles.post(None, draft("# Hello\n\n*World*", comment="first"), wait=600)
        reading = await press.app("wiki").articles.read(None, "Home")

    assert posted.saved.created
    assert posted.revision.render_status is RenderStatus.RENDERED
    assert not posted.rendering
    assert reading.head == reading.shown == posted.revision
    assert "<em>World</em>" in (reading.head.html or "")
    assert (reading.head.comment, reading.head.author, reading.head.number) == ("first", "ada", 1)
    assert [heading["text"] for heading in reading.head.headings] == ["Hello"]


async def test_a_revision_is_queued_without_html_until_a_worker_has_been_there(database: str) -> None:
    """W28, W29, W32: inserted with `queued` and no HTML, in the transaction of its job."""
    async with open_wiki(database, workers=None) as press:
        posted = await press.app("wiki").articles.post(None, draft("text"), wait=0)
        (job,) = await jobs_of(press)

    assert posted.rendering
    assert (posted.revision.render_status, posted.revision.html) == (RenderStatus.QUEUED, None)
    assert (posted.revision.job_uid, job.tier, job.status) == (job.uid, Tier.INTERACTIVE, Status.QUEUED)
    assert job.key == posted.saved.article.key


async def test_who_stops_waiting_changes_nothing(database: str, eventually: Any) -> None:
    """D3: the worker keeps the HTML, never the waiter."""
    async with open_wiki(database) as press:
        posted = await press.app("wiki").articles.post(None, draft("text"), wait=0)

        async def rendered() -> bool:
            return (await press.app("wiki").articles.read(None, "Home")).head.render_status is RenderStatus.RENDERED

        await eventually(rendered, within=60)
        assert posted.saved.modified


async def test_the_same_text_again_is_not_modified(database: str) -> None:
    async with open_wiki(database) as press:
        await press.app("wiki").articles.post(None, draft("text"), wait=600)
        again = await press.app("wiki").articles.post(None, draft("text\r\n".rstrip(), previous=1), wait=600)

        assert not again.saved.modified
        assert again.saved.revision == 1
        assert len(await jobs_of(press)) == 1


async def test_the_same_text_under_another_title_is_a_revision(database: str) -> None:
    async with open_wiki(database, workers=None) as press:
        articles = press.app("wiki").articles
        await articles.post(None, draft("text"), wait=0)
        retitled = await articles.post(None, draft("text", previous=1, title="Another"), wait=0)

        assert (retitled.saved.revision, (await articles.read(None, "Home")).article.title) == (2, "Another")


async def test_a_second_editor_gets_a_conflict_and_nothing_is_lost(database: str) -> None:
    """Optimistic concurrency by the previous revision."""
    async with open_wiki(database) as press:
        await press.app("wiki").articles.post(None, draft("one"), wait=600)
        await press.app("wiki").articles.post(None, draft("hers", previous=1), wait=600)
        with pytest.raises(EditConflict, match="is at revision 2, and this text was made from revision 1") as conflict:
            await press.app("wiki").articles.post(None, draft("his", previous=1), wait=600)
        with pytest.raises(EditConflict, match="does not exist"):
            await press.app("wiki").articles.post(None, draft("x", previous=3, url="Elsewhere"), wait=600)
        with pytest.raises(EditConflict, match="made from no revision"):
            await press.app("wiki").articles.post(None, draft("new?"), wait=600)

        assert conflict.value.draft.source == "his"
        assert (await press.app("wiki").articles.read(None, "Home")).head.source == "hers"
        with pytest.raises(NotFound):
            await press.app("wiki").articles.read(None, "Elsewhere")


async def test_two_who_save_at_once_make_one_revision_and_one_conflict(database: str) -> None:
    async with open_wiki(database) as press:
        await press.app("wiki").articles.post(None, draft("one"), wait=600)
        texts = [f"text {number}" for number in range(8)]
        saves = [press.app("wiki").articles.post(None, draft(text, previous=1), wait=600) for text in texts]
        answers = await asyncio.gather(*saves, return_exceptions=True)

        assert sum(isinstance(answer, EditConflict) for answer in answers) == 7
        assert (await press.app("wiki").articles.read(None, "Home")).article.head == 2


async def test_a_revision_that_was_overtaken_is_stale_and_never_has_another_ones_html(database: str) -> None:
    """D2, W13: three texts in one job; only the newest is rendered, and only it has HTML."""
    async with open_wiki(database, workers=None) as press:
        for number in range(3):
            await press.app("wiki").articles.post(None, draft(f"text {number + 1}", previous=number), wait=0)
        (job,) = await jobs_of(press)
        assert job.version == 3
    async with open_wiki(database) as press:
        await press.wait(job, timeout=60)
        kept = [(await press.app("wiki").articles.get_revision(None, "Home", number))[1] for number in (1, 2, 3)]

        assert [one.render_status for one in kept] == ["stale", "stale", "rendered"]
        assert [one.html for one in kept[:2]] == [None, None]
        assert "text 3" in (kept[2].html or "")

        opened = await press.app("wiki").articles.rerender(None, "Home", 1, wait=600)

        assert opened.revision.render_status is RenderStatus.RENDERED
        assert "text 1" in (opened.revision.html or "")
        assert (await press.app("wiki").articles.read(None, "Home")).shown.number == 3  # type: ignore[union-attr]


@pytest.mark.parametrize("again", ["one", "many"])
async def test_who_saves_while_an_article_is_rendered_again_is_not_forgotten(
    database: str, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D4: between the look at the newest revision and the order to render it, there may be a newer one."""
    async with open_wiki(database, workers=None) as press:
        article = (await press.app("wiki").articles.post(None, draft("one"), wait=0)).saved.article
        plain = press.transaction

        @asynccontextmanager
        async def late() -> AsyncIterator[Any]:
            monkeypatch.setattr(press.queue, "transaction", plain)
            await press.app("wiki").articles.post(None, draft("two", previous=1), wait=0)
            async with plain() as tx:
                yield tx

        monkeypatch.setattr(press.queue, "transaction", late)
        if again == "one":
            await press.app("wiki").articles.rerender(None, "Home")
        else:
            await press.app("wiki").articles.rerender_many([article.id], parent=(await jobs_of(press))[0].uid)
    async with open_wiki(database) as press:
        for job in await jobs_of(press):
            await press.wait_until_ended(job, timeout=60)
        reading = await press.app("wiki").articles.read(None, "Home")

    assert (reading.head.number, reading.head.render_status) == (2, RenderStatus.RENDERED)
    assert "two" in (reading.head.html or "")


async def test_who_saves_while_the_service_stops_is_told_that_it_is_kept(database: str, eventually: Any) -> None:
    async with open_wiki(database, workers=None) as press:
        saving = asyncio.create_task(press.app("wiki").articles.post(None, draft("text"), wait=600))
        await eventually(lambda: jobs_of(press))
        press.queue.listeners.close()
        posted = await saving

    assert posted.saved.modified
    assert posted.rendering


async def test_a_render_that_fails_leaves_the_last_good_page(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """W32 and the issue: `failed`, and the last good HTML stays, with the error and its line."""
    async with open_wiki(database) as press:
        await press.app("wiki").articles.post(None, draft("good"), wait=600)

        async def fail(*_: Any) -> None:
            raise SourceInvalid("this cannot be", line=3, column=7)

        monkeypatch.setattr(renders.documents, "render", fail)
        posted = await press.app("wiki").articles.post(None, draft("bad", previous=1), wait=600)
        reading = await press.app("wiki").articles.read(None, "Home")

    assert posted.revision.render_status is RenderStatus.FAILED
    assert posted.revision.error is not None
    assert (posted.revision.error["code"], posted.revision.error["line"]) == ("source_invalid", 3)
    assert reading.head.number == 2
    assert reading.shown is not None
    assert (reading.shown.number, reading.shown.render_status) == (1, RenderStatus.RENDERED)


async def test_a_fix_does_not_wait_for_the_revision_that_it_mends(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()
    render = renders.documents.render

    async def stuck(presses: Any, asked: Any, *rest: Any) -> Any:
        if b"slow" in asked.request.source:
            begun.set()
            await asyncio.Event().wait()
        return await render(presses, asked, *rest)

    monkeypatch.setattr(renders.documents, "render", stuck)
    monkeypatch.setattr(attempts, "PREEMPT_AFTER", 0.0)
    async with Pressroom(database, workers=1) as press:
        slow = asyncio.create_task(press.app("wiki").articles.post(None, draft("slow"), wait=600))
        await begun.wait()
        fixed = await press.app("wiki").articles.post(None, draft("# fixed", previous=1), wait=600)
        await slow
        revisions = (await press.app("wiki").articles.history(None, "Home"))[1]

    assert fixed.revision.render_status is RenderStatus.RENDERED
    assert [one.render_status for one in revisions] == [RenderStatus.RENDERED, RenderStatus.STALE]


async def test_a_rerender_that_fails_keeps_the_html_it_had(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """D5"""
    async with open_wiki(database) as press:
        await press.app("wiki").articles.post(None, draft("good"), wait=600)

        async def fail(*_: Any) -> None:
            raise SourceInvalid("not today")

        monkeypatch.setattr(renders.documents, "render", fail)
        again = await press.app("wiki").articles.rerender(None, "Home", wait=600)

    assert again.revision.render_status is RenderStatus.FAILED
    assert "good" in (again.revision.html or "")


async def test_a_job_that_is_cancelled_leaves_its_revision_to_whoever_opens_it(database: str) -> None:
    async with open_wiki(database, workers=None) as press:
        await press.app("wiki").articles.post(None, draft("text"), wait=0)
        (job,) = await jobs_of(press)
        await press.cancel(job)

        assert (await press.app("wiki").articles.read(None, "Home")).head.render_status is RenderStatus.STALE


async def test_preview_bypasses_queue(database: str) -> None:
    """W2, W34: it works without any worker."""
    async with open_wiki(database, workers=None) as press:
        await press.app("wiki").articles.post(None, draft("x", url="There"), wait=0)
        page = await press.app("wiki").articles.preview(None, "# Draft\n\n[[There]] and [[Nowhere]]")

        assert len(await jobs_of(press)) == 1
        with pytest.raises(NotFound):
            await press.app("wiki").articles.read(None, "Draft")
    assert '<a class="wikilink" href="/wiki/There">' in page.html
    assert '<a class="wikilink missing" href="/wiki/Nowhere" title="Nowhere: not written yet">' in page.html


async def test_shutdown_drains_in_flight_jobs(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """W27, W34: what is being rendered when the service stops is rendered, and kept."""
    begun, go = asyncio.Event(), asyncio.Event()
    render = renders.documents.render

    async def slowly(*asked: Any) -> Any:
        begun.set()
        await go.wait()
        return await render(*asked)

    monkeypatch.setattr(renders.documents, "render", slowly)
    async with Pressroom(database, workers=1) as press:
        waiting = asyncio.create_task(press.app("wiki").articles.post(None, draft("text"), wait=600))
        await begun.wait()
        stopping = asyncio.create_task(press.stop(grace=60))
        await asyncio.sleep(0)
        go.set()
        await stopping
        await asyncio.gather(waiting, return_exceptions=True)
    async with Pressroom(database, workers=None) as press:
        reading = await press.app("wiki").articles.read(None, "Home")

    assert (reading.head.render_status, reading.head.html) == (RenderStatus.RENDERED, "<p>text</p>\n")


async def test_many_articles_at_once_are_not_mixed_up(database: str) -> None:
    """D6: each page is as it is when it is rendered alone."""
    texts = {f"P{number}": f"# Page {number}\n\n" + f"word{number} *and* [[P{number}]]\n" * 50 for number in range(40)}
    async with Pressroom(database, workers=4) as press:
        posts = [press.app("wiki").articles.post(None, draft(text, url=url), wait=600) for url, text in texts.items()]
        posted = {one.saved.article.url: one.revision.html or "" for one in await asyncio.gather(*posts)}
        alone = {url: (await press.app("wiki").articles.preview(None, text)).html for url, text in texts.items()}

    assert posted == alone
    for url, html in posted.items():
        assert set(re.findall(r"word(\d+)", html)) == {url.removeprefix("P")}


def test_pages_come_to_the_queue_through_the_service_alone() -> None:
    """W3, W6, W35: only the article service and what it is given know the queue."""
    for module in (pages, editor, special_pages, views):
        assert "pressroom.queue" not in Path(module.__file__).read_text()
        assert ".submit(" not in Path(module.__file__).read_text()
    assert set(inspect.signature(Articles).parameters) == {"queue", "database", "renders"}


async def test_one_organisation_knows_nothing_of_anothers_articles(database: str) -> None:
    async with open_wiki(database) as press:
        await press.app("wiki").articles.post("acme", draft("theirs"), wait=600)
        with pytest.raises(NotFound):
            await press.app("wiki").articles.read(None, "Home")
        ours = await press.app("wiki").articles.post(None, draft("ours"), wait=600)
        theirs = await press.app("wiki").articles.read("acme", "Home")
        # A payload is the caller's own words.
        stolen = {"article": theirs.article.id, "revision": 1, "url": "Home"}
        job = await press.wait_until_ended(await press.submit(renders.NAME, stolen), timeout=60)

        assert job.status is Status.FAILED
        assert (await press.app("wiki").articles.read("acme", "Home")).head == theirs.head
        assert ours.saved.created


async def test_the_pages_of_a_history_meet_without_a_gap(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(articles, "HISTORY_SHOWN", 2)
    async with open_wiki(file, workers=None) as press:
        for number in range(5):
            await press.app("wiki").articles.post(None, draft(f"text {number + 1}", previous=number), wait=0)
        pages, before = [], None
        while not pages or before is not None:
            _, lines, before = await press.app("wiki").articles.history(None, "Home", before)
            pages.append([line.number for line in lines])

    assert pages == [[5, 4], [3, 2], [1]]


async def test_the_pages_of_a_list_of_articles_meet_without_a_gap(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(articles, "LISTED", 2)
    monkeypatch.setattr(articles, "RESULTS_SHOWN", 2)
    async with open_wiki(file, workers=None) as press:
        for number in range(5):
            await press.app("wiki").articles.post(None, draft("the same words", url=f"P{number}"), wait=0)
        listed: list[list[str]] = []
        after: int | None = 0
        while after is not None:
            some, after = await press.app("wiki").articles.list(None, after)
            listed.append([article.url for article in some])
        found = [await press.app("wiki").articles.search(None, "words", page) for page in (1, 2, 3)]

    assert listed == [["P0", "P1"], ["P2", "P3"], ["P4"]]
    assert [more for _, more in found] == [True, True, False]
    assert sorted(hit.article.url for hits, _ in found for hit in hits) == ["P0", "P1", "P2", "P3", "P4"]


async def test_a_page_that_another_organisations_job_made_is_not_kept(file: str) -> None:
    """The handler would not get this far: the transaction that ends the job checks the owner for itself."""
    async with open_wiki(file, workers=None) as press:
        theirs = (await press.app("wiki").articles.post("acme", draft("theirs"), wait=0)).revision
        article = (await press.app("wiki").articles.read("acme", "Home")).article
        page = RenderedPage(html="graffiti", headings=[], links=["Elsewhere"], renderer="x")
        ending = Ending(
            id=1, uid=theirs.job_uid or "", status=Status.COMPLETED, version=1, result={}, error=None, key=None, subject=None,
            org_id="other", payload={"article": article.id, "revision": 1, "url": "Home"}, for_hook=page,
        )  # fmt: skip

        await press.rendering.database.run(partial(renders.settle, ending), name="settle")
        assert (await press.app("wiki").articles.read("acme", "Home")).head == theirs
        assert (await press.app("wiki").articles.list_linking("acme", "Elsewhere", 0))[0] == []

        await press.rendering.database.run(partial(renders.settle, structs.replace(ending, org_id="acme")), name="settle")
        assert (await press.app("wiki").articles.read("acme", "Home")).head.html == "graffiti"


async def test_an_old_revision_does_not_take_the_place_of_a_newer_one_that_waits(file: str) -> None:
    async with open_wiki(file, workers=None) as press:
        await press.app("wiki").articles.post(None, draft("one"), wait=0)
        await press.app("wiki").articles.post(None, draft("two", previous=1), wait=0)

        await press.app("wiki").articles.rerender(None, "Home", 1)

        assert [job.payload["revision"] for job in await full_jobs_of(press)] == [2, 1]
        assert (await press.app("wiki").articles.read(None, "Home")).head.render_status is RenderStatus.QUEUED


async def test_the_text_of_a_revision_never_changes(database: str) -> None:
    async with open_wiki(database, workers=None) as press:
        await press.app("wiki").articles.post(None, draft("text"), wait=0)
    with pytest.raises(Exception, match="the text of a revision never changes"):
        looking.change(database, "UPDATE wiki_source SET source = 'other'")
    with pytest.raises(Exception, match="the text of a revision never changes"):
        looking.change(database, "UPDATE wiki_revision SET title = 'other'")


async def test_an_older_revision_that_is_rendered_again_is_not_shown_instead_of_a_newer_one(database: str) -> None:
    async with open_wiki(database) as press:
        wiki = press.app("wiki").articles
        for number in range(2):
            await wiki.post(None, draft(f"text {number}", number), wait=600)
        await wiki.rerender(None, "Home", 1, wait=600)
        await press.pause(renders.NAME)
        await wiki.post(None, draft("text 2", 2), wait=0)
        reading = await wiki.read(None, "Home")

    assert reading.shown is not None
    assert (reading.head.number, reading.shown.number) == (3, 2)


def ending_of(job: str | None, article: int, org_id: str | None, page: RenderedPage | None) -> Ending:
    return Ending(
        id=1, uid=job or "", status=Status.FAILED if page is None else Status.COMPLETED, version=1, result={},
        error={"code": "transient", "message": "not now"}, key=None, subject=None, org_id=org_id,
        payload={"article": article, "revision": 1, "url": "Home"}, for_hook=page,
    )  # fmt: skip


async def test_a_render_that_fails_says_nothing_of_a_revision_that_has_another_job_by_now(database: str) -> None:
    async with open_wiki(database, workers=None) as press:
        wiki, rows = press.app("wiki").articles, press.rendering.database
        posted = await wiki.post(None, draft("text"), wait=0)
        settle = partial(ending_of, article=posted.saved.article.id, org_id=None, page=None)

        await rows.run(partial(renders.settle, settle("an earlier job")), name="settle")
        assert (await wiki.read(None, "Home")).head.render_status is RenderStatus.QUEUED
        await rows.run(partial(renders.settle, settle(posted.revision.job_uid)), name="settle")
        assert (await wiki.read(None, "Home")).head.render_status is RenderStatus.FAILED


async def test_a_new_article_makes_pages_of_its_own_organisation_stale_and_no_others(database: str) -> None:
    async with open_wiki(database, workers=None) as press:
        wiki, rows = press.app("wiki").articles, press.rendering.database
        page = RenderedPage(html="Elsewhere", headings=[], links=["Elsewhere"], renderer="x")
        for org in ("acme", "other"):
            posted = await wiki.post(org, draft("text"), wait=0)
            ending = ending_of(posted.revision.job_uid, posted.saved.article.id, org, page)
            await rows.run(partial(renders.settle, ending), name="settle")

        batch = await wiki.begin_import("acme", "a folder")
        await wiki.save_many("acme", [draft("here", url="Elsewhere")], parent=batch.uid)

        told = [(await wiki.read(org, "Home")).head.render_status for org in ("acme", "other")]
    assert told == [RenderStatus.STALE, RenderStatus.RENDERED]
