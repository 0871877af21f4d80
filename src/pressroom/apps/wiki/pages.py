"""The wiki's pages: an article, its editor, its history. What is done is told by the question mark: `/wiki/Home?edit`."""

import hashlib
from contextlib import suppress
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime

from starlette.responses import RedirectResponse, Response

from pressroom.api.access import Scope
from pressroom.api.disconnects import cancel_on_disconnect
from pressroom.api.replies import matches
from pressroom.api.routes import Routes
from pressroom.apps.wiki import sitemap
from pressroom.apps.wiki.articles import Articles, Reading
from pressroom.apps.wiki.links import address_of
from pressroom.apps.wiki.model import (
    COMMENT_LIMIT,
    SOURCE_LIMIT,
    TITLE_LIMIT,
    RenderStatus,
    clean_url,
    is_special,
    make_draft,
    title_of,
)
from pressroom.apps.wiki.showing import page, trace_of, whole_number
from pressroom.apps.wiki.special import Special
from pressroom.apps.wiki.store import EditConflict
from pressroom.errors import InvalidArgument, NotFound, PressroomError
from pressroom.model import VERSION, from_ms
from pressroom.web import lines
from pressroom.web.cookies import read_cookie
from pressroom.web.desk import NOTICE, THEME, Desk, Visit

HOME = "Home"
PATIENCE = 10.0  # seconds that somebody who saves or opens waits for the page
A_DAY = 86_400

_BOUNDS = {"most_title": TITLE_LIMIT, "most_comment": COMMENT_LIMIT, "most_source": SOURCE_LIMIT}


def router(desk: Desk, articles: Articles) -> Routes:
    routes = Routes()
    special = Special(articles)

    async def start(_: Visit) -> Response:
        return RedirectResponse(address_of(HOME, desk.prefix), 303)

    async def show(visit: Visit, url: str) -> Response:
        if url.endswith(".md"):
            return await raw(visit, clean_url(url.removesuffix(".md")))
        if (part := sitemap.part_named(url)) is not None:
            return await listed(visit, part)
        clean = clean_url(url)
        if clean != url:
            query = f"?{visit.request.url.query}" if visit.request.url.query else ""
            return RedirectResponse(address_of(clean, desk.prefix) + query, 301)
        if is_special(url):
            return await special.show(visit, url)
        asked = visit.request.query_params
        for name, answer in (("edit", edit), ("history", history), ("compare", compare), ("rerender", rerender)):
            if name in asked:
                return await answer(visit, url)
        if "revision" in asked:
            return await old(visit, url, whole_number(asked["revision"]))
        return await read(visit, url)

    async def read(visit: Visit, url: str) -> Response:
        try:
            reading = await articles.read(visit.caller.org_id, url)
        except NotFound:
            return page(visit, "wiki/missing.html", status=404, url_of_article=url, name=title_of(url))
        if reading.head.render_status is RenderStatus.STALE:
            await articles.rerender(visit.caller.org_id, url, wait=PATIENCE)
            reading = await articles.read(visit.caller.org_id, url)
        kept = {
            "ETag": _tag_of(visit, reading),
            "Last-Modified": format_datetime(_changed(reading), usegmt=True),
            "Cache-Control": "private, no-cache",
            "Vary": "Cookie, HX-Request",
        }
        if _has_it(visit, kept["ETag"], _changed(reading)):
            return Response(status_code=304, headers=kept)
        response = _article(visit, reading)
        response.headers.update(kept)
        return response

    async def old(visit: Visit, url: str, number: int) -> Response:
        """A revision by its number never changes, once it is rendered."""
        article, revision = await articles.revision(visit.caller.org_id, url, number)
        if revision.render_status is RenderStatus.STALE:  # one that failed would fail again at every look
            revision = (await articles.rerender(visit.caller.org_id, url, number, wait=PATIENCE)).revision
        response = _article(visit, Reading(article, revision, revision if revision.html is not None else None), old=True)
        if revision.render_status is RenderStatus.RENDERED and number != article.head:
            response.headers["Cache-Control"] = f"private, max-age={A_DAY}"
        return response

    async def raw(visit: Visit, url: str) -> Response:
        """The source, as it was written."""
        asked = visit.request.query_params.get("revision")
        reading = await articles.read(visit.caller.org_id, url)
        revision = reading.head
        if asked is not None:
            _, revision = await articles.revision(visit.caller.org_id, url, whole_number(asked))
        headers = {"ETag": f'"{revision.hash[:32]}"', "Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
        if matches(visit.request.headers.get("if-none-match"), headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(revision.source, 200, headers, "text/markdown; charset=utf-8")

    async def listed(visit: Visit, part: int) -> Response:
        """The sitemap, or one of its files."""
        org_id, base = visit.caller.org_id, visit.desk.service.address_for(visit.request)
        last = await articles.last_article(org_id)
        if part == 0 and last > sitemap.IN_A_FILE:
            return Response(sitemap.index(base, last), media_type=sitemap.MEDIA_TYPE)
        after = max(0, part - 1) * sitemap.IN_A_FILE
        if after > last:
            raise NotFound(f"the sitemap has no file {part}")
        found = await articles.some(org_id, after, sitemap.IN_A_FILE)
        inside = [article for article in found if article.id <= after + sitemap.IN_A_FILE]
        return Response(sitemap.articles(base, inside), media_type=sitemap.MEDIA_TYPE)

    async def edit(visit: Visit, url: str) -> Response:
        visit.require(Scope.SUBMITTER)
        try:
            reading = await articles.read(visit.caller.org_id, url)
        except NotFound:
            return _editor(visit, url, title=title_of(url), source=f"# {title_of(url)}\n\n", previous=0)
        head = reading.head
        return _editor(visit, url, title=head.title, source=head.source, previous=head.number)

    async def save(visit: Visit, url: str) -> Response:
        form, url = visit.form, clean_url(url)
        if is_special(url):
            return await special.do(visit, url)
        action = form.get("action", "save")
        if action == "rerender":
            asked = form.get("revision")
            number = whole_number(asked) if asked else None
            posted = await articles.rerender(
                visit.caller.org_id, url, number, wait=PATIENCE, spaced=True, trace=trace_of(visit)
            )
            newest = posted.saved.revision == posted.saved.article.head
            return visit.go(address_of(url) + ("" if newest else f"?revision={number}"))
        draft = {"title": form.get("title"), "source": form.get("source"), "comment": form.get("comment")}
        previous = whole_number(form.get("previous", "0"), least=0)
        if action not in ("save", "preview") or not form.all("source"):
            return await not_understood(visit, url, draft, previous)
        if action == "preview":
            return await previewed(visit, url, draft, previous)
        try:
            made = make_draft(url, draft["source"], title=draft["title"], comment=draft["comment"],
                              author=visit.caller.name, previous=previous)  # fmt: skip
            posted = await articles.post(visit.caller.org_id, made, wait=PATIENCE, trace=trace_of(visit))
        except EditConflict as conflict:
            return await conflicted(visit, url, draft, conflict)
        except PressroomError as wrong:  # whoever typed a text must not lose it
            return _editor(visit, url, **draft, previous=previous, problem=wrong, status=wrong.status)
        if not posted.saved.modified:
            return visit.go(address_of(posted.saved.article.url), "The text is the same as before: there is no new revision.")
        return visit.go(address_of(posted.saved.article.url))

    async def not_understood(visit: Visit, url: str, draft: dict[str, str], previous: int) -> Response:
        """Nothing is saved. What was typed is shown again, or else what the article says."""
        words = f"there is no action {visit.form.get('action')[:64]!r}; there are save, preview and rerender"
        if not visit.form.all("source"):
            words = "the form has no field `source`, so the article stays as it is"
            with suppress(NotFound):
                draft = draft | {"source": (await articles.read(visit.caller.org_id, url)).head.source}
        wrong = InvalidArgument(words)
        return _editor(visit, url, **draft, previous=previous, problem=wrong, status=wrong.status)

    async def previewed(visit: Visit, url: str, draft: dict[str, str], previous: int) -> Response:
        """Under the editor, or alone for a script that asks while somebody types."""
        made, problem = None, None
        try:
            made = await cancel_on_disconnect(visit.request, articles.preview(visit.caller.org_id, draft["source"]))
        except PressroomError as wrong:
            problem = wrong
        if "hx-request" in visit.request.headers:
            return page(visit, "wiki/preview.html", preview=made, problem=problem)
        status = 200 if problem is None else problem.status
        return _editor(visit, url, **draft, previous=previous, preview=made, problem=problem, status=status)

    async def conflicted(visit: Visit, url: str, draft: dict[str, str], conflict: EditConflict) -> Response:
        """Both texts, and what differs: neither is lost."""
        theirs = None if conflict.article is None else (await articles.read(visit.caller.org_id, url)).head
        differences = await lines.compare_lines(theirs.source if theirs else "", draft["source"])
        return page(
            visit,
            "wiki/conflict.html",
            status=409,
            url_of_article=url,
            name=title_of(url),
            draft=draft,
            theirs=theirs,
            lines=differences,
            **_BOUNDS,
        )

    async def history(visit: Visit, url: str) -> Response:
        before = visit.request.query_params.get("before")
        article, shown, older = await articles.history(
            visit.caller.org_id, url, None if before is None else whole_number(before)
        )
        return page(visit, "wiki/history.html", article=article, lines=shown, older=older, is_first=before is None)

    async def compare(visit: Visit, url: str) -> Response:
        asked = visit.request.query_params
        first, second = whole_number(asked.get("from", "")), whole_number(asked.get("to", ""))
        article, before = await articles.revision(visit.caller.org_id, url, first)
        _, after = await articles.revision(visit.caller.org_id, url, second)
        differences = await lines.compare_lines(before.source, after.source)
        return page(visit, "wiki/compare.html", article=article, before=before, after=after, lines=differences)

    async def rerender(visit: Visit, url: str) -> Response:
        """A page with a button: to look at an address must not make anybody work."""
        visit.require(Scope.SUBMITTER)
        reading, asked = await articles.read(visit.caller.org_id, url), visit.request.query_params.get("revision")
        revision = reading.head
        if asked is not None:
            _, revision = await articles.revision(visit.caller.org_id, url, whole_number(asked))
        return page(visit, "wiki/rerender.html", article=reading.article, revision=revision)

    desk.get(routes, "/wiki", start)
    desk.get(routes, "/wiki/{url:path}", show)
    desk.post(routes, "/wiki/{url:path}", save, needs=Scope.SUBMITTER, small=False)
    return routes


def _article(visit: Visit, reading: Reading, *, old: bool = False) -> Response:
    return page(
        visit,
        "wiki/article.html",
        article=reading.article,
        head=reading.head,
        shown=reading.shown,
        old=old,
        address=address_of(reading.article.url),
    )


def _changed(reading: Reading) -> datetime:
    """When what is shown was last made or overtaken, to the second."""
    moments = [reading.article.date_changed, reading.head.date_rendered or 0]
    if reading.shown is not None:
        moments.append(reading.shown.date_rendered or 0)
    return from_ms(max(moments)).replace(microsecond=0)


def _has_it(visit: Visit, tag: str, changed: datetime) -> bool:
    """A browser that names the tag is judged by it: only that knows who looks, and how."""
    asked = visit.request.headers
    if "if-none-match" in asked:
        return matches(asked["if-none-match"], tag)
    try:
        return changed <= parsedate_to_datetime(asked["if-modified-since"])
    except (KeyError, ValueError, TypeError):  # none, no date, or one without a zone
        return False


def _tag_of(visit: Visit, reading: Reading) -> str:
    """Browsers ask each time, and are told that they have it: by what is shown, and by who looks and how."""
    head, shown = reading.head, reading.shown
    theme, notice = (read_cookie(visit.request, name) for name in (THEME, NOTICE))
    parts = (
        *(reading.article.id, head.number, head.render_status, head.date_rendered),
        *(() if shown is None else (shown.number, shown.date_rendered)),
        *(visit.browser.form_token, visit.caller.scope, theme, notice, VERSION),
    )
    return f'W/"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'


def _editor(
    visit: Visit,
    url: str,
    *,
    title: str,
    source: str,
    previous: int,
    comment: str = "",
    preview: object = None,
    problem: PressroomError | None = None,
    status: int = 200,
) -> Response:
    return page(
        visit,
        "wiki/edit.html",
        status=status,
        url_of_article=url,
        name=title_of(url),
        title=title,
        source=source,
        comment=comment,
        previous=previous,
        preview=preview,
        problem=problem,
        address=address_of(url),
        **_BOUNDS,
    )
