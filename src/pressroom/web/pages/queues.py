"""The kinds of jobs: how much of each waits and runs, how its last hour went; and the levers to pause it or to limit it."""

from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.problems import HttpError
from pressroom.api.routes import Routes
from pressroom.queue import MOST_SLOTS
from pressroom.store.operators import figures
from pressroom.store.operators.figures import KindState, MinuteEndings
from pressroom.store.operators.overview import Waiting
from pressroom.web import dashboard
from pressroom.web.dashboard import DashboardData
from pressroom.web.site import PageRequest, Site, page_error


@dataclass(frozen=True)
class QueueRow:
    kind: KindState
    waiting: list[Waiting]
    running: int
    hour: MinuteEndings

    @property
    def queued(self) -> int:
        return sum(tier.queued for tier in self.waiting)

    @property
    def ready(self) -> int:
        return sum(tier.ready for tier in self.waiting)


def router(site: Site) -> Routes:
    routes = Routes()
    pages = QueuePages(site)
    site.get(routes, "/desk/queues", pages.show)
    site.post(routes, "/desk/queues/pause", pages.pause, needs=Scope.OPERATOR)
    site.post(routes, "/desk/queues/resume", pages.resume, needs=Scope.OPERATOR)
    site.post(routes, "/desk/queues/scale", pages.scale, needs=Scope.OPERATOR)
    return routes


class QueuePages:
    def __init__(self, site: Site) -> None:
        self._queue = site.service.queue
        self._database = site.service.rendering.database
        self._cache = dashboard.make_dashboard_cache(site.service)

    async def show(self, request: PageRequest) -> Response:
        data = await self._cache.get(request.org_id, after="hx-request" in request.http.headers)
        kinds = await self._database.read(figures.kinds)
        may_change = request.may(Scope.OPERATOR) and request.caller.everywhere
        return request.page("queues.html", seen=data, lines=_queue_rows(data, kinds), may_change=may_change, most=MOST_SLOTS)

    async def pause(self, request: PageRequest) -> Response:
        kind = await self._requested_kind(request)
        await self._queue.pause(kind.name)
        await request.record_audit("queue.pause", kind.name, before={"paused": kind.paused}, after={"paused": True})
        return request.redirect("/desk/queues", f"{kind.name} is paused. What runs goes on, and what is submitted waits.")

    async def resume(self, request: PageRequest) -> Response:
        kind = await self._requested_kind(request)
        await self._queue.resume(kind.name)
        await request.record_audit("queue.resume", kind.name, before={"paused": kind.paused}, after={"paused": False})
        return request.redirect("/desk/queues", f"{kind.name} resumed.")

    async def scale(self, request: PageRequest) -> Response:
        kind = await self._requested_kind(request)
        slots = _parse_slots(request.form.get("slots"))
        await self._queue.scale(kind.name, slots)
        await request.record_audit("queue.scale", kind.name, before={"slots": kind.slots}, after={"slots": slots})
        limit = "without a limit" if slots is None else f"with at most {slots:,} at once, in all processes together"
        return request.redirect("/desk/queues", f"{kind.name} runs {limit}.")

    async def _requested_kind(self, request: PageRequest) -> KindState:
        """A kind serves all organisations: a caller of one must not stop it for the others."""
        if not request.caller.everywhere:
            message = "a kind is of all organisations; to change it you need a token made with --all-orgs"
            raise HttpError(403, "forbidden", message)
        name = request.form.get("kind")
        return await self._database.read(partial(figures.kind, name))


def _queue_rows(data: DashboardData, kinds: list[KindState]) -> list[QueueRow]:
    return [
        QueueRow(
            kind,
            [tier for tier in data.backlog.items if tier.kind == kind.name],
            data.running.get(kind.name, 0),
            data.hour.kinds.get(kind.name) or MinuteEndings(),
        )
        for kind in kinds
    ]


def _parse_slots(given: str) -> int | None:
    """Nothing is no limit."""
    text = given.strip()
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MOST_SLOTS:
        return int(text)
    raise page_error(
        f"slots is a whole number from 1 to {MOST_SLOTS:,}, or empty for no limit; to let none of a kind start, pause it"
    )
