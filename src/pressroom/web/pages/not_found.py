"""Paths below /desk without a page. Registered last, so that every other route goes first."""

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.errors import NotFound
from pressroom.web.site import PageRequest, Site


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/{rest:path}", show)
    return routes


async def show(request: PageRequest, rest: str) -> Response:
    if rest.endswith("/") or not rest:
        return request.redirect(request.site.sessions.safe_return_path(f"/desk/{rest}".rstrip("/")))
    raise NotFound("there is no page here; the menu has all that there are")
