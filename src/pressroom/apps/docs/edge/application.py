"""The ASGI application of the edge: from a request to the site that it means, and whether its sender may read that."""

import logging
import time
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote, urlencode

from starlette.types import Receive, Scope, Send

from pressroom.api.access import is_loopback
from pressroom.api.middleware import refuse_oversized
from pressroom.api.problems import HttpError, retry_after
from pressroom.apps.docs.edge import fallback_pages
from pressroom.apps.docs.edge.answers import HTML, NO_STORE, OWN_PAGE, EdgeAnswer, read_headers, redirect, whole
from pressroom.apps.docs.edge.hosts import SiteFinder
from pressroom.apps.docs.edge.places import MAX_PATH, REMEMBERED_PATH, MalformedPath, split_path, split_path_cached
from pressroom.apps.docs.edge.project_site import ProjectSite
from pressroom.apps.docs.edge.readers import PARAMETER, Readers, reader_cookie
from pressroom.apps.docs.edge.site_request import SiteRequest
from pressroom.apps.docs.edge.sites import Sites
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import NotFound, PressroomError, Unavailable

log = logging.getLogger("pressroom.docs.edge")
access_log = logging.getLogger("pressroom.access")

METHODS = ("GET", "HEAD")
MAX_FIELDS = 100  # of the query of a link
_NOTHING = "There is nothing here, or you may not see it. The sites of private organisations need a link or a token."


class Edge:
    def __init__(
        self,
        sites: Sites,
        finder: SiteFinder,
        project_site: ProjectSite,
        readers: Readers,
        urls: PublishedUrls,
        head_limit: int,
    ) -> None:
        self._sites = sites
        self._finder = finder
        self._project_site = project_site
        self._readers = readers
        self._urls = urls
        self._head_limit = head_limit

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
                # As sent, without the query: it may be a token.
                path = scope["raw_path"][:MAX_PATH].decode("ascii", "backslashreplace")
                access_log.info("%s %s %s", scope["method"], path, answer.status, extra={"ms": took})

    async def _answer(self, scope: Scope) -> EdgeAnswer:
        try:
            return await self._respond(scope)
        except NotFound:
            return _refusal(404, "Not found", _NOTHING)
        except HttpError as refused:
            words = str(refused)
            return _refusal(refused.status, "Request refused", f"{words[:1].upper()}{words[1:]}.", refused.headers)
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
        segments = _split_path(scope["raw_path"])
        headers = read_headers(scope)
        host = self._finder.checked_host(headers)
        found = await self._finder.find(host, segments) if segments is not None else None
        if found is None:
            if segments == ("",) and is_loopback(host):
                return _start_page(await self._sites.public_projects())
            await self._readers.find_caller(headers, scope)  # guesses count here too, or they would tell what is private
            raise NotFound("there is no such site")
        org, project, place = found
        request = SiteRequest(org, project, place.mount, place.rest, headers, scope["query_string"], scope["method"] == "HEAD")
        if org.is_private:
            if (entrance := self._enter_by_link(request, scope)) is not None:
                return entrance
            if not await self._readers.may_read(org, headers, scope):
                raise NotFound("there is no such site")
        return await self._project_site.answer(request)

    def _enter_by_link(self, request: SiteRequest, scope: Scope) -> EdgeAnswer | None:
        """Exchange the token of a link for a cookie, and leave the token out of the address."""
        if f"{PARAMETER}=".encode() not in request.query:
            return None
        try:
            fields = parse_qsl(request.query.decode("latin-1"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
        except ValueError:  # more fields: no link of ours
            return None
        token = next((value for name, value in fields if name == PARAMETER), "")
        seconds = self._readers.links.seconds_left(request.org.slug, token)
        if not seconds:
            return None
        rest = urlencode([(name, value) for name, value in fields if name != PARAMETER])
        is_secure = self._urls.project(request.org, request.project.slug).startswith("https:") or scope["scheme"] == "https"
        path = f"{request.mount.rpartition('/')[0]}/"  # all projects of an organisation that are told apart by their path
        cookie = reader_cookie(token, seconds, path, is_secure=is_secure)
        last = quote(request.rest[-1]) if request.rest else f"{request.project.slug}/"
        location = f"./{last}{'?' if rest else ''}{rest}"
        return redirect(303, location, {"Set-Cookie": cookie, "Cache-Control": NO_STORE, "Referrer-Policy": "no-referrer"})


def _split_path(raw: bytes) -> Sequence[str] | None:
    """None if no file can have such a name. Raises HttpError."""
    if len(raw) > MAX_PATH:
        raise HttpError(414, "path_too_long", f"a path has at most {MAX_PATH:,} bytes")
    try:
        return split_path_cached(raw) if len(raw) <= REMEMBERED_PATH else split_path(raw)
    except MalformedPath:
        raise HttpError(400, "malformed_request", "the path is not percent-encoded UTF-8") from None


def _start_page(projects: Sequence[tuple[str, str, str]]) -> EdgeAnswer:
    """For a person at this machine who opens the address of the edge itself."""
    headers = {"Content-Type": HTML, "Cache-Control": NO_STORE, "Content-Security-Policy": OWN_PAGE}
    return whole(200, fallback_pages.start_page(projects), headers)


def _refusal(status: int, title: str, words: str, headers: dict[str, str] | None = None) -> EdgeAnswer:
    body = fallback_pages.message_page(title, words)
    own = {"Content-Type": HTML, "Cache-Control": NO_STORE, "Content-Security-Policy": OWN_PAGE}
    return whole(status, body, {**(headers or {}), **own})
