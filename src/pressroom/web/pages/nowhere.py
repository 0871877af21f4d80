"""Where the desk has no page. Registered last: whatever has one is found before."""

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.errors import NotFound
from pressroom.web.desk import Desk, Visit


def router(desk: Desk) -> Routes:
    routes = Routes()
    desk.get(routes, "/desk/{rest:path}", show)
    return routes


async def show(visit: Visit, rest: str) -> Response:
    if rest.endswith("/") or not rest:
        return visit.go(visit.desk.door.inside(f"/desk/{rest}".rstrip("/")))
    raise NotFound("there is no page here; the menu has all that there are")
