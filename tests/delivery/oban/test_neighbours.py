"""Oban's own tools on our rows, and other people's obans in the same database and the same process."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from oban import Cancel, Snooze
from oban._scheduler import clear_scheduled, register_scheduled, scheduled_entries
from oban.job import Job

from pressroom import Kind, Schedule, Status
from pressroom.delivery.oban.workers import Perform
from tests import postgres
from tests.delivery.oban.conftest import Eventually, Open, in_both_schemas
from tests.delivery.oban.stage import PERFORM, YEARLY, Mail, Tables, client, serving
from tests.journeys.stage import Gate


async def echo(job: Any, payload: Any) -> Any:
    return payload


async def test_a_queue_that_oban_paused_keeps_its_jobs_until_it_is_resumed(
    open_press: Open, tables: Tables, eventually: Eventually, on_server: str
) -> None:
    queue = "pressroom-echo-background"
    async with open_press(Kind("echo", echo), Kind("other", echo)) as press, client(tables) as oban:
        node = await serving(press)
        await oban.pause_queue(queue)
        await eventually(lambda: node._producers[queue]._paused)
        job = await press.submit("echo", 1)
        assert await press.wait(await press.submit("other", 2), timeout=60) == 2
        assert (await press.get(job)).status is Status.QUEUED
        await oban.resume_queue(queue)
        assert await press.wait(job, timeout=60) == 1


async def test_a_queue_is_scaled_and_looked_at(
    open_press: Open, tables: Tables, eventually: Eventually, on_server: str
) -> None:
    gate = Gate()
    queue = "pressroom-hold-background"
    async with open_press(Kind("hold", lambda job, payload: gate.hold()), workers=8) as press, client(tables) as oban:
        node = await serving(press)
        await oban.scale_queue(queue=queue, limit=1)
        await eventually(lambda: node._producers[queue]._limit == 1)
        jobs = [await press.submit("hold") for _ in range(3)]
        await eventually(lambda: gate.came)
        info = node.check_queue(queue)
        assert info is not None
        assert (info.limit, info.running) == (1, [tables.of(jobs[0].uid)["id"]])
        assert tables.states().count("available") == 2
        await oban.scale_queue(queue=queue, limit=8)
        await eventually(lambda: len(gate.came) == 3)
        gate.open()
        for job in jobs:
            await press.wait(job, timeout=60)


@in_both_schemas
async def test_a_running_job_is_cancelled_with_obans_tools(
    open_press: Open, tables: Tables, eventually: Eventually, on_server: str
) -> None:
    """Gotcha 5: oban only sends word, and a body that does not ask runs on. Ours is stopped."""
    gate = Gate()
    async with open_press(Kind("hold", lambda job, payload: gate.hold())) as press, client(tables) as oban:
        job = await press.submit("hold")
        await eventually(lambda: gate.came)
        await oban.cancel_job(tables.of(job.uid)["id"])
        assert (await press.wait_until_ended(job, timeout=60)).status is Status.CANCELLED
        await eventually(lambda: "executing" not in tables.states())


async def test_a_completed_job_that_oban_retries_is_not_run_again(
    open_press: Open, tables: Tables, eventually: Eventually, on_server: str
) -> None:
    """An ended job stays ended; another try is another job."""
    async with open_press(Kind("echo", echo)) as press, client(tables) as oban:
        job = await press.submit("echo", 1)
        await press.wait(job, timeout=60)
        await eventually(lambda: tables.of(job.uid)["state"] == "completed")
        await oban.retry_job(tables.of(job.uid)["id"])
        await eventually(lambda: tables.of(job.uid)["state"] == "completed" and tables.of(job.uid)["attempt"] == 2)
        assert [event.type for event in await press.history(job)].count("in_progress") <= 1
        assert (await press.get(job)).status is Status.COMPLETED


async def test_a_queue_that_somebody_starts_everywhere_is_not_ours_to_serve(
    open_press: Open, tables: Tables, eventually: Eventually, on_server: str
) -> None:
    async with open_press(Kind("echo", echo)) as press, client(tables, leadership=False) as oban:
        node = await serving(press)
        await oban.start_queue(queue="mail", limit=3)
        await oban.scale_queue(queue="pressroom-echo", limit=3)
        await eventually(lambda: node._producers["pressroom-echo"]._limit == 3)
        assert "mail" not in node._producers


@pytest.mark.parametrize("ours", [False, True], ids=["alone", "beside ours"])
async def test_an_oban_beside_ours_works_as_it_does_alone(
    open_press: Open, tables: Tables, eventually: Eventually, on_server: str, ours: bool
) -> None:
    """In the same process, with our hooks installed: results, errors, snoozes, cancels and the fence mean what they meant."""
    async with open_press(Kind("echo", echo), workers=2 if ours else None) as press:
        if ours:
            await serving(press)
        async with client(tables, queues={"mail": 5}, node="theirs") as oban:
            sent = {}
            for what in ("nothing", "record", "snooze", "cancel", "fail", "hold"):
                sent[what] = await oban.enqueue(Mail.new({"do": what}))

            def row(what: str) -> dict[str, Any]:
                (found,) = tables.do("SELECT * FROM public.oban_jobs WHERE id = %s", sent[what].id)
                return found

            await eventually(lambda: row("hold")["state"] == "executing")
            await oban.cancel_job(sent["hold"])
            await eventually(lambda: not {"executing", "available"} & {row(what)["state"] for what in sent})

            states = ["completed", "completed", "scheduled", "cancelled", "retryable", "cancelled"]
            assert [row(what)["state"] for what in sent] == states
            assert row("record")["meta"]["recorded"]
            assert (row("snooze")["attempt"], row("snooze")["meta"]) == (0, {"snoozed": 1, "why": "full"})
            assert "unknown address" in row("cancel")["errors"][0]["error"]
            assert "no route" in row("fail")["errors"][0]["error"]
            assert (row("fail")["scheduled_at"] - row("fail")["attempted_at"]).total_seconds() > 3000

            late = await oban.enqueue(Mail.new({"do": "hold"}))
            sent["late"] = late
            await eventually(lambda: row("late")["state"] == "executing")
            tables.do("UPDATE public.oban_jobs SET attempted_at = attempted_at - interval '1 s' WHERE id = %s", late.id)
            await oban.cancel_job(late)
            producer = oban._producers["mail"]
            await eventually(lambda: not producer._running_jobs and not producer._pending_acks)
            assert row("late")["state"] == "executing"
        if ours:
            assert await press.wait(await press.submit("echo", 1), timeout=60) == 1


async def test_a_job_of_ours_that_another_program_has_fetched_is_put_back() -> None:
    """`oban start --queues pressroom-echo` cancelled the rows that it fetched, and with them our jobs.

    The command itself is run in tests/apps/docs/judges/test_oban_tools.py.
    """
    snoozed = await Perform().process(Job(worker=PERFORM, args={"uid": "01K", "tier": 1}))
    cancelled = await Perform().process(Job(worker=PERFORM, args={}))

    assert (type(snoozed), type(cancelled)) == (Snooze, Cancel)


async def test_our_ticks_are_not_theirs_nor_theirs_ours(open_press: Open, tables: Tables, on_server: str) -> None:
    """Oban's list of crons is the whole process's: every instance in it would insert everybody's."""
    known = scheduled_entries()
    clear_scheduled()
    register_scheduled(YEARLY, Mail)
    try:
        schedule = Schedule("yearly", YEARLY, "echo")
        async with open_press(Kind("echo", echo), schedules=[schedule]) as press, client(tables, queues={"idle": 1}) as oban:
            minute = datetime(2030, 1, 1, tzinfo=UTC)
            await (await serving(press))._scheduler._evaluate(minute)
            await oban._scheduler._evaluate(minute)
            workers = sorted(row["worker"].rpartition(".")[2] for row in tables.jobs())
            assert workers == ["Mail", "Tick"]
    finally:
        clear_scheduled()
        for entry in known:
            register_scheduled(entry.expression.input, entry.worker_cls)


async def test_two_pressrooms_of_one_process_serve_two_databases(
    open_press: Open, tables: Tables, postgres_server: str
) -> None:
    second = postgres.new_database(postgres_server)
    try:
        here = Kind("echo", lambda job, payload: _say("here"))
        there = Kind("echo", lambda job, payload: _say("there"))
        async with open_press(here) as one, open_press(there, database=second) as two:
            answers = await asyncio.gather(*(press.submit("echo") for press in (one, two)))
            assert await one.wait(answers[0], timeout=60) == "here"
            assert await two.wait(answers[1], timeout=60) == "there"
    finally:
        postgres.drop_database(second)


async def _say(where: str) -> str:
    return where
