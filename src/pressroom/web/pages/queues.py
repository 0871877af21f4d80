"""The kinds of jobs: how much of each waits and runs, how its last hour went; and the levers to pause it or to limit it."""

from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.problems import HttpError
from pressroom.api.routes import Routes
from pressroom.queue import MOST_SLOTS
from pressroom.store.operators import dashboard
from pressroom.store.operators.dashboard import KindState, MinuteEndings
from pressroom.store.operators.overview import Waiting
from pressroom.web import glance
from pressroom.web.desk import Desk, Visit, refuse
from pressroom.web.glance import Glance


@dataclass(frozen=True)
class Line:
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


def router(desk: Desk) -> Routes:
    routes = Routes()
    queue, database = desk.service.queue, desk.service.rendering.database
    glances = glance.glances(desk.service)

    async def show(visit: Visit) -> Response:
        seen = await glances.at(visit.org_id, after="hx-request" in visit.request.headers)
        kinds = await database.read(dashboard.kinds)
        may_change = visit.may(Scope.OPERATOR) and visit.caller.everywhere
        return visit.page("queues.html", seen=seen, lines=_lines(seen, kinds), may_change=may_change, most=MOST_SLOTS)

    async def pause(visit: Visit) -> Response:
        kind = await _named(visit)
        await queue.pause(kind.name)
        await visit.note("queue.pause", kind.name, before={"paused": kind.paused}, after={"paused": True})
        return visit.go("/desk/queues", f"{kind.name} is paused. What runs goes on, and what is submitted waits.")

    async def resume(visit: Visit) -> Response:
        kind = await _named(visit)
        await queue.resume(kind.name)
        await visit.note("queue.resume", kind.name, before={"paused": kind.paused}, after={"paused": False})
        return visit.go("/desk/queues", f"{kind.name} resumed.")

    async def scale(visit: Visit) -> Response:
        kind = await _named(visit)
        slots = _slots(visit.form.get("slots"))
        await queue.scale(kind.name, slots)
        await visit.note("queue.scale", kind.name, before={"slots": kind.slots}, after={"slots": slots})
        said = "without a limit" if slots is None else f"with at most {slots:,} at once, in all processes together"
        return visit.go("/desk/queues", f"{kind.name} runs {said}.")

    async def _named(visit: Visit) -> KindState:
        """A kind is everybody's: who may only see to one organisation must not stop the others."""
        if not visit.caller.everywhere:
            words = "a kind is of all organisations; to change it you need a token made with --all-orgs"
            raise HttpError(403, "forbidden", words)
        name = visit.form.get("kind")
        return await database.read(partial(dashboard.kind, name))

    desk.get(routes, "/desk/queues", show)
    desk.post(routes, "/desk/queues/pause", pause, needs=Scope.OPERATOR)
    desk.post(routes, "/desk/queues/resume", resume, needs=Scope.OPERATOR)
    desk.post(routes, "/desk/queues/scale", scale, needs=Scope.OPERATOR)
    return routes


def _lines(seen: Glance, kinds: list[KindState]) -> list[Line]:
    return [
        Line(
            kind,
            [tier for tier in seen.backlog.items if tier.kind == kind.name],
            seen.running.get(kind.name, 0),
            seen.hour.kinds.get(kind.name) or MinuteEndings(),
        )
        for kind in kinds
    ]


def _slots(given: str) -> int | None:
    """Nothing is no limit."""
    text = given.strip()
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MOST_SLOTS:
        return int(text)
    raise refuse(
        f"slots is a whole number from 1 to {MOST_SLOTS:,}, or empty for no limit; to let none of a kind start, pause it"
    )
