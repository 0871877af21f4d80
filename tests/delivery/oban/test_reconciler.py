"""Whatever happens to oban's rows, jobs wait and none is lost (design 5, section 7)."""

import asyncio
from typing import Any

import pytest

from pressroom import Kind, Request, Status
from pressroom.delivery.oban import reconciler, uninstall
from tests.delivery.oban.conftest import Eventually, Open, in_both_schemas
from tests.delivery.oban.stage import PERFORM, Tables, client, pause, reconciler_of, serving
from tests.journeys.stage import Gate

UNKNOWN_TO_OBAN = {
    "deleted": "DELETE FROM public.oban_jobs",
    "discarded": "UPDATE public.oban_jobs SET state = 'discarded', discarded_at = timezone('UTC', now())",
    "completed behind our back": "UPDATE public.oban_jobs SET state = 'completed', completed_at = timezone('UTC', now())",
    "in the hands of a node that is gone": "UPDATE public.oban_jobs SET state = 'executing', attempt = 1,"
    " attempted_at = timezone('UTC', now()), attempted_by = ARRAY['nobody', 'x']",
    "never inserted": "UPDATE pressroom.job SET delivery_ref = NULL; TRUNCATE public.oban_jobs",
    "somebody else's by now": "TRUNCATE public.oban_jobs RESTART IDENTITY;"
    " INSERT INTO public.oban_jobs (queue, worker) SELECT 'mail', 'theirs' FROM generate_series(1, 100)",
}


async def echo(job: Any, payload: Any) -> Any:
    return payload


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressroom.worker.maintenance.ANNOUNCE_INTERVAL", 0.1)
    monkeypatch.setattr(reconciler, "TIDY_EVERY", 0.1)


@pytest.mark.parametrize("what", UNKNOWN_TO_OBAN)
async def test_a_job_that_oban_does_not_know_is_enlisted_again(open_press: Open, tables: Tables, what: str) -> None:
    async with open_press(Kind("echo", echo), workers=None) as front:
        answers = await front.submit_many([Request("echo", n) for n in range(10)])
        tables.do(UNKNOWN_TO_OBAN[what])
        async with open_press(Kind("echo", echo)) as press:
            assert [await press.wait(one, timeout=60) for one in answers] == list(range(10))
            assert {tables.of(one.uid)["args"]["uid"] for one in answers} == {one.uid for one in answers}


@pytest.mark.parametrize("what", ["deleted", "completed behind our back"])
async def test_so_is_one_whose_time_has_come(open_press: Open, tables: Tables, what: str) -> None:
    """By the database's clock: that of this process may be wrong."""
    async with open_press(Kind("echo", echo), workers=None) as front:
        later = await front.submit("echo", "later", delay=3600)
        tables.do(UNKNOWN_TO_OBAN[what])
        async with open_press(Kind("echo", echo)) as press:
            found = await reconciler_of(press)
            assert await found.enqueue_unannounced_jobs(["echo"]) == 0  # its time has not come
            tables.do("ALTER TABLE pressroom.job DISABLE TRIGGER oban_enlist_again")
            tables.do("UPDATE pressroom.job SET run_at = run_at - 3700 * 1000")
            assert await press.wait(later, timeout=60) == "later"


async def test_what_oban_knows_is_left_alone(open_press: Open, tables: Tables) -> None:
    async with open_press(Kind("echo", echo), Kind("other", echo)) as press:
        await pause(press, "echo")
        await press.submit_many([Request("echo", n) for n in range(5)])
        before = [row["id"] for row in tables.jobs()]
        assert await (await reconciler_of(press)).enqueue_unannounced_jobs(["echo", "other"]) == 0
        assert [row["id"] for row in tables.jobs()] == before


async def test_two_that_repair_at_once_enlist_each_job_once(open_press: Open, tables: Tables) -> None:
    async with open_press(Kind("echo", echo)) as one, open_press(Kind("echo", echo)) as two:
        both = [await reconciler_of(press) for press in (one, two)]
        await pause(one, "echo")
        await pause(two, "echo")
        await one.submit_many([Request("echo", n) for n in range(300)])
        tables.do("DELETE FROM public.oban_jobs")
        await asyncio.gather(*(found.enqueue_unannounced_jobs(["echo"]) for found in both * 3))
        uids = [row["args"]["uid"] for row in tables.jobs()]
        assert len(uids) == len(set(uids)) == 300


@in_both_schemas
async def test_a_table_that_was_emptied_is_soon_full_again(
    open_press: Open, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a page on each beat: page after page, for as long as something is missing."""
    monkeypatch.setattr(reconciler, "PAGE", 10)
    async with open_press(Kind("echo", echo), Kind("other", echo)) as press:
        found = await reconciler_of(press)
        await press.maintenance.stop()
        for kind in ("echo", "other"):
            await pause(press, kind)
            await press.submit_many([Request(kind, n, tier=n % 2) for n in range(45)])
        await asyncio.to_thread(tables.do, "TRUNCATE public.oban_jobs")
        assert await found.enqueue_unannounced_jobs(["echo", "other"]) == 90
        assert len(tables.jobs()) == 90


async def test_emptying_the_table_under_load_loses_nothing(open_press: Open, tables: Tables) -> None:
    """Section 7: oban's rows may be lost at any time."""
    ran: list[int] = []

    async def note(job: Any, n: int) -> None:
        ran.append(n)
        await asyncio.sleep(0)

    async with open_press(Kind("note", note)) as one, open_press(Kind("note", note)) as two:
        await serving(one), await serving(two)
        answers = []
        for batch in range(5):
            answers += await one.submit_many([Request("note", batch * 40 + n) for n in range(40)])
            await asyncio.to_thread(tables.do, "TRUNCATE public.oban_jobs RESTART IDENTITY")
        for answer in answers:
            await one.wait(answer, timeout=60)
    assert sorted(ran) == list(range(200))


@pytest.mark.parametrize("delay", [0, 3600])
async def test_a_job_whose_oban_job_was_cancelled_is_cancelled(
    open_press: Open, tables: Tables, eventually: Eventually, on_server: str, delay: float
) -> None:
    """Also long before its time: the cancelled row would be pruned by then, and the job enlisted again."""
    async with open_press(Kind("echo", echo)) as press:
        await pause(press, "echo")
        jobs = [await press.submit("echo", n, delay=delay) for n in range(3)]
        async with client(tables) as oban:
            await oban.cancel_many_jobs([tables.of(job.uid)["id"] for job in jobs[:2]])
        for job in jobs[:2]:
            ended = await press.wait_until_ended(job, timeout=60)
            assert ended.status is Status.CANCELLED
        assert (await press.get(jobs[2])).status is Status.QUEUED


async def test_a_cancel_is_looked_for_once_and_none_is_passed_over(
    open_press: Open, tables: Tables, eventually: Eventually, on_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than a page of them at the same moment; then no more looking at what has been seen to."""
    monkeypatch.setattr(reconciler, "PAGE", 3)
    async with open_press(Kind("echo", echo)) as press:
        found = await reconciler_of(press)
        await pause(press, "echo")
        answers = await press.submit_many([Request("echo", n) for n in range(10)])
        async with client(tables) as oban:
            await oban.cancel_many_jobs([row["id"] for row in tables.jobs()])
        for one in answers:
            assert (await press.wait_until_ended(one, timeout=60)).status is Status.CANCELLED
        await eventually(lambda: found._looked_at is not None)


@in_both_schemas
async def test_rows_left_by_a_node_that_is_gone_are_closed(open_press: Open, tables: Tables, eventually: Eventually) -> None:
    async with open_press(Kind("echo", echo)) as press:
        await serving(press)
        tables.do(
            "INSERT INTO public.oban_jobs (queue, worker, state, attempt, attempted_by, attempted_at)"
            " SELECT 'any', name, 'executing', 1, ARRAY['nobody', 'x'], timezone('UTC', now()) - interval '1 minute'"
            " FROM unnest(%s::text[]) AS name",
            [PERFORM, "pressroom.delivery.oban.workers.Tick", "somebody.else.Entirely"],
        )
        await eventually(lambda: tables.states() == ["completed", "completed", "executing"], within=60)


@in_both_schemas
async def test_only_our_own_rows_are_pruned(open_press: Open, tables: Tables) -> None:
    """Somebody else in the same table may want theirs for longer."""
    async with open_press(Kind("echo", echo)) as press:
        for worker in (PERFORM, "somebody.else.Entirely"):
            for state in ("completed", "cancelled", "discarded"):
                tables.do(
                    f"INSERT INTO public.oban_jobs (queue, worker, state, {state}_at)"
                    f" VALUES ('any', %s, '{state}', timezone('UTC', now()) - interval '2 hours')",
                    worker,
                )
        await (await reconciler_of(press)).prune_oban_jobs()
        assert {row["worker"] for row in tables.jobs()} == {"somebody.else.Entirely"}
        assert len(tables.jobs()) == 3


async def test_a_round_that_fails_is_followed_by_the_next(
    open_press: Open, tables: Tables, eventually: Eventually, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_press(Kind("echo", echo)) as press:
        await serving(press)
        tables.do("ALTER TABLE public.oban_jobs RENAME COLUMN attempted_by TO attempted_by_whom")
        await eventually(lambda: "were not looked after" in caplog.text)
        tables.do("ALTER TABLE public.oban_jobs RENAME COLUMN attempted_by_whom TO attempted_by")
        assert await press.wait(await press.submit("echo", 1), timeout=60) == 1


async def test_jobs_from_before_oban_and_after_it_are_done(
    open_press: Open, tables: Tables, on_server: str, eventually: Eventually
) -> None:
    """The way in, and the way out: `uninstall` leaves a database that embedded delivery goes on with."""
    async with open_press(Kind("echo", echo), workers=None, delivery="embedded") as front:
        before = [await front.submit("echo", n) for n in range(5)]
        async with open_press(Kind("echo", echo)) as press:
            assert [await press.wait(job, timeout=60) for job in before] == list(range(5))
    async with open_press(Kind("echo", echo), workers=None) as front:
        after = [await front.submit("echo", n) for n in range(5)]
    await uninstall(on_server)
    count = len(tables.jobs())
    async with open_press(Kind("echo", echo), delivery="embedded") as press:
        after.append(await press.submit("echo", 5))
        assert [await press.wait(job, timeout=60) for job in after] == list(range(6))
    assert len(tables.jobs()) == count


@pytest.mark.parametrize("node_is", ["busy", "idle"])
async def test_a_rescue_by_somebody_elses_lifeline_runs_nothing_twice(
    open_press: Open, tables: Tables, eventually: Eventually, on_server: str, node_is: str
) -> None:
    """Gotcha 3: another oban in this database rescues whatever is older than five minutes, ours too."""
    gate = Gate()
    kind = Kind("hold", lambda job, payload: gate.hold())
    async with open_press(kind, workers=2 if node_is == "busy" else 4) as press:
        job = await press.submit("hold")
        await eventually(lambda: gate.came)
        tables.do("UPDATE public.oban_jobs SET attempted_at = attempted_at - interval '1 hour'")
        async with client(tables) as oban:
            assert await oban._query.rescue_jobs(300) == 1
        if node_is == "idle":
            await eventually(lambda: tables.of(job.uid)["state"] == "completed")
        gate.open()
        await press.wait(job, timeout=60)
        await eventually(lambda: tables.of(job.uid)["state"] == "completed")
        assert len(gate.came) == 1


async def test_a_round_that_fails_is_counted_and_the_next_one_comes(eventually: Eventually) -> None:
    counted: list[BaseException] = []

    class Away:
        def connection(self) -> Any:
            raise OSError("the server is away")

    away: Any = Away()
    failing = reconciler.Reconciler(away, echo, "public", counted.append)  # type: ignore[arg-type]

    tidying = asyncio.create_task(failing.run("node", list, lambda: False))
    await eventually(lambda: len(counted) >= 2)
    tidying.cancel()

    assert {type(reason) for reason in counted} == {OSError}


CANCEL_ALL = "UPDATE public.oban_jobs SET state = 'cancelled', cancelled_at = timezone('UTC', now()) - interval '2 hours'"


async def test_only_jobs_that_wait_are_cancelled_because_their_oban_job_was(
    open_press: Open, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciler, "TIDY_EVERY", 3600.0)
    asked: list[str] = []

    async def note(uid: str) -> None:
        asked.append(uid)

    async with open_press(Kind("echo", echo)) as press:
        found = await reconciler_of(press)
        await press.wait(await press.submit("echo", 1), timeout=60)
        waiting = await press.submit("echo", 2, delay=3600)
        tables.do(CANCEL_ALL)
        monkeypatch.setattr(found, "_cancel", note)
        await found.end_cancelled_jobs()

    assert asked == [waiting.uid]


async def test_a_look_for_cancelled_jobs_that_found_a_full_page_looks_as_far_back_again(
    open_press: Open, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciler, "TIDY_EVERY", 3600.0)
    monkeypatch.setattr(reconciler, "PAGE", 1)
    async with open_press(Kind("echo", echo)) as press:
        found = await reconciler_of(press)
        jobs = [await press.submit("echo", n, delay=3600) for n in range(2)]
        tables.do(CANCEL_ALL)
        for _ in jobs:
            await found.end_cancelled_jobs()
        assert [(await press.get(job)).status for job in jobs] == ["cancelled", "cancelled"]


async def test_a_cancel_that_was_committed_after_the_last_look_and_began_before_it_is_found(
    open_press: Open, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is dated when its transaction began."""
    monkeypatch.setattr(reconciler, "TIDY_EVERY", 3600.0)
    monkeypatch.setattr(reconciler, "COMMIT_WITHIN", 6 * 3600.0)
    async with open_press(Kind("echo", echo)) as press:
        found = await reconciler_of(press)
        job = await press.submit("echo", 1, delay=3600)
        await found.end_cancelled_jobs()
        tables.do(CANCEL_ALL)
        await found.end_cancelled_jobs()
        assert (await press.get(job)).status == "cancelled"
