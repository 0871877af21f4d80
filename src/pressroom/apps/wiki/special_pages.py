"""The `Special:` pages: search, all articles, the articles that link to one, and the request to render everything again."""

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.apps.wiki.articles import RESULTS_SHOWN, Articles
from pressroom.apps.wiki.links import article_path
from pressroom.apps.wiki.model import SPECIAL, clean_url, make_draft
from pressroom.apps.wiki.rerender_requests import RerenderRequest
from pressroom.apps.wiki.views import parse_number, render_page, request_trace
from pressroom.errors import InvalidArgument, NotFound
from pressroom.web.site import PageRequest

ALL, LINKS, RERENDER, SEARCH = "AllPages", "WhatLinksHere/", "RerenderAll", "Search"
MOST_PAGES = 100  # of what was searched for


class SpecialPages:
    def __init__(self, articles: Articles) -> None:
        self._articles = articles

    async def show(self, request: PageRequest, url: str) -> Response:
        name = url[len(SPECIAL) :]
        if name == ALL:
            return await self._show_all(request)
        if name.startswith(LINKS):
            return await self._show_linking(request, clean_url(name.removeprefix(LINKS)))
        if name == RERENDER:
            request.require(Scope.OPERATOR)
            count, batches = (
                await self._articles.count(request.caller.org_id),
                await self._articles.batches(request.caller.org_id),
            )
            return render_page(request, "wiki/rerender_all.html", count=count, batches=batches)
        if name == SEARCH:
            return await self._show_search(request)
        ours = ", ".join(SPECIAL + one for one in (SEARCH, ALL, LINKS + "NAME"))
        raise NotFound(f"the wiki has no page {url[:100]!r} of its own; it has {ours}")

    async def handle_post(self, request: PageRequest, url: str) -> Response:
        if url != SPECIAL + RERENDER:
            raise NotFound(f"there is nothing to do at {url[:100]!r}")
        request.require(Scope.OPERATOR)
        batch = await self._articles.rerender_all(request.caller.org_id, RerenderRequest("all"), trace=request_trace(request))
        await request.record_audit("wiki.rerender_all", f"job_{batch.uid}", after={"answer": batch.answer.value})
        return request.redirect(
            f"/desk/jobs/job_{batch.uid}", "Every article is queued to be rendered again, in the background."
        )

    async def _show_all(self, request: PageRequest) -> Response:
        after = parse_number(request.http.query_params.get("after", "0"), least=0)
        found, more = await self._articles.list(request.caller.org_id, after)
        return render_page(request, "wiki/all.html", articles=found, more=more, is_first=after == 0)

    async def _show_linking(self, request: PageRequest, url: str) -> Response:
        after = parse_number(request.http.query_params.get("after", "0"), least=0)
        found, more = await self._articles.list_linking(request.caller.org_id, url, after)
        here = article_path(f"{SPECIAL}{LINKS}{url}")
        return render_page(request, "wiki/linking.html", url_of_article=url, articles=found, more=more, place=here)

    async def _show_search(self, request: PageRequest) -> Response:
        asked, org_id = request.http.query_params, request.caller.org_id
        sought, number = asked.get("q", "")[:200].strip(), min(parse_number(asked.get("page", "1")), MOST_PAGES)
        found, more = await self._articles.search(org_id, sought, number)
        name, exact = None, None
        try:
            name = make_draft(sought, "", author="", previous=0).url
            exact = (await self._articles.read(org_id, name)).article
        except (InvalidArgument, NotFound):
            pass  # what is searched for need not be a name, nor one that is there
        values = {"sought": sought, "found": found, "more": more and number < MOST_PAGES, "page": number}
        return render_page(
            request, "wiki/search.html", **values, name=name, exact=exact, first=(number - 1) * RESULTS_SHOWN + 1
        )
