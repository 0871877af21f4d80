"""Diagrams in articles are renders of their own: through the queue, its cache, and without waiting for each other for ever."""

import asyncio
from typing import Any

import pytest

from pressroom import Pressroom, Status
from pressroom.apps.wiki import diagrams
from pressroom.apps.wiki.diagrams import CLAIM_TIMEOUT
from pressroom.apps.wiki.model import RenderStatus
from tests.apps.wiki.test_articles import draft

DIAGRAM = "# A page\n\n```mermaid\ngraph LR; a --> b\n```\n"


async def drawn(press: Pressroom) -> list[Status]:
    return [job.status for job in (await press.list(kind="render")).jobs]


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_diagram_is_drawn_once_for_all_articles(database: str, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one slot too: a job that waits for another releases its slot."""
    monkeypatch.setattr(diagrams, "CLAIM_TIMEOUT", 600)
    async with Pressroom(database, workers=workers) as press:
        first = await press.app("wiki").articles.post(None, draft(DIAGRAM), wait=600)
        second = await press.app("wiki").articles.post(None, draft(DIAGRAM + "more", url="Other"), wait=600)

        assert first.revision.render_status is second.revision.render_status is RenderStatus.RENDERED
        assert 'src="data:image/svg+xml;base64,' in (first.revision.html or "")
        assert 'src="data:image/svg+xml;base64,' in (second.revision.html or "")
        assert await drawn(press) == [Status.COMPLETED]
        (job,) = (await press.list(kind="render")).jobs
        assert job.parent == first.revision.job_uid


async def test_more_articles_than_slots_wait_for_their_diagrams_at_once(
    file: str, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    monkeypatch.setattr(diagrams, "CLAIM_TIMEOUT", 600)
    texts = [f"```mermaid\ngraph LR; a{number} --> b\n```\n" for number in range(3)]
    async with Pressroom(file, workers=2) as press:
        await press.pause("render")
        posts = [
            press.app("wiki").articles.post(None, draft(text, url=f"P{number}"), wait=600) for number, text in enumerate(texts)
        ]
        posting = asyncio.gather(*posts)

        async def all_wait() -> bool:
            articles = await press.list(kind="wiki.render", status=Status.IN_PROGRESS)
            return len(articles.jobs) == 3 and await drawn(press) == [Status.QUEUED] * 3

        await eventually(all_wait, within=300)
        await press.resume("render")
        posted = await posting

        assert {one.revision.render_status for one in posted} == {RenderStatus.RENDERED}
        assert all("data:image/svg+xml" in (one.revision.html or "") for one in posted)
        assert await drawn(press) == [Status.COMPLETED] * 3
        parents = {job.parent for job in (await press.list(kind="render")).jobs}
        assert parents == {one.revision.job_uid for one in posted}


async def test_more_articles_than_can_wait_at_once_are_all_rendered(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagrams, "CLAIM_TIMEOUT", CLAIM_TIMEOUT)  # then an article draws its own, as it does for users
    texts = [f"```mermaid\ngraph LR; a{number} --> b\n```\n" for number in range(6)]
    async with Pressroom(database, workers=2) as press:
        posts = [
            press.app("wiki").articles.post(None, draft(text, url=f"P{number}"), wait=600) for number, text in enumerate(texts)
        ]
        posted = await asyncio.gather(*posts)

        assert {one.revision.render_status for one in posted} == {RenderStatus.RENDERED}
        assert all("data:image/svg+xml" in (one.revision.html or "") for one in posted)
        assert press.worker is not None
        assert press.worker._worker_slots.released == press.worker._worker_slots._background == 0


async def test_a_diagram_that_is_wrong_is_told_with_its_line_and_the_page_is_made(database: str) -> None:
    async with Pressroom(database, workers=1) as press:
        posted = await press.app("wiki").articles.post(None, draft("# A\n\n```mermaid\ngraph LR\na -- \n```\n"), wait=600)

    assert posted.revision.render_status is RenderStatus.RENDERED
    assert "This mermaid diagram could not be drawn</strong> (line" in (posted.revision.html or "")


async def test_where_nobody_draws_diagrams_the_article_draws_its_own(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagrams, "CLAIM_TIMEOUT", 0.1)
    async with Pressroom(database, workers=1, only=["wiki.render"]) as press:
        posted = await press.app("wiki").articles.post(None, draft(DIAGRAM), wait=600)

        assert "data:image/svg+xml" in (posted.revision.html or "")
        assert await drawn(press) == [Status.QUEUED]
