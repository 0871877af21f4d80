"""Articles and revisions in the database: units of work."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from pressroom.apps.wiki.model import Article, ArticleDraft, RenderStatus, Revision
from pressroom.apps.wiki.search_terms import ArticleTerms, article_terms
from pressroom.errors import NotFound, Refused
from pressroom.model import Row, Statement, Status, Work, from_ms
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

BEYOND = 1 << 62
RENDER_EVERY = 5_000  # milliseconds between two renders of one revision on request


class EditConflict(Refused):
    """Another author has saved since this one started: `article` is the current state."""

    code = "edit_conflict"
    status = 409

    def __init__(self, article: Article | None, draft: ArticleDraft) -> None:
        read = f"revision {draft.previous}" if draft.previous else "no revision"
        there = f"is at revision {article.head}" if article else "does not exist"
        super().__init__(f"{draft.url} {there}, and this text was made from {read}")
        self.article = article
        self.draft = draft


class RerenderTooSoon(Refused):
    """It was rendered a moment ago, and would come out the same."""

    code = "too_soon"
    status = 429

    def __init__(self, article: Article, number: int, retry_after: int) -> None:
        super().__init__(f"revision {number} of {article.url} was rendered a moment ago; ask again in {retry_after} s")
        self.headers = {"Retry-After": str(retry_after)}


class SaveResult(msgspec.Struct, frozen=True):
    """`modified` says whether a revision was made; `created` whether the article was."""

    article: Article
    revision: int
    modified: bool
    created: bool


class RevisionSummary(msgspec.Struct, frozen=True):
    """A revision in a list."""

    number: int
    title: str
    comment: str
    author: str
    length: int
    render_status: RenderStatus
    date_created: int

    @property
    def created(self) -> datetime:
        return from_ms(self.date_created)


def save_article(org_id: str, draft: ArticleDraft) -> Work[SaveResult]:
    """Raises EditConflict unless `previous` is the newest revision. The newest text again makes no revision."""
    article = yield from find_article(org_id, draft.url)
    if article is not None and (yield from _is_newest(article, draft)):
        return SaveResult(article, article.head, modified=False, created=False)
    if draft.previous != (article.head if article else 0):
        raise EditConflict(article, draft)
    saved = yield from _insert(org_id, article, draft, (yield from now()))
    yield from save_search_terms({saved.article.id: draft.terms})
    return saved


def save_articles(org_id: str, drafts: Sequence[ArticleDraft]) -> Work[list[SaveResult]]:
    """As the newest revisions, whatever was there. Pages that say of one of them that it is not there are stale."""
    moment = yield from now()
    articles = yield from _find_articles(org_id, [draft.url for draft in drafts])
    terms: dict[int, ArticleTerms] = {}
    saved = []
    for draft in drafts:
        article = articles.get(draft.url)
        if article is not None and (yield from _is_newest(article, draft)):
            saved.append(SaveResult(article, article.head, modified=False, created=False))
            continue
        result = yield from _insert(org_id, article, draft, moment)
        articles[draft.url], terms[result.article.id] = result.article, draft.terms
        saved.append(result)
    yield from save_search_terms(terms)
    if created := [one.article.url for one in saved if one.created]:
        yield Statement("wiki.mark_linking_stale", {"org_id": org_id, "urls": compact(created)})
    return saved


def _is_newest(article: Article, draft: ArticleDraft) -> Work[bool]:
    (newest,) = yield Statement("wiki.find_revision_hash", {"article": article.id, "number": article.head})
    return newest == (draft.hash, draft.title)


def _insert(org_id: str, article: Article | None, draft: ArticleDraft, moment: int) -> Work[SaveResult]:
    number = 1 if article is None else article.head + 1
    if article is None:
        place = {"org_id": org_id, "url": draft.url, "title": draft.title, "now": moment}
        (row,) = yield Statement("wiki.insert_article", place)
    else:
        head = {"article": article.id, "number": number, "title": draft.title, "now": moment}
        (row,) = yield Statement("wiki.move_head", head)
    saved = Article(*row)
    yield Statement(
        "wiki.insert_revision",
        {
            "article": saved.id,
            "number": number,
            "title": draft.title,
            "comment": draft.comment,
            "author": draft.author,
            "length": len(draft.source),
            "hash": draft.hash,
            "now": moment,
        },
    )
    yield Statement("wiki.insert_source", {"article": saved.id, "number": number, "source": draft.source})
    return SaveResult(saved, number, modified=True, created=article is None)


def save_search_terms(terms: Mapping[int, ArticleTerms]) -> Work[None]:
    """For search: those of the newest revision, by the ids of the articles."""
    if terms:
        encoded = compact([(article, *of_article) for article, of_article in terms.items()])
        yield Statement("wiki.save_search_terms", {"some": encoded})


def index_articles(limit: int) -> Work[int]:
    """Add articles that are missing from the search index. Returns how many."""
    rows = yield Statement("wiki.list_unindexed", {"limit": limit})
    yield from save_search_terms({article: article_terms(title, source) for article, title, source in rows})
    return len(rows)


class ArticleMatch(msgspec.Struct, frozen=True):
    article: Article
    source: str


def search_articles(org_id: str, sought: Sequence[str], limit: int, offset: int) -> Work[list[ArticleMatch]]:
    """Those that have all of these words, the best first."""
    asked = {"org_id": org_id, "words": compact(list(sought)), "limit": limit, "offset": offset}
    rows = yield Statement("wiki.search_articles", asked)
    return [ArticleMatch(Article(*row[:-1]), row[-1]) for row in rows]


def search_titles(org_id: str, terms: Sequence[str], limit: int) -> Work[list[Article]]:
    """Articles whose titles have all of these words; the last may be a prefix."""
    rows = yield Statement("wiki.search_titles", {"org_id": org_id, "words": compact(list(terms)), "limit": limit})
    return [Article(*row) for row in rows]


def set_render_jobs(revisions: Sequence[tuple[int, int, str]]) -> Work[None]:
    """Store the job of each revision: article, number, job. Older revisions that had the same job are superseded."""
    if revisions:
        encoded = compact([list(one) for one in revisions])
        yield Statement("wiki.set_revision_jobs", {"some": encoded})
        yield Statement("wiki.supersede_revisions", {"some": encoded})


def find_article(org_id: str, url: str) -> Work[Article | None]:
    rows = yield Statement("wiki.find_article", {"org_id": org_id, "url": url})
    return Article(*rows[0]) if rows else None


def _find_articles(org_id: str, urls: Sequence[str]) -> Work[dict[str, Article]]:
    """Those that there are, by their URLs."""
    rows = yield Statement("wiki.find_articles", {"org_id": org_id, "urls": compact(urls)})
    return {article.url: article for article in (Article(*row) for row in rows)}


def get_article(org_id: str, url: str) -> Work[Article]:
    article = yield from find_article(org_id, url)
    if article is None:
        raise NotFound(f"there is no article {url[:200]!r}")
    return article


def get_article_by_id(id: int) -> Work[Article]:
    rows = yield Statement("wiki.find_article_by_id", {"id": id})
    if not rows:
        raise NotFound("there is no such article")
    return Article(*rows[0])


def lock_articles(ids: Sequence[int]) -> Work[list[Article]]:
    """Articles as they are, and stay until the transaction ends: no other revision is saved meanwhile."""
    rows = yield Statement("wiki.lock_articles", {"ids": compact(sorted(ids))})
    return [Article(*row) for row in rows]


def get_revision(article: Article, number: int) -> Work[Revision]:
    rows = yield Statement("wiki.find_revision", {"article": article.id, "number": number})
    if not rows:
        raise NotFound(f"{article.url} has no revision {number}")
    return _revision(rows[0])


def get_source(org_id: str, article: int, number: int) -> Work[tuple[str, str]]:
    """The URL of an article of this organisation, and the source of a revision of it."""
    rows = yield Statement("wiki.find_source", {"article": article, "number": number})
    if not rows or rows[0][0] != org_id:
        raise NotFound("there is no such article or revision")
    return rows[0][1:]


def get_renderable_revision(article: Article, number: int) -> Work[Revision]:
    """A revision that may be rendered again. Raises RerenderTooSoon if that was just done."""
    found = yield from get_revision(article, number)
    since = (yield from now()) - (found.date_rendered or 0)
    if found.render_status is RenderStatus.RENDERED and since < RENDER_EVERY:
        raise RerenderTooSoon(article, number, -((since - RENDER_EVERY) // 1000))
    return found


def list_revisions(article: Article, before: int | None, limit: int) -> Work[list[RevisionSummary]]:
    """Newest first."""
    asked = {"article": article.id, "before": BEYOND if before is None else before, "limit": limit}
    rows = yield Statement("wiki.list_revisions", asked)
    return [
        RevisionSummary(number, title, comment, author, length, RenderStatus(status), at)
        for number, title, comment, author, length, status, at in rows
    ]


def find_existing_urls(org_id: str, urls: Collection[str]) -> Work[set[str]]:
    """Those of them that are articles."""
    if not urls:
        return set()
    rows = yield Statement("wiki.find_existing_urls", {"org_id": org_id, "urls": compact(sorted(urls))})
    return {url for (url,) in rows}


def list_articles(org_id: str, after: int, limit: int) -> Work[list[Article]]:
    """By their ids."""
    rows = yield Statement("wiki.list_articles", {"org_id": org_id, "after": after, "limit": limit})
    return [Article(*row) for row in rows]


def list_stale_articles(org_id: str, after: int, limit: int) -> Work[list[Article]]:
    """Those whose newest revision is to be rendered again, by their ids."""
    rows = yield Statement("wiki.list_stale_articles", {"org_id": org_id, "after": after, "limit": limit})
    return [Article(*row) for row in rows]


def list_sources(org_id: str, after: int, limit: int) -> Work[list[tuple[Article, str]]]:
    """By the articles' ids, each with the source of its newest revision."""
    rows = yield Statement("wiki.list_sources", {"org_id": org_id, "after": after, "limit": limit})
    return [(Article(*row[:-1]), row[-1]) for row in rows]


def count_articles(org_id: str) -> Work[int]:
    ((number,),) = yield Statement("wiki.count_articles", {"org_id": org_id})
    return int(number)


def last_article_id(org_id: str) -> Work[int]:
    """The highest id."""
    ((id,),) = yield Statement("wiki.find_last_article_id", {"org_id": org_id})
    return int(id)


def count_renders(parent: str) -> Work[dict[Status, int]]:
    rows = yield Statement("wiki.count_renders", {"parent": parent})
    return {Status(status): count for status, count in rows}


def list_renderers() -> Work[list[str]]:
    """The distinct renderers of the pages that count as current."""
    rows = yield Statement("wiki.list_renderers")
    return [renderer for (renderer,) in rows]


def mark_stale(renderer: str, limit: int) -> Work[int]:
    """Some of the pages that were made by this renderer. Returns how many those were."""
    rows = yield Statement("wiki.mark_stale", {"renderer": renderer, "limit": limit})
    return len(rows)


def list_stale_orgs() -> Work[list[str]]:
    rows = yield Statement("wiki.list_stale_orgs")
    return [org_id for (org_id,) in rows]


def list_linking_articles(org_id: str, url: str, after: int, limit: int) -> Work[list[Article]]:
    """Articles that link to this URL, whether it exists or not."""
    rows = yield Statement("wiki.list_linking_articles", {"org_id": org_id, "url": url, "after": after, "limit": limit})
    return [Article(*row) for row in rows]


class RenderedPage(msgspec.Struct, frozen=True):
    """What a render makes of a revision."""

    html: str
    headings: Sequence[dict[str, Any]]
    links: Sequence[str]
    renderer: str


def save_page(article: Article, number: int, page: RenderedPage) -> Work[None]:
    moment = yield from now()
    place = {"article": article.id, "number": number}
    yield Statement("wiki.save_html", place | {"html": page.html, "headings": compact(list(page.headings))})
    yield Statement("wiki.mark_rendered", place | {"renderer": page.renderer, "now": moment})
    if article.shown is None or article.shown < number:
        yield Statement("wiki.set_shown_revision", place)
    if number == article.head:
        yield Statement("wiki.delete_links", {"article": article.id})
        if page.links:
            yield Statement("wiki.insert_links", {"article": article.id, "urls": compact(list(page.links))})


def mark_revision_failed(article: int, number: int, job: str, status: RenderStatus, error: dict[str, Any] | None) -> Work[None]:
    encoded = compact({name: value for name, value in error.items() if name != "detail"}) if error else None
    place = {"article": article, "number": number, "job_uid": job}
    yield Statement("wiki.fail_revision", place | {"status": status.value, "error": encoded})


def _revision(row: Row) -> Revision:
    names = Revision.__struct_fields__
    values = dict(zip(names, row, strict=True))
    values["headings"] = json.loads(values["headings"]) if values["headings"] else []
    values["error"] = json.loads(values["error"]) if values["error"] else None
    values["render_status"] = RenderStatus(values["render_status"])
    return Revision(**values)
