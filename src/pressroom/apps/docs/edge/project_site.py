"""What the paths of a project's site mean: pages of editions and builds, the dashboard, and what is missing."""

import math
import re
from urllib.parse import quote

from pressroom.apps.docs.dashboards.dashboards import Dashboards
from pressroom.apps.docs.edge import fallback_pages
from pressroom.apps.docs.edge.answers import HTML, JSON, OWN_PAGE, TEXT, EdgeAnswer, whole
from pressroom.apps.docs.edge.contents import Contents
from pressroom.apps.docs.edge.file_answers import FileAnswers
from pressroom.apps.docs.edge.lookups import RecentLookups
from pressroom.apps.docs.edge.media import is_page, media_type_of
from pressroom.apps.docs.edge.places import is_edition_slug
from pressroom.apps.docs.edge.site_request import FOR_A_MINUTE, SiteRequest
from pressroom.apps.docs.edge.sites import Shown, SiteProject, Sites
from pressroom.apps.docs.model import MAIN, EditionKind
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import NotFound
from pressroom.ids import parse_uid

DASHBOARDS = 64  # projects whose dashboards are kept in memory
FOREVER = "max-age=31536000, immutable"
_BUILD_ID = re.compile(r"[0-9A-Za-z]{26}")


class ProjectSite:
    """`has_own_url` says whether projects of organisations without a domain have an address of their own (`[docs] url`)."""

    def __init__(
        self, sites: Sites, contents: Contents, dashboards: Dashboards, urls: PublishedUrls, *, has_own_url: bool
    ) -> None:
        self._sites = sites
        self._files = FileAnswers(contents)
        self._dashboards = dashboards
        self._urls = urls
        self._has_own_url = has_own_url
        self._dashboard_files = RecentLookups(self._read_dashboard, most=DASHBOARDS, fresh=math.inf)

    async def answer(self, request: SiteRequest) -> EdgeAnswer:
        try:
            return await self._route(request)
        except NotFound:  # an edition or a build that is not there
            return await self._missing(request, "/".join(request.rest[2:]))

    async def _route(self, request: SiteRequest) -> EdgeAnswer:
        match tuple(request.rest):
            case ():
                return request.redirect_to_slash(request.project.slug)
            case ("v",):
                return request.redirect_to_slash("v")
            case ("v", "" | "index.html"):
                return await self._dashboard(request)
            case ("v", "switcher.json"):
                return await self._switcher(request)
            case ("_docverse.json",):
                return await self._metadata(request, MAIN)
            case ("v", slug, "_docverse.json"):
                return await self._metadata(request, slug)
            case ("v", slug):
                await self._edition(request, slug)
                return request.redirect_to_slash(slug)
            case ("v", slug, *path):
                return await self._page_of_edition(request, await self._edition(request, slug), "/".join(path))
            case ("builds", uid, *path) if _BUILD_ID.fullmatch(uid):
                return await self._page_of_build(request, uid, path)
            case path:
                return await self._page_of_edition(request, await self._edition(request, MAIN), "/".join(path))

    async def _edition(self, request: SiteRequest, slug: str) -> Shown:
        """Raises NotFound."""
        edition = await self._sites.edition(request.project.id, slug) if is_edition_slug(slug) else None
        if edition is None:
            raise NotFound("the project has no such edition")
        return edition

    async def _page_of_edition(self, request: SiteRequest, edition: Shown, path: str) -> EdgeAnswer:
        if edition.artifact is None or edition.build is None:
            return await self._missing(request, path)
        headers = {"Cache-Control": request.cache_control(FOR_A_MINUTE), "X-Docverse-Build": edition.build}
        if edition.kind is EditionKind.DRAFT or edition.kind in request.project.noindex:
            headers["X-Robots-Tag"] = "noindex"
        return await self._page(request, edition.artifact, path, headers, is_main=edition.slug == MAIN)

    async def _page_of_build(self, request: SiteRequest, uid: str, path: list[str]) -> EdgeAnswer:
        build = await self._sites.build(request.project.id, parse_uid(uid))
        if build is None:
            raise NotFound("the project has no such build")
        if not path:
            return request.redirect_to_slash(uid)
        headers = {
            "Cache-Control": request.cache_control(FOREVER),
            "X-Docverse-Build": build.build,
            "X-Robots-Tag": "noindex",
        }
        return await self._page(request, build.artifact, "/".join(path), headers)

    async def _page(
        self, request: SiteRequest, artifact: str, path: str, headers: dict[str, str], *, is_main: bool = False
    ) -> EdgeAnswer:
        found = await self._sites.file(artifact, path)
        if found.is_folder:
            return request.redirect_to_slash(path.rpartition("/")[2], status=302)
        if found.file is None:
            return await self._missing(request, path)
        name = path if path and not path.endswith("/") else "index.html"
        media_type = media_type_of(name, found.file.media_type)
        if is_page(media_type) and (is_main or await self._main_has(request, path)):
            headers["Link"] = f'<{self._root(request)}{quote(_without_index(path))}>; rel="canonical"'
        return await self._files.of_file(request, found, found.file, media_type, headers)

    async def _main_has(self, request: SiteRequest, path: str) -> bool:
        main = await self._sites.main(request.project.id)
        if main is None or main.artifact is None:
            return False
        return (await self._sites.file(main.artifact, path)).file is not None

    async def _missing(self, request: SiteRequest, path: str) -> EdgeAnswer:
        """A page that names the editions which have what was asked for; a line of text for an image or a script."""
        editions = await self._sites.editions_with(request.project.id, path)
        root, page = f"{request.mount}/", _without_index(path)
        headers = {"Cache-Control": request.cache_control(FOR_A_MINUTE), "X-Robots-Tag": "noindex", **request.vary()}
        name = path.rpartition("/")[2]
        if "." in name and not name.endswith((".html", ".htm")):
            return whole(404, fallback_pages.missing_text(root, page, editions), headers | {"Content-Type": TEXT})
        branded = (await self._files_of_dashboard(request.project)).get("__404.html")
        body = fallback_pages.missing_page(root, page, editions, branded)
        policy = {} if branded is not None else {"Content-Security-Policy": OWN_PAGE}
        return whole(404, body, headers | policy | {"Content-Type": HTML})

    async def _dashboard(self, request: SiteRequest) -> EdgeAnswer:
        body = (await self._files_of_dashboard(request.project)).get("__dashboard.html")
        if body is None:
            title = request.project.title or request.project.slug
            body = fallback_pages.dashboard(title, await self._sites.editions(request.project.id))
        return await self._files.of_generated(request, body, HTML)

    async def _switcher(self, request: SiteRequest) -> EdgeAnswer:
        body = (await self._files_of_dashboard(request.project)).get("__switcher.json")
        if body is None:
            body = fallback_pages.switcher(self._root(request), await self._sites.editions(request.project.id))
        return await self._files.of_generated(request, body, JSON)

    async def _metadata(self, request: SiteRequest, slug: str) -> EdgeAnswer:
        edition = await self._edition(request, slug)
        body = (await self._files_of_dashboard(request.project)).get(f"__editions/{edition.slug}.json")
        if body is None:
            body = fallback_pages.edition_metadata(self._root(request), edition)
        return await self._files.of_generated(request, body, JSON)

    async def _files_of_dashboard(self, project: SiteProject) -> dict[str, bytes]:
        if project.dashboard is None:
            return {}
        return await self._dashboard_files.get((project.id, project.dashboard))

    async def _read_dashboard(self, rendered: tuple[str, str]) -> dict[str, bytes]:
        return await self._dashboards.read(rendered[0])

    def _root(self, request: SiteRequest) -> str:
        """The address of the project. Absolute where the settings say it; a request's own Host is never used for it."""
        if request.org.base_domain or self._has_own_url:
            return self._urls.project(request.org, request.project.slug)
        return f"{request.mount}/"


def _without_index(path: str) -> str:
    return path.removesuffix("index.html") if path == "index.html" or path.endswith("/index.html") else path
