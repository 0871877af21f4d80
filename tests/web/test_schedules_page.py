"""The schedules: when each ran and will run, and running one now."""

from datetime import UTC, datetime, timedelta

from pressroom import Schedule
from pressroom.api.access import Scope
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.store.operators import audit
from pressroom.web import crontab
from tests import looking
from tests.service.queue_stage import Floor, floor
from tests.web.browsing import Page, member
from tests.web.test_overview import lines

NIGHTLY = Schedule("nightly", "0 3 * * *", "tidy", {"deep": True}, key="tidy")


async def add(here: Floor, *schedules: Schedule) -> None:
    for schedule in schedules:
        await here.run(schedule_rows.save_schedule(schedule))


async def fire(here: Floor, schedule: Schedule, tick: datetime) -> None:
    await here.run(schedule_rows.fire(schedule, int(tick.timestamp() * 1000), here.press.for_schedule(schedule)))


async def only_row(here: Floor) -> str:
    """As a viewer reads it who has just logged in: no session outlives what tests do to the clock."""
    async with member(here, Scope.VIEWER) as person:
        return lines((await person.get("/desk/schedules")).text)[-1]


async def moment(here: Floor) -> datetime:
    return (await here.overview.backlog()).at


async def test_a_schedule_tells_when_it_ran_and_when_it_runs_next(database: str) -> None:
    async with floor(database) as here:
        await add(here, NIGHTLY)
        before = await only_row(here)
        now = await moment(here)
        tick = crontab.describe_cron(NIGHTLY.cron, now).next
        assert tick is not None
        here.clock.advance(seconds=(tick - now).total_seconds() + 5)
        await fire(here, NIGHTLY, tick)

        row = await only_row(here)

    assert before.startswith("nightly key tidy At 03:00 every day 0 3 * * * tidy ✓ on none yet in ")
    assert "5 s ago ◔ queued" in row
    assert f"{tick + timedelta(days=1):%Y-%m-%d} 03:00:00 UTC" in row
    assert "Run now" not in row


async def test_one_that_nobody_fires_is_overdue(database: str) -> None:
    async with floor(database) as here:
        await add(here, NIGHTLY)
        here.clock.advance(days=2)

        row = await only_row(here)

    assert "✕ overdue No worker that knows this schedule has fired it." in row
    assert "was due" in row


async def test_one_whose_kind_is_paused_says_so(database: str) -> None:
    async with floor(database) as here, member(here, Scope.VIEWER) as person:
        await add(here, NIGHTLY)
        await here.press.pause("tidy")

        assert "❚❚ kind is paused" in lines((await person.get("/desk/schedules")).text)[-1]


async def test_what_became_of_a_tick_is_told_for_as_long_as_it_is_known(database: str) -> None:
    """A tick that was left out has no job, and after a day nobody knows which job it was."""
    async with floor(database) as here:
        await add(here, NIGHTLY)
        now = await moment(here)
        tick = crontab.describe_cron(NIGHTLY.cron, now).next
        assert tick is not None
        here.clock.advance(seconds=(tick - now).total_seconds() + 300)
        await here.run(schedule_rows.skip_to(NIGHTLY, int(tick.timestamp() * 1000)))
        skipped = await only_row(here)
        here.clock.advance(days=2)
        later = await only_row(here)

    assert "5 min ago skipped" in skipped
    assert "2 d ago was due" in later


async def test_an_expression_that_cannot_be_read_breaks_no_page(file: str) -> None:
    odd = ["no cron at all", "0 0 31 2 *", "*" * 5000, "99 * * * *", "", "0 0 * * 1L,x"]
    async with floor(file) as here, member(here, Scope.VIEWER) as person:
        await add(here, NIGHTLY, *(Schedule(f"odd {n}", cron, "tidy") for n, cron in enumerate(odd)))

        page = await person.get("/desk/schedules")

    rows = lines(page.text)[1:]
    assert ["✕ unreadable" in row for row in rows] == [False] + [True] * len(odd)


def test_an_expression_that_hardly_ever_ticks_is_little_work() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)

    assert crontab.describe_cron("0 0 * 2 MON#5", start).next == datetime(2044, 2, 29, tzinfo=UTC)
    assert crontab.describe_cron("0 0 29 2 *", start).words == "At 00:00 on February 29"


async def test_an_operator_runs_one_now(database: str) -> None:
    """Its ticks go on as they were; the audit knows who did it, and which job it became."""
    async with floor(database) as here, member(here, Scope.OPERATOR) as person:
        await add(here, NIGHTLY)
        page = await person.get("/desk/schedules")
        answer = await person.post("/desk/schedules/run", {"name": "nightly"})
        (job,) = (await here.press.list()).jobs
        (deed,) = await here.press._database.read(audit.list_entries)
        payload = looking.rows(database, "SELECT body FROM job_payload")

    assert "/desk/schedules/run" in Page(page.text).addresses
    assert (answer.status_code, answer.headers["location"]) == (303, f"/desk/jobs/job_{job.uid}")
    assert (job.kind, job.key, job.subject) == ("tidy", "tidy", "schedule nightly")
    assert "deep" in str(payload)
    assert (deed.action, deed.target, deed.after) == ("schedule.run", "nightly", {"job": f"job_{job.uid}", "answer": "new"})


async def test_who_may_not_runs_nothing(database: str) -> None:
    """For members of an organisation there are no schedules: these are nobody's."""
    async with (
        floor(database) as here,
        member(here, Scope.SUBMITTER) as submitter,
        member(here, Scope.ADMIN, "acme") as admin,
    ):
        await add(here, NIGHTLY)
        answers = [await one.post("/desk/schedules/run", {"name": "nightly"}) for one in (submitter, admin)]
        unknown = await admin.post("/desk/schedules/run", {"name": "no such"})
        page = await admin.get("/desk/schedules")
        assert (await here.press.list()).jobs == []

    assert [answer.status_code for answer in answers] == [403, 404]
    assert answers[1].text.count("there is no schedule") == unknown.text.count("there is no schedule") == 1
    assert "nightly" not in page.text
    assert "Schedules are not of your organisation." in page.text


async def test_a_schedule_that_is_not_there_is_said_to_be(database: str) -> None:
    async with floor(database) as here, member(here, Scope.OPERATOR) as person:
        await add(here, NIGHTLY)
        for name in ("", "no such", "nightly\0", "x" * 5000):
            answer = await person.post("/desk/schedules/run", {"name": name})
            assert answer.status_code == 404
            assert "there is no schedule" in answer.text


async def test_a_kind_that_this_process_does_not_know_cannot_be_run_from_here(file: str) -> None:
    async with floor(file) as here, member(here, Scope.OPERATOR) as person:
        await add(here, Schedule("strange", "0 3 * * *", "of another process"))
        page = await person.get("/desk/schedules")
        answer = await person.post("/desk/schedules/run", {"name": "strange"})
        done = await here.press._database.read(audit.list_entries)

    assert "This process does not know the kind" in page.text
    assert answer.status_code == 422
    assert done == []


async def test_without_schedules_the_page_explains_what_one_is(file: str) -> None:
    async with floor(file) as here, member(here, Scope.VIEWER) as person:
        assert "There are no schedules." in (await person.get("/desk/schedules")).text
