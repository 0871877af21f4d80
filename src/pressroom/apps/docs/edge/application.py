"""The ASGI application of the edge: from a request to a file of the build that an edition shows."""

import logging
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from starlette.types import Receive, Scope, Send

from pressroom.api.access import is_loopback
from pressroom.api.byte_ranges import requested_range
from pressroom.api.hosts import HostNames
from pressroom.api.middleware import refuse_oversized
from pressroom.api.problems import HttpError, retry_after
from pressroom.api.replies import matches
from pressroom.apps.docs.dashboards.dashboards import Dashboards
from pressroom.apps.docs.edge import fallback_pages
from pressroom.apps.docs.edge.answers import (
    HTML,
    JSON,
    NO_STORE,
    OWN_PAGE,
    TEXT,
    EdgeAnswer,
    RequestHeaders,
    encode_headers,
    read_headers,
    redirect,
    tag_of,
    whole,
)
from pressroom.apps.docs.edge.contents import MAX_COMPRESSED, MIN_COMPRESSED, SMALL, Contents
from pressroom.apps.docs.edge.lookups import RecentLookups
from pressroom.apps.docs.edge.media import accepted_encodings, is_compressible, is_page, media_type_of
from pressroom.apps.docs.edge.places import (
    MAX_PATH,
    REMEMBERED_PATH,
    Domains,
    MalformedPath,
    SitePlace,
    find_local,
    host_of,
    is_edition_slug,
    split_path,
    split_path_cached,
)
from pressroom.apps.docs.edge.readers import PARAMETER, Readers, reader_cookie
from pressroom.apps.docs.edge.sites import FoundFile, ServedFile, Shown, SiteProject, Sites
from pressroom.apps.docs.model import MAIN, EditionKind, Org
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import NotFound, PressroomError, Unavailable
from pressroom.ids import parse_uid

log = logging.getLogger("pressroom.docs.edge")
access_log = logging.getLogger("pressroom.access")

METHODS = ("GET", "HEAD")
DASHBOARDS = 64  # projects whose dashboards are kept in memory
FOR_A_MINUTE = "max-age=60"
FOREVER = "max-age=31536000, immutable"
_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(:\d{1,5})?")
_BUILD_ID = re.compile(r"[0-9A-Za-z]{26}")
_NOTHING = "There is nothing here, or you may not see it. The sites of private organisations need a link or a token."


class EdgeHosts(NamedTuple):
    """`names` are those it answers to beside the domains of organisations. `shared` is the host name of `[docs] url`, below
    which organisations without a domain have their sites. `forbidden` is host and port of the service's pages."""

    names: HostNames
    shared: str
    forbidden: str


@dataclass(frozen=True)
class Visit:
    """A request for something of a project that the reader may see."""

    org: Org
    project: SiteProject
    mount: str
    rest: Sequence[str]
    headers: RequestHeaders
    query: bytes

    @property
    def tail(self) -> str:
        return f"?{self.query.decode('latin-1')}" if self.query else ""


class _Version(NamedTuple):
    """What of a project a request reads, found once for each request."""

    artifact: str
    build: str
    cache: str
    is_listed: bool  # by search engines
    is_main: bool = False


class Edge:
    def __init__(
        self,
        sites: Sites,
        contents: Contents,
        dashboards: Dashboards,
        readers: Readers,
        urls: PublishedUrls,
        hosts: EdgeHosts,
        head_limit: int,
    ) -> None:
        self._sites = sites
        self._contents = contents
        self._dashboards = dashboards
        self._readers = readers
        self._urls = urls
        self._hosts = hosts
        self._is_own_name = lru_cache(maxsize=1024)(hosts.names.__contains__)
        self._head_limit = head_limit
        self._dashboard_files = RecentLookups(self._read_dashboard, most=DASHBOARDS, fresh=math.inf)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
        if scope["type"] != "http":
            return
        began = time.perf_counter()
        answer = await self._answer(scope)
        if scope["method"] == "HEAD":
            answer = answer._replace(body=b"")
        try:
            await answer.send(scope, receive, send)
        finally:
            if access_log.isEnabledFor(logging.INFO):
                took = round((time.perf_counter() - began) * 1000, 1)
                path = scope["raw_path"][:MAX_PATH].decode(
                    "ascii", "backslashreplace"
                )  # as sent, without the query: it may be a token
                access_log.info("%s %s %s", scope["method"], path, answer.status, extra={"ms": took})

    async def _answer(self, scope: Scope) -> EdgeAnswer:
        try:
            return await self._respond(scope)
        except NotFound:
            return _refusal(404, "Not found", _NOTHING)
        except HttpError as refused:
            return _refusal(refused.status, "Request refused", f"{str(refused).capitalize()}.", refused.headers)
        except Unavailable as reason:
            log.warning("a request was refused: %s", reason)
            wait = {"Retry-After": str(retry_after(reason))}
            return _refusal(503, "Not available just now", "Please try again in a moment.", wait)
        except PressroomError as reason:
            log.error("a request failed: %s", reason)
        except Exception:
            log.exception("a request failed")
        return _refusal(500, "Something went wrong", "The log of the service says what it was.")

    async def _respond(self, scope: Scope) -> EdgeAnswer:
        if scope["method"] not in METHODS:
            raise HttpError(405, "method_not_allowed", "sites are only read here", {"Allow": ", ".join(METHODS)})
        refuse_oversized(scope, self._head_limit)
        raw: bytes = scope["raw_path"]
        if len(raw) > MAX_PATH:
            raise HttpError(414, "path_too_long", f"a path has at most {MAX_PATH:,} bytes")
        try:
            segments = split_path_cached(raw) if len(raw) <= REMEMBERED_PATH else split_path(raw)
        except MalformedPath:
            raise HttpError(400, "malformed_request", "the path is not percent-encoded UTF-8") from None
        headers = read_headers(scope)
        host = self._checked_host(headers)
        domains = await self._sites.domains()
        place = await self._find_place(domains, host, segments) if segments is not None else None
        if place is None:
            if segments == ("",) and is_loopback(host):
                return _start_page(await self._sites.public_projects())
            raise NotFound("there is no such site")
        org, project = await self._find_project(domains, place)
        visit = Visit(org, project, place.mount, place.rest, headers, scope["query_string"])
        if org.is_private:
            if (entrance := self._enter_by_link(visit, scope)) is not None:
                return entrance
            if not await self._readers.may_read(org, headers, scope):
                raise NotFound("there is no such site")
        try:
            return await self._route(visit)
        except NotFound:  # an edition or a build that is not there
            return await self._missing(visit, "/".join(visit.rest[2:]))

    def _checked_host(self, headers: RequestHeaders) -> str:
        """A browser sends the name that it was told, which may be one that a stranger has pointed here."""
        given = headers.hosts[0].lower() if len(headers.hosts) == 1 else ""
        host = host_of(given) if _HOST.fullmatch(given) else ""
        if not host:
            raise HttpError(400, "malformed_request", "a request has one Host header with a name and a port")
        if self._hosts.forbidden and given == self._hosts.forbidden:
            raise HttpError(421, "misdirected_request", "sites have an origin of their own; this one is that of the service")
        return host

    async def _find_place(self, domains: Domains, host: str, segments: Sequence[str]) -> SitePlace | None:
        if domains.covers(host):
            place = domains.find(host, segments)
            if place is not None or host != self._hosts.shared:
                return place
        elif not self._is_own_name(host):
            words = (
                f"no site has the name {host[:100]!r}; an organisation names its domain, and `[docs] url` that of all others"
            )
            raise HttpError(421, "misdirected_request", words)
        place = find_local(host, segments)
        if place is not None and place.org is None:
            org = await self._sites.only_org_with(place.project)
            return None if org is None else place._replace(org=org)
        # Where strangers' organisations share a name, one that has a domain is served there alone.
        if place is not None and host == self._hosts.shared and place.org in domains.orgs:
            return None if domains.orgs[place.org].base_domain else place
        return place

    async def _find_project(self, domains: Domains, place: SitePlace) -> tuple[Org, SiteProject]:
        org = domains.orgs.get(place.org or "")
        project = await self._sites.project(org.slug, place.project) if org is not None else None
        if org is None or project is None:
            raise NotFound("there is no such site")
        return org, project

    def _enter_by_link(self, visit: Visit, scope: Scope) -> EdgeAnswer | None:
        """Exchange the token of a link for a cookie, and leave the token out of the address."""
        if f"{PARAMETER}=".encode() not in visit.query:
            return None
        fields = parse_qsl(visit.query.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
        token = next((value for name, value in fields if name == PARAMETER), "")
        seconds = self._readers.links.seconds_left(visit.org.slug, token)
        if not seconds:
            return None
        rest = urlencode([(name, value) for name, value in fields if name != PARAMETER])
        is_secure = self._urls.project(visit.org, visit.project.slug).startswith("https:") or scope["scheme"] == "https"
        path = f"{visit.mount.rpartition('/')[0]}/"  # all projects of an organisation that are told apart by their path
        cookie = reader_cookie(token, seconds, path, is_secure=is_secure)
        last = quote(visit.rest[-1]) if visit.rest else f"{visit.project.slug}/"
        location = f"./{last}{'?' if rest else ''}{rest}"
        return redirect(303, location, {"Set-Cookie": cookie, "Cache-Control": NO_STORE, "Referrer-Policy": "no-referrer"})

    async def _route(self, visit: Visit) -> EdgeAnswer:
        match tuple(visit.rest):
            case ():
                return _to_slash(visit, visit.project.slug)
            case ("v",):
                return _to_slash(visit, "v")
            case ("v", "" | "index.html"):
                return await self._dashboard(visit)
            case ("v", "switcher.json"):
                return await self._switcher(visit)
            case ("_docverse.json",):
                return await self._metadata(visit, MAIN)
            case ("v", slug, "_docverse.json"):
                return await self._metadata(visit, slug)
            case ("v", slug):
                await self._edition(visit, slug)
                return _to_slash(visit, slug)
            case ("v", slug, *path):
                return await self._page_of_edition(visit, await self._edition(visit, slug), "/".join(path))
            case ("builds", uid, *path) if _BUILD_ID.fullmatch(uid):
                return await self._page_of_build(visit, uid, path)
            case path:
                return await self._page_of_edition(visit, await self._edition(visit, MAIN), "/".join(path))

    async def _edition(self, visit: Visit, slug: str) -> Shown:
        """Raises NotFound."""
        edition = await self._sites.edition(visit.project.id, slug) if is_edition_slug(slug) else None
        if edition is None:
            raise NotFound("the project has no such edition")
        return edition

    async def _page_of_edition(self, visit: Visit, edition: Shown, path: str) -> EdgeAnswer:
        if edition.artifact is None or edition.build is None:
            return await self._missing(visit, path)
        is_listed = edition.kind is not EditionKind.DRAFT and edition.kind not in visit.project.noindex
        return await self._page(
            visit, _Version(edition.artifact, edition.build, FOR_A_MINUTE, is_listed, edition.slug == MAIN), path
        )

    async def _page_of_build(self, visit: Visit, uid: str, path: list[str]) -> EdgeAnswer:
        build = await self._sites.build(visit.project.id, parse_uid(uid))
        if build is None:
            raise NotFound("the project has no such build")
        if not path:
            return _to_slash(visit, uid)
        return await self._page(visit, _Version(build.artifact, build.build, FOREVER, is_listed=False), "/".join(path))

    async def _page(self, visit: Visit, version: _Version, path: str) -> EdgeAnswer:
        found = await self._sites.file(version.artifact, path)
        if found.is_folder:
            return _to_slash(visit, path.rpartition("/")[2], status=302)
        if found.file is None:
            return await self._missing(visit, path)
        name = path if path and not path.endswith("/") else "index.html"
        media_type = media_type_of(name, found.file.media_type)
        headers = {
            "Content-Type": media_type,
            "Cache-Control": _cache(visit, version.cache),
            "X-Docverse-Build": version.build,
        }
        if is_page(media_type) and (canonical := await self._canonical_url(visit, version, path)):
            headers["Link"] = f'<{canonical}>; rel="canonical"'
        if not version.is_listed:
            headers["X-Robots-Tag"] = "noindex"
        return await self._file(visit, found, found.file, headers, media_type)

    async def _canonical_url(self, visit: Visit, version: _Version, path: str) -> str | None:
        """The same page of `__main`, if that has it."""
        if not version.is_main:
            main = await self._sites.main(visit.project.id)
            if main is None or main.artifact is None or (await self._sites.file(main.artifact, path)).file is None:
                return None
        return f"{self._root(visit)}{quote(_without_index(path))}"

    async def _file(
        self, visit: Visit, found: FoundFile, file: ServedFile, headers: dict[str, str], media_type: str
    ) -> EdgeAnswer:
        """The whole file, compressed if that may be; or the range that was asked for, of the file as it is."""
        varies = _vary(visit)
        if is_compressible(media_type):
            varies = f"Accept-Encoding, {varies}" if varies else "Accept-Encoding"
        if varies:
            headers["Vary"] = varies
        asked = visit.headers
        tag = f'"{file.sha256}"'
        if asked.range is None and "Accept-Encoding" in varies and asked.accept_encoding:
            answer = await self._compressed(asked, found, file, headers)
            if answer is not None:
                return answer
        headers["ETag"] = tag
        if matches(asked.if_none_match, tag):
            return EdgeAnswer(304, encode_headers(headers))
        headers["Accept-Ranges"] = "bytes"
        start, stop = requested_range(asked.range, asked.if_range, file.size, tag) if asked.range else (0, file.size)
        status = 200
        if (start, stop) != (0, file.size):
            status = 206
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{file.size}"
        headers["Content-Length"] = str(stop - start)
        try:
            if file.size <= SMALL:
                data = await self._contents.read(file)
                return EdgeAnswer(status, encode_headers(headers), data if status == 200 else data[start:stop])
            return EdgeAnswer(status, encode_headers(headers), await self._contents.stream(file, start, stop))
        except NotFound:
            raise _bytes_missing(file) from None

    async def _compressed(
        self, asked: RequestHeaders, found: FoundFile, file: ServedFile, headers: dict[str, str]
    ) -> EdgeAnswer | None:
        """A copy that was uploaded beside the file, or one that is made here."""
        accepted = accepted_encodings(asked.accept_encoding)
        copies = [("br", found.brotli), ("gzip", found.gzip)]
        uploaded = next(((name, copy) for name, copy in copies if name in accepted and copy is not None), None)
        copy: ServedFile | None = None
        if uploaded is not None and uploaded[1] is not None and uploaded[1].size <= MAX_COMPRESSED:
            encoding, copy = uploaded
        elif "gzip" in accepted and MIN_COMPRESSED <= file.size <= MAX_COMPRESSED:
            encoding = "gzip"
        else:
            return None
        tag = f'"{(copy or file).sha256}-{encoding}"'
        if asked.if_none_match not in (None, "*") and matches(asked.if_none_match, tag):
            return EdgeAnswer(304, encode_headers(headers | {"ETag": tag}))
        try:
            data = await (self._contents.compressed(file) if copy is None else self._contents.read(copy))
        except NotFound:
            raise _bytes_missing(file) from None
        return None if data is None else whole(200, data, headers | {"ETag": tag, "Content-Encoding": encoding})

    async def _missing(self, visit: Visit, path: str) -> EdgeAnswer:
        """A page that names the editions which have what was asked for; a line of text for an image or a script."""
        editions = await self._sites.editions_with(visit.project.id, path)
        root, page = f"{visit.mount}/", _without_index(path)
        headers = {"Cache-Control": _cache(visit, FOR_A_MINUTE), "X-Robots-Tag": "noindex"}
        if varies := _vary(visit):
            headers["Vary"] = varies
        name = path.rpartition("/")[2]
        if "." in name and not name.endswith((".html", ".htm")):
            return whole(404, fallback_pages.missing_text(root, page, editions), headers | {"Content-Type": TEXT})
        branded = (await self._files_of_dashboard(visit.project)).get("__404.html")
        body = fallback_pages.missing_page(root, page, editions, branded)
        policy = {} if branded is not None else {"Content-Security-Policy": OWN_PAGE}
        return whole(404, body, headers | policy | {"Content-Type": HTML})

    async def _dashboard(self, visit: Visit) -> EdgeAnswer:
        body = (await self._files_of_dashboard(visit.project)).get("__dashboard.html")
        if body is None:
            title = visit.project.title or visit.project.slug
            body = fallback_pages.dashboard(title, await self._sites.editions(visit.project.id))
        return await self._generated(visit, body, HTML)

    async def _switcher(self, visit: Visit) -> EdgeAnswer:
        body = (await self._files_of_dashboard(visit.project)).get("__switcher.json")
        if body is None:
            body = fallback_pages.switcher(self._root(visit), await self._sites.editions(visit.project.id))
        return await self._generated(visit, body, JSON)

    async def _metadata(self, visit: Visit, slug: str) -> EdgeAnswer:
        edition = await self._edition(visit, slug)
        body = (await self._files_of_dashboard(visit.project)).get(f"__editions/{edition.slug}.json")
        if body is None:
            body = fallback_pages.edition_metadata(self._root(visit), edition)
        return await self._generated(visit, body, JSON)

    async def _generated(self, visit: Visit, body: bytes, media_type: str) -> EdgeAnswer:
        tag = tag_of(body)
        headers = {"Content-Type": media_type, "Cache-Control": _cache(visit, FOR_A_MINUTE)}
        headers["Vary"] = ", ".join(filter(None, ("Accept-Encoding", _vary(visit))))
        if "gzip" in accepted_encodings(visit.headers.accept_encoding):
            compressed = await self._contents.compressed_data(f"generated {tag}", body)
            if compressed is not None:
                body, tag = compressed, f'{tag[:-1]}-gzip"'
                headers["Content-Encoding"] = "gzip"
        headers["ETag"] = tag
        if matches(visit.headers.if_none_match, tag):
            return EdgeAnswer(304, encode_headers(headers))
        return whole(200, body, headers)

    async def _files_of_dashboard(self, project: SiteProject) -> dict[str, bytes]:
        if project.dashboard is None:
            return {}
        return await self._dashboard_files.get((project.id, project.dashboard))

    async def _read_dashboard(self, rendered: tuple[str, str]) -> dict[str, bytes]:
        return await self._dashboards.read(rendered[0])

    def _root(self, visit: Visit) -> str:
        """The address of the project. Absolute where the settings say it; a request's own Host is never used for it."""
        if visit.org.base_domain or self._hosts.shared:
            return self._urls.project(visit.org, visit.project.slug)
        return f"{visit.mount}/"


def _to_slash(visit: Visit, last: str, *, status: int = 301) -> EdgeAnswer:
    """Relative: neither the host name nor the path that a proxy may have cut off is known here."""
    headers = {"Cache-Control": _cache(visit, FOR_A_MINUTE)}
    return redirect(status, f"./{quote(last)}/{visit.tail}", headers)


def _cache(visit: Visit, lifetime: str) -> str:
    return f"private, {lifetime}" if visit.org.is_private else lifetime


def _vary(visit: Visit) -> str:
    return "Authorization, Cookie" if visit.org.is_private else ""


def _without_index(path: str) -> str:
    return path.removesuffix("index.html") if path == "index.html" or path.endswith("/index.html") else path


def _bytes_missing(file: ServedFile) -> Unavailable:
    return Unavailable(f"the artifact store has no bytes under {file.key}")


def _start_page(projects: Sequence[tuple[str, str, str]]) -> EdgeAnswer:
    """For whoever runs the edge on this machine and looks at what its address shows."""
    headers = {"Content-Type": HTML, "Cache-Control": NO_STORE, "Content-Security-Policy": OWN_PAGE}
    return whole(200, fallback_pages.start_page(projects), headers)


def _refusal(status: int, title: str, words: str, headers: dict[str, str] | None = None) -> EdgeAnswer:
    body = fallback_pages.message_page(title, words)
    own = {"Content-Type": HTML, "Cache-Control": NO_STORE, "Content-Security-Policy": OWN_PAGE}
    return whole(status, body, {**(headers or {}), **own})
