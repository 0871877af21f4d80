"""Who works, how busy they are, and with what."""

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.overview import PAGE_LIMIT
from pressroom.web.crew import crew
from pressroom.web.desk import Desk, Visit


def router(desk: Desk) -> Routes:
    routes = Routes()
    queue = desk.service.queue

    async def show(visit: Visit) -> Response:
        active = await queue.overview.active(org_id=visit.org_id, limit=PAGE_LIMIT)
        hands = crew(visit.caller, await queue.members(), active.items)
        return visit.page("workers.html", hands=hands, more=active.next_cursor is not None)

    desk.get(routes, "/desk/workers", show)
    return routes
