"""The search box: takes an id, a link, a name or a hash, and redirects to what it names."""

from functools import partial
from urllib.parse import quote, unquote, urlencode, urlsplit

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.api.tokens import is_well_formed
from pressroom.model import Work
from pressroom.store.operators import lookup
from pressroom.store.operators.lookup import LookupResult, Viewer
from pressroom.web.site import PageRequest, Site, page_error

MAX_LENGTH = 2_000


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/find", show)
    return routes


async def show(request: PageRequest) -> Response:
    text = request.http.query_params.get("q", "").strip()
    if len(text) > MAX_LENGTH or not text.isprintable():
        raise page_error(f"what is looked for is one line of up to {MAX_LENGTH:,} printable characters")
    if not text:
        return _results_page(request, "")
    if is_well_formed(text):
        return _results_page(request, "", is_secret=True)
    if _is_address(text):
        if urlsplit(text).netloc not in request.site.sessions.own_hosts(request.http) | {""}:
            return _results_page(request, text, is_elsewhere=True)
        path = _own_path_of(request, text)
        if request.site.sessions.safe_return_path(path) == path:
            return request.redirect(path)
        term = _search_term_in(path)
    else:
        term = text
    results = await request.read(partial(_search, request.site, term, _viewer(request)))
    paths = {result_path(one) for one in results} - {None}
    if len(paths) == 1:
        return request.redirect(str(paths.pop()))
    return _results_page(request, text, results=[(one, result_path(one)) for one in results])


def _search(site: Site, term: str, viewer: Viewer) -> Work[list[LookupResult]]:
    """In the core's rows, and in those of each app."""
    results = yield from lookup.look_up(term, viewer)
    for find in site.finders:
        results += yield from find(term, viewer)
    return results


def result_path(result: LookupResult) -> str | None:
    """Its page, or what comes closest to one."""
    if result.path is not None:
        return result.path
    name = quote(result.name, safe="")
    if result.job is not None:
        return f"/desk/jobs/job_{result.job}"
    match result.what:
        case "artifact":
            return None if result.link is None else f"/d/{result.link}"
        case "failure":
            return f"/desk/failures/{name}"
        case "webhook":
            return f"/desk/webhooks/{name}"
        case "delivery":
            return f"/desk/webhooks/deliveries/{name}"
        case "worker":
            return f"/desk/workers#{name}"
        case "token":
            return f"/desk/tokens?{urlencode({'state': 'all', 'name': result.name})}"
        case what:
            return f"/desk/jobs?{urlencode({str(what): result.name})}"


def _results_page(
    request: PageRequest,
    text: str,
    *,
    results: list[tuple[LookupResult, str | None]] | None = None,
    is_secret: bool = False,
    is_elsewhere: bool = False,
) -> Response:
    return request.page("find.html", asked=text, found=results or [], is_secret=is_secret, is_elsewhere=is_elsewhere)


def _viewer(request: PageRequest) -> Viewer:
    return Viewer(
        org_id=request.org_id,
        own_org=request.caller.org_id or "",
        sees_webhooks=request.may(Scope.OPERATOR),
        sees_hosts=request.caller.everywhere,
        sees_tokens=request.may(Scope.ADMIN),
    )


def _is_address(text: str) -> bool:
    return text.startswith(("/", "http://", "https://")) and not text.startswith("//")


def _own_path_of(request: PageRequest, address: str) -> str:
    parts = urlsplit(address)
    return parts.path.removeprefix(request.site.prefix) + (f"?{parts.query}" if parts.query else "")


def _search_term_in(path: str) -> str:
    """What an address of the HTTP interface is about: `/jobs/ID/events`, `/d/LINK.svg`, `/a/NAME@2.svg`."""
    parts = [unquote(part) for part in path.partition("?")[0].split("/") if part]
    if parts[:2] == ["webhooks", "deliveries"]:
        parts = parts[1:]
    term = (parts[1:] or parts or [""])[0]
    return term.partition(".")[0].partition("@")[0] if parts[:1] in (["a"], ["d"]) else term
