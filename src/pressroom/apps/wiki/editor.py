"""The editor of an article: its form, the preview, saving, and the conflict of two authors."""

from contextlib import suppress

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.disconnects import cancel_on_disconnect
from pressroom.apps.wiki import views
from pressroom.apps.wiki.articles import Articles
from pressroom.apps.wiki.links import article_path
from pressroom.apps.wiki.model import (
    COMMENT_LIMIT,
    SOURCE_LIMIT,
    TITLE_LIMIT,
    clean_url,
    is_special_url,
    make_draft,
    title_from_url,
)
from pressroom.apps.wiki.special_pages import SpecialPages
from pressroom.apps.wiki.store import EditConflict
from pressroom.apps.wiki.views import parse_number, render_page, request_trace
from pressroom.errors import InvalidArgument, NotFound, PressroomError
from pressroom.web import line_diff
from pressroom.web.site import PageRequest

_BOUNDS = {"most_title": TITLE_LIMIT, "most_comment": COMMENT_LIMIT, "most_source": SOURCE_LIMIT}


class Editor:
    def __init__(self, articles: Articles, special: SpecialPages) -> None:
        self._articles = articles
        self._special = special

    async def edit(self, request: PageRequest, url: str) -> Response:
        request.require(Scope.SUBMITTER)
        try:
            view = await self._articles.read(request.caller.org_id, url)
        except NotFound:
            return _editor_page(request, url, title=title_from_url(url), source=f"# {title_from_url(url)}\n\n", previous=0)
        head = view.head
        return _editor_page(request, url, title=head.title, source=head.source, previous=head.number)

    async def save(self, request: PageRequest, url: str) -> Response:
        form, url = request.form, clean_url(url)
        if is_special_url(url):
            return await self._special.handle_post(request, url)
        action = form.get("action", "save")
        if action == "rerender":
            asked = form.get("revision")
            number = parse_number(asked) if asked else None
            posted = await self._articles.rerender(
                request.caller.org_id, url, number, wait=views.PATIENCE, spaced=True, trace=request_trace(request)
            )
            newest = posted.saved.revision == posted.saved.article.head
            return request.redirect(article_path(url) + ("" if newest else f"?revision={number}"))
        draft = {"title": form.get("title"), "source": form.get("source"), "comment": form.get("comment")}
        previous = parse_number(form.get("previous", "0"), least=0)
        if action not in ("save", "preview") or not form.all("source"):
            return await self._refuse_form(request, url, draft, previous)
        if action == "preview":
            return await self._preview(request, url, draft, previous)
        try:
            made = make_draft(url, draft["source"], title=draft["title"], comment=draft["comment"],
                              author=request.caller.name, previous=previous)  # fmt: skip
            posted = await self._articles.post(request.caller.org_id, made, wait=views.PATIENCE, trace=request_trace(request))
        except EditConflict as conflict:
            return await self._show_conflict(request, url, draft, conflict)
        except PressroomError as wrong:  # the author must not lose the text
            return _editor_page(request, url, **draft, previous=previous, problem=wrong, status=wrong.status)
        if not posted.saved.modified:
            return request.redirect(
                article_path(posted.saved.article.url), "The text is the same as before: there is no new revision."
            )
        return request.redirect(article_path(posted.saved.article.url))

    async def _refuse_form(self, request: PageRequest, url: str, draft: dict[str, str], previous: int) -> Response:
        """Nothing is saved. What was typed is shown again, or else what the article says."""
        words = f"there is no action {request.form.get('action')[:64]!r}; there are save, preview and rerender"
        if not request.form.all("source"):
            words = "the form has no field `source`, so the article stays as it is"
            with suppress(NotFound):
                draft = draft | {"source": (await self._articles.read(request.caller.org_id, url)).head.source}
        wrong = InvalidArgument(words)
        return _editor_page(request, url, **draft, previous=previous, problem=wrong, status=wrong.status)

    async def _preview(self, request: PageRequest, url: str, draft: dict[str, str], previous: int) -> Response:
        """The editor with the preview, or the preview alone for the script that asks while the author types."""
        made, problem = None, None
        try:
            made = await cancel_on_disconnect(request.http, self._articles.preview(request.caller.org_id, draft["source"]))
        except PressroomError as wrong:
            problem = wrong
        if "hx-request" in request.http.headers:
            return render_page(request, "wiki/preview.html", preview=made, problem=problem)
        status = 200 if problem is None else problem.status
        return _editor_page(request, url, **draft, previous=previous, preview=made, problem=problem, status=status)

    async def _show_conflict(self, request: PageRequest, url: str, draft: dict[str, str], conflict: EditConflict) -> Response:
        """Both texts and their differences, so that neither is lost."""
        theirs = None if conflict.article is None else (await self._articles.read(request.caller.org_id, url)).head
        differences = await line_diff.diff_lines_in_thread(theirs.source if theirs else "", draft["source"])
        return render_page(
            request,
            "wiki/conflict.html",
            status=409,
            url_of_article=url,
            name=title_from_url(url),
            draft=draft,
            theirs=theirs,
            lines=differences,
            **_BOUNDS,
        )


def _editor_page(
    request: PageRequest,
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
    return render_page(
        request,
        "wiki/edit.html",
        status=status,
        url_of_article=url,
        name=title_from_url(url),
        title=title,
        source=source,
        comment=comment,
        previous=previous,
        preview=preview,
        problem=problem,
        address=article_path(url),
        **_BOUNDS,
    )
