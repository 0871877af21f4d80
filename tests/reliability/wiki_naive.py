"""Wikis that are broken on purpose, to show that the judge sees it. Each spoils the process that it is called in."""

from functools import partial
from typing import Any

import msgspec

from pressroom.apps.wiki import renders, store
from pressroom.apps.wiki.articles import Articles, PostResult
from pressroom.apps.wiki.model import Article, ArticleDraft, RenderStatus, Revision
from pressroom.apps.wiki.store import RenderedPage, SaveResult
from pressroom.model import Ending, Statement, Tier, Work
from tests.reliability.http_naive import run_errand


def answer_before_the_commit() -> None:
    """Whoever saves is told so at once, while the text is still on its way."""
    post = Articles.post

    async def hasty(self: Articles, org_id: str | None, draft: ArticleDraft, **how: Any) -> PostResult:
        async def commit() -> None:
            await post(self, org_id, draft, **how)

        run_errand(commit())
        return _promised(draft)

    Articles.post = hasty  # type: ignore[method-assign]


def submit_after_the_insert() -> None:
    """D4: the revision is written in one transaction, and its job in another."""

    async def post(self: Articles, org_id: str | None, draft: ArticleDraft, *, wait: float, **how: Any) -> PostResult:
        async with self._queue.transaction() as tx:
            saved = await tx.run(partial(store.save_article, org_id or "", draft), name="article")
        async with self._queue.transaction() as tx:
            await self._submit(saved.article, saved.revision, Tier.INTERACTIVE, within=tx, **how)
        return _promised(draft)

    Articles.post = post  # type: ignore[method-assign]


def save_over_whatever_is_there() -> None:
    """Nobody is asked which revision they have read: the last to save wins."""
    save = store.save_article

    def careless(org_id: str, draft: ArticleDraft) -> Work[SaveResult]:
        article = yield from store.find_article(org_id, draft.url)
        return (yield from save(org_id, msgspec.structs.replace(draft, previous=article.head if article else 0)))

    store.save_article = careless


def keep_the_newest_for_all() -> None:
    """D2: whoever waits gets what the newest text became, and keeps it with their own."""
    keep = store.save_page

    def kept(article: Article, number: int, page: RenderedPage) -> Work[None]:
        for each in range(1, number + 1):
            yield from keep(article, each, page)

    store.save_page = kept


def show_what_came_last() -> None:
    """What was rendered last is shown, also when it is an older revision."""
    keep = store.save_page

    def kept(article: Article, number: int, page: RenderedPage) -> Work[None]:
        yield from keep(article, number, page)
        yield Statement("UPDATE wiki_article SET shown = :number WHERE id = :id", {"number": number, "id": article.id})

    store.save_page = kept


def leave_the_page_to_the_waiter() -> None:
    """D3: the worker ends its job, and whoever waited for the page was to keep it."""

    def settle(ending: Ending) -> Work[None]:
        yield from ()

    renders.settle = settle


def _promised(draft: ArticleDraft) -> PostResult:
    number = draft.previous + 1
    article = Article(0, "", draft.url, draft.title, number, None, 0, 0)
    revision = Revision(
        article=0,
        number=number,
        title=draft.title,
        comment=draft.comment,
        author=draft.author,
        source=draft.source,
        hash=draft.hash,
        html=None,
        headings=[],
        error=None,
        renderer=None,
        job_uid=None,
        date_created=0,
        date_rendered=None,
        render_status=RenderStatus.QUEUED,
    )
    return PostResult(SaveResult(article, number, modified=True, created=number == 1), revision, rendering=True)
