"""What waits, what runs, what went wrong: at a glance."""

from fastapi import APIRouter
from starlette.responses import Response

from pressroom.web.desk import Desk, Visit


def router(desk: Desk) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    async def show(visit: Visit) -> Response:
        backlog = await desk.service.queue.overview.backlog(org_id=visit.org_id)
        return visit.page("overview.html", backlog=backlog)

    desk.get(routes, "/desk", show)
    return routes
