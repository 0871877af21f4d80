"""One box that takes whatever somebody has in hand, an id, a link, a name or a hash, and goes there."""

from functools import partial
from urllib.parse import quote, unquote, urlencode, urlsplit

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.api.tokens import is_well_formed
from pressroom.model import Work
from pressroom.store.operators import lookup
from pressroom.store.operators.lookup import LookupResult, Viewer
from pressroom.web.desk import Desk, Visit, refuse

LONGEST = 2_000


def router(desk: Desk) -> Routes:
    routes = Routes()
    desk.get(routes, "/desk/find", show)
    return routes


async def show(visit: Visit) -> Response:
    asked = visit.request.query_params.get("q", "").strip()
    if len(asked) > LONGEST or not asked.isprintable():
        raise refuse(f"what is looked for is one line of up to {LONGEST:,} printable characters")
    if not asked:
        return _page(visit, "")
    if is_well_formed(asked):
        return _page(visit, "", is_secret=True)
    if _is_address(asked):
        if urlsplit(asked).netloc not in visit.desk.door.own_places(visit.request) | {""}:
            return _page(visit, asked, is_elsewhere=True)
        path = _path_in(visit, asked)
        if visit.desk.door.inside(path) == path:
            return visit.go(path)
        word = _word_in(path)
    else:
        word = asked
    found = await visit.desk.service.rendering.database.read(partial(_look, visit.desk, word, _viewer(visit)))
    paths = {path_to(one) for one in found} - {None}
    if len(paths) == 1:
        return visit.go(str(paths.pop()))
    return _page(visit, asked, found=[(one, path_to(one)) for one in found])


def _look(desk: Desk, word: str, viewer: Viewer) -> Work[list[LookupResult]]:
    """In the core's rows, and in those of each app."""
    found = yield from lookup.look_up(word, viewer)
    for find in desk.finders:
        found += yield from find(word, viewer)
    return found


def path_to(found: LookupResult) -> str | None:
    """Its page, or what comes closest to one."""
    if found.path is not None:
        return found.path
    name = quote(found.name, safe="")
    if found.job is not None:
        return f"/desk/jobs/job_{found.job}"
    match found.what:
        case "artifact":
            return None if found.link is None else f"/d/{found.link}"
        case "failure":
            return f"/desk/failures/{name}"
        case "webhook":
            return f"/desk/webhooks/{name}"
        case "delivery":
            return f"/desk/webhooks/deliveries/{name}"
        case "worker":
            return f"/desk/workers#{name}"
        case "token":
            return f"/desk/tokens?{urlencode({'state': 'all', 'name': found.name})}"
        case what:
            return f"/desk/jobs?{urlencode({str(what): found.name})}"


def _page(
    visit: Visit,
    asked: str,
    *,
    found: list[tuple[LookupResult, str | None]] | None = None,
    is_secret: bool = False,
    is_elsewhere: bool = False,
) -> Response:
    return visit.page("find.html", asked=asked, found=found or [], is_secret=is_secret, is_elsewhere=is_elsewhere)


def _viewer(visit: Visit) -> Viewer:
    return Viewer(
        org_id=visit.org_id,
        own_org=visit.caller.org_id or "",
        sees_webhooks=visit.may(Scope.OPERATOR),
        sees_hosts=visit.caller.everywhere,
        sees_tokens=visit.may(Scope.ADMIN),
    )


def _is_address(asked: str) -> bool:
    return asked.startswith(("/", "http://", "https://")) and not asked.startswith("//")


def _path_in(visit: Visit, address: str) -> str:
    parts = urlsplit(address)
    return parts.path.removeprefix(visit.desk.prefix) + (f"?{parts.query}" if parts.query else "")


def _word_in(path: str) -> str:
    """What an address of the HTTP interface is about: `/jobs/ID/events`, `/d/LINK.svg`, `/a/NAME@2.svg`."""
    parts = [unquote(part) for part in path.partition("?")[0].split("/") if part]
    if parts[:2] == ["webhooks", "deliveries"]:
        parts = parts[1:]
    word = (parts[1:] or parts or [""])[0]
    return word.partition(".")[0].partition("@")[0] if parts[:1] in (["a"], ["d"]) else word
