"""What is submitted by the clock: when it ran last, when it runs next, and a way to run it now."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.api.submitting import require_repeat
from pressroom.store.operators import dashboard
from pressroom.store.operators.dashboard import SCHEDULES, ScheduleState
from pressroom.web import crontab
from pressroom.web.crontab import Reading
from pressroom.web.desk import Desk, Visit

LATE = timedelta(minutes=1)  # a tick that nobody fired by then was missed
KEPT = timedelta(days=1)  # for so long it is known which job a tick submitted


@dataclass(frozen=True)
class Line:
    schedule: ScheduleState
    reading: Reading
    now: datetime

    @property
    def state(self) -> str:
        if self.reading.trouble:
            return "unreadable"
        if self.reading.next is None:
            return "never"
        if self.reading.next < self.now - LATE:
            return "overdue"
        return "paused" if self.schedule.paused else "on"

    @property
    def last(self) -> str:
        """What is known of the last tick: its job, that it was left out, that it ran some time ago, or that there was none."""
        if self.schedule.ran_at is not None and self.schedule.ran_at >= self.schedule.last_tick:
            return "job"
        if not self.reading.is_tick:
            return "none" if self.schedule.ran_at is None else "job"
        return "skipped" if self.now - self.schedule.last_tick < KEPT else "long ago"


def router(desk: Desk) -> Routes:
    routes = Routes()
    queue, database = desk.service.queue, desk.service.rendering.database

    async def show(visit: Visit) -> Response:
        is_for_them = visit.caller.owns(None)
        now, found = await database.read(dashboard.schedules)
        lines = [Line(one, crontab.read(one.cron, one.last_tick), now) for one in found] if is_for_them else []
        return visit.page(
            "schedules.html",
            lines=lines,
            is_for_them=is_for_them,
            may_run=visit.may(Scope.OPERATOR),
            known=queue.kinds,
            capped=len(lines) == SCHEDULES,
        )

    async def run(visit: Visit) -> Response:
        name = visit.form.get("name")
        if not visit.caller.owns(None):
            raise dashboard.no_schedule(name)
        schedule = await database.read(partial(dashboard.schedule, name))
        require_repeat(visit.caller, queue.kinds, schedule.kind)
        async with queue.transaction() as transaction:
            job = await queue.submit(
                schedule.kind, schedule.payload, key=schedule.key, subject=f"schedule {schedule.name}", within=transaction
            )
            after = {"job": f"job_{job.uid}", "answer": job.answer}
            await transaction.run(lambda: visit.deed("schedule.run", schedule.name, after=after), name="audit")
        return visit.go(f"/desk/jobs/job_{job.uid}", f"{schedule.name} was submitted outside its schedule.")

    desk.get(routes, "/desk/schedules", show)
    desk.post(routes, "/desk/schedules/run", run, needs=Scope.OPERATOR)
    return routes
