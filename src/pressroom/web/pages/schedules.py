"""What is submitted by the clock: when it ran last, when it runs next, and a way to run it now."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.api.submitting import require_repeat
from pressroom.store.operators import figures
from pressroom.store.operators.figures import SCHEDULES, ScheduleState
from pressroom.web import crontab
from pressroom.web.crontab import CronDescription
from pressroom.web.site import PageRequest, Site

OVERDUE_AFTER = timedelta(minutes=1)  # a tick that has not fired by then was missed
TICK_HISTORY = timedelta(days=1)  # for so long it is known which job a tick submitted


@dataclass(frozen=True)
class ScheduleRow:
    schedule: ScheduleState
    reading: CronDescription
    now: datetime

    @property
    def state(self) -> str:
        if self.reading.error:
            return "unreadable"
        if self.reading.next is None:
            return "never"
        if self.reading.next < self.now - OVERDUE_AFTER:
            return "overdue"
        return "paused" if self.schedule.paused else "on"

    @property
    def last(self) -> str:
        """What is known of the last tick: its job, that it was left out, that it ran some time ago, or that there was none."""
        if self.schedule.ran_at is not None and self.schedule.ran_at >= self.schedule.last_tick:
            return "job"
        if not self.reading.is_tick:
            return "none" if self.schedule.ran_at is None else "job"
        return "skipped" if self.now - self.schedule.last_tick < TICK_HISTORY else "long ago"


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/schedules", show)
    site.post(routes, "/desk/schedules/run", run, needs=Scope.OPERATOR)
    return routes


async def show(request: PageRequest) -> Response:
    is_for_them = request.caller.owns(None)
    now, found = await request.read(figures.schedules)
    lines = [ScheduleRow(one, crontab.describe_cron(one.cron, one.last_tick), now) for one in found] if is_for_them else []
    return request.page(
        "schedules.html",
        lines=lines,
        is_for_them=is_for_them,
        may_run=request.may(Scope.OPERATOR),
        known=request.site.service.queue.kinds,
        capped=len(lines) == SCHEDULES,
    )


async def run(request: PageRequest) -> Response:
    name = request.form.get("name")
    if not request.caller.owns(None):
        raise figures.schedule_not_found(name)
    schedule = await request.read(partial(figures.schedule, name))
    queue = request.site.service.queue
    require_repeat(request.caller, queue.kinds, schedule.kind)
    async with queue.transaction() as transaction:
        job = await queue.submit(
            schedule.kind, schedule.payload, key=schedule.key, subject=f"schedule {schedule.name}", within=transaction
        )
        after = {"job": f"job_{job.uid}", "answer": job.answer}
        await transaction.run(lambda: request.audit_entry("schedule.run", schedule.name, after=after), name="audit")
    return request.redirect(f"/desk/jobs/job_{job.uid}", f"{schedule.name} was submitted outside its schedule.")
