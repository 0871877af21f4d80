"""What waits, what runs, what went wrong: at a glance."""

from starlette.responses import Response

from pressroom.api.access import LOCAL
from pressroom.api.routes import Routes
from pressroom.store.operators.figures import LastHour
from pressroom.web import dashboard, workers
from pressroom.web.engines import EngineStatusCache
from pressroom.web.site import PageRequest, Site

type Bar = tuple[str, int, int]


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk", OverviewPage(site).show)
    return routes


class OverviewPage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._cache = dashboard.make_dashboard_cache(site.service)
        self._engines = EngineStatusCache()

    async def show(self, request: PageRequest) -> Response:
        data = await self._cache.get(request.org_id, after="hx-request" in request.http.headers)
        return request.page(
            "overview.html",
            seen=data,
            active=workers.with_display_names(request.caller, data.members, data.active.items),
            workers=workers.worker_rows(request.caller, data.members, ()),
            ended_bars=_ended_bars(data.hour),
            error_bars=_error_bars(data.hour),
            engines=await self._engines.statuses(),
            service_url=self._site.service.address_for(request.http),
            needs_token=request.caller != LOCAL,
        )


def _ended_bars(hour: LastHour) -> list[Bar]:
    return [(f"{minute.at:%H:%M} UTC", minute.ended, minute.errors) for minute in hour.minutes]


def _error_bars(hour: LastHour) -> list[Bar]:
    """On a scale of their own: five among a thousand would not be seen."""
    return [(f"{minute.at:%H:%M} UTC", minute.errors, minute.errors) for minute in hour.minutes]
