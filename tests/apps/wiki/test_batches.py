"""Many articles at once: all, those that are stale, those that refer to a new one. Criteria W5, W7, D4."""

import asyncio
from typing import Any

import pytest

from pressroom import Pressroom, Status, Tier
from pressroom.apps.wiki import batches, renderers, renders, rerender_requests
from pressroom.apps.wiki.articles import Articles
from pressroom.apps.wiki.model import RenderStatus, make_draft
from pressroom.apps.wiki.rerender_requests import RerenderRequest


async def write(
    press: Pressroom, url: str, source: str, previous: int = 0, *, wait: float = 600, org: str | None = None
) -> Any:
    return await press.app("wiki").articles.post(org, make_draft(url, source, author="ada", previous=previous), wait=wait)


async def status_of(press: Pressroom, url: str) -> RenderStatus:
    return (await press.app("wiki").articles.read(None, url)).head.render_status


async def test_everything_is_rendered_again_behind_whoever_waits(database: str, eventually: Any) -> None:
    """W5: a batch with progress and totals, in the background tier."""
    async with Pressroom(database, workers=2) as press:
        for number in range(7):
            await write(press, f"Page_{number}", f"text {number}")
        await write(press, "Theirs", "text", org="acme")
        before = [await press.app("wiki").articles.read(None, f"Page_{number}") for number in range(7)]
        batch = await press.app("wiki").articles.rerender_all(None, RerenderRequest("all"))
        assert await press.wait(batch, timeout=60) == {"queued": 7}
        children = (await press.list(parent=batch.uid)).jobs
        for child in children:
            await press.wait_until_ended(child, timeout=60)
        after = [await press.app("wiki").articles.read(None, f"Page_{number}") for number in range(7)]

    assert {child.tier for child in children} == {Tier.BACKGROUND}
    assert len(children) == 7
    assert [one.head.html for one in after] == [one.head.html for one in before]
    assert all(new.head.date_rendered >= old.head.date_rendered for new, old in zip(after, before, strict=True))


@pytest.mark.parametrize("slots", [1, 2])
async def test_a_batch_that_is_longer_than_the_queue_comes_to_its_end(
    database: str, slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for room, and what it waits for has its slot. Were it to begin anew, it would render the first ones for ever."""
    monkeypatch.setattr(batches, "FULL_RETRY_DELAY", 0.01)
    monkeypatch.setattr(batches, "SUBMIT_BATCH", 2)
    async with Pressroom(database, workers=slots, max_queued=3) as press:
        for number in range(9):
            await write(press, f"Page_{number}", f"text {number}")
        batch = await press.app("wiki").articles.rerender_all(None, RerenderRequest("all"))
        assert await press.wait(batch, timeout=60) == {"queued": 9}
        children = (await press.list(parent=batch.uid)).jobs

        assert len(children) == 9
        for child in children:
            assert (await press.wait_until_ended(child, timeout=60)).status is Status.COMPLETED


async def test_a_batch_that_a_stop_cuts_short_waits_for_the_next_start_at_no_cost(
    database: str, eventually: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, stopping = asyncio.Event(), asyncio.Event()
    rerender_many = Articles.rerender_many

    async def rerender_late(*args: Any, **options: Any) -> int:
        began.set()
        await stopping.wait()
        return await rerender_many(*args, **options)

    monkeypatch.setattr(Articles, "rerender_many", rerender_late)
    async with Pressroom(database, workers=1) as press:
        await write(press, "Home", "text")
        batch = await press.app("wiki").articles.rerender_all(None, RerenderRequest("all"))
        await began.wait()
        stop = asyncio.create_task(press.stop())
        await eventually(lambda: not press.queue._accepting)
        stopping.set()
        await stop

    async with Pressroom(database, workers=None) as press:
        job = await press.get(batch)
    assert (job.status, job.failures) == (Status.QUEUED, 0)


async def test_a_batch_that_waits_already_is_the_answer(database: str) -> None:
    async with Pressroom(database, workers=None) as press:
        first = await press.app("wiki").articles.rerender_all(None, RerenderRequest("all"))
        again = await press.app("wiki").articles.rerender_all(None, RerenderRequest("all"))
        others = await press.app("wiki").articles.rerender_all("acme", RerenderRequest("all"))

    assert again.uid == first.uid
    assert others.uid != first.uid


async def test_a_red_link_turns_blue_when_its_page_is_written(database: str, eventually: Any) -> None:
    async with Pressroom(database, workers=2) as press:
        await write(press, "Home", "see [[Other page|that]] and [[Elsewhere]]")
        red = (await press.app("wiki").articles.read(None, "Home")).head.html
        await write(press, "Other_page", "here I am")

        async def is_blue() -> bool:
            html = (await press.app("wiki").articles.read(None, "Home")).head.html or ""
            return 'class="wikilink" href="/wiki/Other_page"' in html

        await eventually(is_blue, within=60)
        page = (await press.app("wiki").articles.read(None, "Home")).head

    assert 'class="wikilink missing" href="/wiki/Other_page"' in (red or "")
    assert 'class="wikilink missing" href="/wiki/Elsewhere"' in (page.html or "")
    assert page.number == 1


async def test_what_nobody_refers_to_makes_no_batch(database: str) -> None:
    async with Pressroom(database, workers=2) as press:
        await write(press, "Alone", "text")

        assert (await press.list(kind=rerender_requests.NAME)).jobs == []


async def test_when_the_renderer_changes_every_head_goes_through_stale(
    database: str, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    """Found at the start, by what the pages were made by; old revisions wait until they are opened."""
    async with Pressroom(database, workers=2) as press:
        await write(press, "Home", "one")
        await write(press, "Home", "two", previous=1)
        await write(press, "Other", "text")
    monkeypatch.setattr(renderers, "SHAPE", "2")
    async with Pressroom(database, workers=None) as press:
        assert await press.app("wiki")._batches.mark_stale_articles() == 1
        assert await status_of(press, "Home") is RenderStatus.STALE
        assert "two" in ((await press.app("wiki").articles.read(None, "Home")).head.html or "")
        assert [job.status for job in (await press.list(kind=rerender_requests.NAME)).jobs] == [Status.QUEUED]
    async with Pressroom(database, workers=2) as press:

        async def are_current() -> bool:
            heads = [(await press.app("wiki").articles.read(None, url)).head for url in ("Home", "Other")]
            return all(head.renderer.startswith("shape=2") for head in heads)

        await eventually(are_current, within=60)
        old = (await press.app("wiki").articles.get_revision(None, "Home", 1))[1]
        assert await press.app("wiki")._batches.mark_stale_articles() == 0

    assert old.render_status is RenderStatus.STALE


async def test_nothing_is_stale_when_nothing_changed(database: str) -> None:
    async with Pressroom(database, workers=2) as press:
        await write(press, "Home", "```mermaid\ngraph TD; a-->b\n```")
        assert await press.app("wiki")._batches.mark_stale_articles() == 0
        assert await status_of(press, "Home") is RenderStatus.RENDERED


async def test_an_interactive_save_goes_before_a_batch(database: str) -> None:
    """W8, W11: and raises the tier of a render that waits in the background."""
    async with Pressroom(database, workers=None) as press:
        await write(press, "Home", "one", wait=0)
        await write(press, "Other", "one", wait=0)
        for job in (await press.list(kind=renders.NAME)).jobs:
            await press.cancel(job)
        article = (await press.app("wiki").articles.read(None, "Home")).article
        other = (await press.app("wiki").articles.read(None, "Other")).article
        assert (
            await press.app("wiki").articles.rerender_many(
                [other.id, article.id], parent=(await press.submit(rerender_requests.NAME, {"which": "all"})).uid
            )
            == 2
        )
        await write(press, "Home", "two", previous=1, wait=0)
        waiting = [job for job in (await press.list(kind=renders.NAME)).jobs if job.status is Status.QUEUED]

    assert {job.subject: job.tier for job in waiting} == {
        "wiki Home@2": Tier.INTERACTIVE,
        "wiki Other@1": Tier.BACKGROUND,
    }


async def test_an_order_that_is_none_is_refused(file: str) -> None:
    async with Pressroom(file, workers=1) as press:
        job = await press.wait_until_ended(await press.submit(rerender_requests.NAME, {"which": "some"}), timeout=60)

    assert (job.status, job.errors[-1]["code"]) == (Status.FAILED, "invalid_payload")
    assert batches.READ_BATCH > batches.SUBMIT_BATCH
