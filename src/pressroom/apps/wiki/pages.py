"""The wiki's pages: an article, its revisions, its history. The query string names the action: `/wiki/Home?edit`."""

import hashlib
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime

from starlette.responses import RedirectResponse, Response

from pressroom.api.access import Scope
from pressroom.api.replies import matches
from pressroom.api.routes import Routes
from pressroom.apps.wiki import sitemap, views
from pressroom.apps.wiki.articles import Articles, ArticleView
from pressroom.apps.wiki.editor import Editor
from pressroom.apps.wiki.links import article_path
from pressroom.apps.wiki.model import RenderStatus, clean_url, is_special_url, title_from_url
from pressroom.apps.wiki.special_pages import SpecialPages
from pressroom.apps.wiki.views import parse_number, render_page
from pressroom.errors import NotFound
from pressroom.model import VERSION, from_ms
from pressroom.web import line_diff
from pressroom.web.cookies import read_cookie
from pressroom.web.site import NOTICE_COOKIE, THEME_COOKIE, PageRequest, Site

HOME = "Home"
A_DAY = 86_400


def router(site: Site, articles: Articles) -> Routes:
    routes = Routes()
    special = SpecialPages(articles)
    editor = Editor(articles, special)
    site.get(routes, "/wiki", redirect_to_home)
    site.get(routes, "/wiki/{url:path}", ArticlePages(articles, special, editor).show)
    site.post(routes, "/wiki/{url:path}", editor.save, needs=Scope.SUBMITTER, small=False)
    return routes


async def redirect_to_home(request: PageRequest) -> Response:
    return RedirectResponse(article_path(HOME, request.site.prefix), 303)


class ArticlePages:
    def __init__(self, articles: Articles, special: SpecialPages, editor: Editor) -> None:
        self._articles = articles
        self._special = special
        self._actions = {
            "edit": editor.edit,
            "history": self._show_history,
            "compare": self._show_comparison,
            "rerender": self._confirm_rerender,
        }

    async def show(self, request: PageRequest, url: str) -> Response:
        if url.endswith(".md"):
            return await self._send_source(request, clean_url(url.removesuffix(".md")))
        if (part := sitemap.parse_file_number(url)) is not None:
            return await self._send_sitemap(request, part)
        clean = clean_url(url)
        if clean != url:
            query = f"?{request.http.url.query}" if request.http.url.query else ""
            return RedirectResponse(article_path(clean, request.site.prefix) + query, 301)
        if is_special_url(url):
            return await self._special.show(request, url)
        asked = request.http.query_params
        for name, action in self._actions.items():
            if name in asked:
                return await action(request, url)
        if "revision" in asked:
            return await self._show_revision(request, url, parse_number(asked["revision"]))
        return await self._show_article(request, url)

    async def _show_article(self, request: PageRequest, url: str) -> Response:
        try:
            view = await self._articles.read(request.caller.org_id, url)
        except NotFound:
            return render_page(request, "wiki/missing.html", status=404, url_of_article=url, name=title_from_url(url))
        if view.head.render_status is RenderStatus.STALE:
            await self._articles.rerender(request.caller.org_id, url, wait=views.PATIENCE)
            view = await self._articles.read(request.caller.org_id, url)
        headers = {
            "ETag": _etag(request, view),
            "Last-Modified": format_datetime(_last_modified(view), usegmt=True),
            "Cache-Control": "private, no-cache",
            "Vary": "Cookie, HX-Request",
        }
        if _is_not_modified(request, headers["ETag"], _last_modified(view)):
            return Response(status_code=304, headers=headers)
        response = _article_page(request, view)
        response.headers.update(headers)
        return response

    async def _show_revision(self, request: PageRequest, url: str, number: int) -> Response:
        """A revision by its number never changes, once it is rendered."""
        article, revision = await self._articles.get_revision(request.caller.org_id, url, number)
        if revision.render_status is RenderStatus.STALE:  # one that failed would fail again at every look
            revision = (await self._articles.rerender(request.caller.org_id, url, number, wait=views.PATIENCE)).revision
        response = _article_page(
            request, ArticleView(article, revision, revision if revision.html is not None else None), old=True
        )
        if revision.render_status is RenderStatus.RENDERED and number != article.head:
            response.headers["Cache-Control"] = f"private, max-age={A_DAY}"
        return response

    async def _send_source(self, request: PageRequest, url: str) -> Response:
        """The source, as it was written."""
        asked = request.http.query_params.get("revision")
        view = await self._articles.read(request.caller.org_id, url)
        revision = view.head
        if asked is not None:
            _, revision = await self._articles.get_revision(request.caller.org_id, url, parse_number(asked))
        headers = {"ETag": f'"{revision.hash[:32]}"', "Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
        if matches(request.http.headers.get("if-none-match"), headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(revision.source, 200, headers, "text/markdown; charset=utf-8")

    async def _send_sitemap(self, request: PageRequest, part: int) -> Response:
        """The sitemap, or one of its files."""
        org_id, base = request.caller.org_id, request.site.service.address_for(request.http)
        last = await self._articles.last_article(org_id)
        if part == 0 and last > sitemap.IDS_PER_FILE:
            return Response(sitemap.sitemap_index(base, last), media_type=sitemap.MEDIA_TYPE)
        after = max(0, part - 1) * sitemap.IDS_PER_FILE
        if after > last:
            raise NotFound(f"the sitemap has no file {part}")
        found = await self._articles.list_after(org_id, after, sitemap.IDS_PER_FILE)
        inside = [article for article in found if article.id <= after + sitemap.IDS_PER_FILE]
        return Response(sitemap.sitemap_file(base, inside), media_type=sitemap.MEDIA_TYPE)

    async def _show_history(self, request: PageRequest, url: str) -> Response:
        before = request.http.query_params.get("before")
        article, shown, older = await self._articles.history(
            request.caller.org_id, url, None if before is None else parse_number(before)
        )
        return render_page(request, "wiki/history.html", article=article, lines=shown, older=older, is_first=before is None)

    async def _show_comparison(self, request: PageRequest, url: str) -> Response:
        asked = request.http.query_params
        first, second = parse_number(asked.get("from", "")), parse_number(asked.get("to", ""))
        article, before = await self._articles.get_revision(request.caller.org_id, url, first)
        _, after = await self._articles.get_revision(request.caller.org_id, url, second)
        differences = await line_diff.diff_lines_in_thread(before.source, after.source)
        return render_page(request, "wiki/compare.html", article=article, before=before, after=after, lines=differences)

    async def _confirm_rerender(self, request: PageRequest, url: str) -> Response:
        """A page with a button: a GET request must not submit a render."""
        request.require(Scope.SUBMITTER)
        view, asked = await self._articles.read(request.caller.org_id, url), request.http.query_params.get("revision")
        revision = view.head
        if asked is not None:
            _, revision = await self._articles.get_revision(request.caller.org_id, url, parse_number(asked))
        return render_page(request, "wiki/rerender.html", article=view.article, revision=revision)


def _article_page(request: PageRequest, view: ArticleView, *, old: bool = False) -> Response:
    return render_page(
        request,
        "wiki/article.html",
        article=view.article,
        head=view.head,
        shown=view.shown,
        old=old,
        address=article_path(view.article.url),
    )


def _last_modified(view: ArticleView) -> datetime:
    """When the shown revision was rendered or the article changed, to the second."""
    moments = [view.article.date_changed, view.head.date_rendered or 0]
    if view.shown is not None:
        moments.append(view.shown.date_rendered or 0)
    return from_ms(max(moments)).replace(microsecond=0)


def _is_not_modified(request: PageRequest, tag: str, changed: datetime) -> bool:
    """If-None-Match takes precedence: only the ETag depends on the caller and the theme."""
    asked = request.http.headers
    if "if-none-match" in asked:
        return matches(asked["if-none-match"], tag)
    try:
        return changed <= parsedate_to_datetime(asked["if-modified-since"])
    except (KeyError, ValueError, TypeError):  # none, no date, or one without a zone
        return False


def _etag(request: PageRequest, view: ArticleView) -> str:
    """Of the revision that is shown, and of what else the page depends on: caller, theme and notice."""
    head, shown = view.head, view.shown
    theme, notice = (read_cookie(request.http, name) for name in (THEME_COOKIE, NOTICE_COOKIE))
    parts = (
        *(view.article.id, head.number, head.render_status, head.date_rendered),
        *(() if shown is None else (shown.number, shown.date_rendered)),
        *(request.session.form_token, request.caller.scope, theme, notice, VERSION),
    )
    return f'W/"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'
