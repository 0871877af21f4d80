"""Who works, how busy they are, and with what."""

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.overview import PAGE_LIMIT
from pressroom.web.site import PageRequest, Site
from pressroom.web.workers import worker_rows


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/workers", show)
    return routes


async def show(request: PageRequest) -> Response:
    active = await request.site.service.queue.overview.active(org_id=request.org_id, limit=PAGE_LIMIT)
    rows = worker_rows(request.caller, await request.site.service.queue.members(), active.items)
    return request.page("workers.html", workers=rows, more=active.next_cursor is not None)
