"""`…/search`: pages of an edition by their words."""

from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.api.schema import query
from pressroom.api.service import Service
from pressroom.apps.docs.http.access import READER, require_role
from pressroom.apps.docs.http.openapi import collection_of, operation
from pressroom.apps.docs.http.replies import collection
from pressroom.apps.docs.http.request_parts import LIMIT, ORG, PROJECT, parse_limit
from pressroom.apps.docs.model import MAIN
from pressroom.apps.docs.search.search import PageHit
from pressroom.apps.docs.urls import PublishedUrls

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

_INDEX = "index.html"


class SnippetPart(msgspec.Struct, frozen=True):
    """`found` if it is one of the words."""

    text: str
    found: bool


class PageHitView(msgspec.Struct, frozen=True, kw_only=True):
    """`url` is where readers find the page. `snippet` is the text around what was found, in parts."""

    url: str
    path: str
    title: str
    snippet: list[SnippetPart]


_HIT = {
    "url": "https://guide.docs.example.org/v/2.1/setup/",
    "path": "setup/index.html",
    "title": "Set-up",
    "snippet": [{"text": "Before the first ", "found": False}, {"text": "build", "found": True}],
}
SEARCH = operation(
    collection_of(PageHitView, "Pages that have all words, the best first", _HIT),
    422,
    parameters=[
        ORG,
        PROJECT,
        query("q", {"type": "string"}, "Words; the last may be only begun"),
        query("edition", {"type": "string", "default": MAIN}, "The edition"),
        LIMIT,
    ],
)


def router(service: Service, app: "DocsApp") -> Routes:
    routes = Routes("docs")
    api = SearchApi(service, app)
    routes.add("/orgs/{org}/projects/{project}/search", api.search_pages, "GET", **SEARCH)
    return routes


class SearchApi:
    def __init__(self, service: Service, app: "DocsApp") -> None:
        self._service = service
        self._search, self._projects = app.search, app.projects
        self._published = PublishedUrls(app.settings)

    async def search_pages(self, request: Request, org: str, project: str) -> Response:
        """Search the pages of an edition."""
        await require_role(self._service, request, org, READER)
        edition, text = request.query_params.get("edition") or MAIN, request.query_params.get("q", "")
        found = await self._search.find(org, project, edition, text, parse_limit(request))
        owner, _ = await self._projects.get_with_org(org, project)
        root = self._published.edition(owner, project, edition)
        return collection(self._service, request, [_hit_view(hit, root) for hit in found])


def _hit_view(hit: PageHit, root: str) -> PageHitView:
    """An index is found under the address of its folder."""
    path = hit.path.removesuffix(_INDEX) if hit.path == _INDEX or hit.path.endswith(f"/{_INDEX}") else hit.path
    snippet = [SnippetPart(part.text, part.found) for part in hit.snippet]
    return PageHitView(url=f"{root}{quote(path)}", path=hit.path, title=hit.title, snippet=snippet)
