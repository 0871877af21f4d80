"""What waits, what runs, what went wrong: at a glance."""

from starlette.responses import Response

from pressroom.api.access import LOCAL
from pressroom.api.routes import Routes
from pressroom.store.operators.dashboard import LastHour
from pressroom.web import crew, glance
from pressroom.web.desk import Desk, Visit
from pressroom.web.engines import Engines

type Bar = tuple[str, int, int]


def router(desk: Desk) -> Routes:
    routes = Routes()
    glances, engines = glance.glances(desk.service), Engines()

    async def show(visit: Visit) -> Response:
        seen = await glances.at(visit.org_id, after="hx-request" in visit.request.headers)
        return visit.page(
            "overview.html",
            seen=seen,
            active=crew.named(visit.caller, seen.members, seen.active.items),
            hands=crew.crew(visit.caller, seen.members, ()),
            ended_bars=_ended(seen.hour),
            error_bars=_errors(seen.hour),
            engines=await engines.look(),
            service_url=desk.service.address_for(visit.request),
            needs_token=visit.caller != LOCAL,
        )

    desk.get(routes, "/desk", show)
    return routes


def _ended(hour: LastHour) -> list[Bar]:
    return [(f"{minute.at:%H:%M} UTC", minute.ended, minute.errors) for minute in hour.minutes]


def _errors(hour: LastHour) -> list[Bar]:
    """On a scale of their own: five among a thousand would not be seen."""
    return [(f"{minute.at:%H:%M} UTC", minute.errors, minute.errors) for minute in hour.minutes]
