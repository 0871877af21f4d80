"""Every job that may start becomes an oban job in the transaction that lets it start (Q1, Q3, D26)."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pressroom import Backoff, Kind, OnKey, Request, Schedule, Status, Tier, Transient
from pressroom.worker.maintenance import FOLLOWER_ROUNDS
from tests.delivery.oban.conftest import Eventually, Open, in_both_schemas
from tests.delivery.oban.stage import PERFORM, YEARLY, Tables, reconciler_of, serving
from tests.journeys.stage import Gate


async def echo(job: Any, payload: Any) -> Any:
    return payload


@in_both_schemas
async def test_an_oban_job_carries_the_uid_and_the_row_names_it(open_press: Open, tables: Tables) -> None:
    """Q3: `delivery_ref` is oban's id. Tiers are queues and priorities."""
    async with open_press(Kind("echo", echo), workers=None) as press:
        slow = await press.submit("echo", 1)
        quick = await press.submit("echo", 2, tier=Tier.INTERACTIVE)

        assert (await press.get(slow)).delivery_ref == str(tables.of(slow.uid)["id"])
        of = {uid: tables.of(uid) for uid in (slow.uid, quick.uid)}
        assert of[slow.uid]["args"] == {"uid": slow.uid, "tier": 1}
        assert (of[slow.uid]["queue"], of[slow.uid]["priority"]) == ("pressroom-echo-background", 1)
        assert (of[quick.uid]["queue"], of[quick.uid]["priority"]) == ("pressroom-echo", 0)
        assert {row["worker"] for row in of.values()} == {PERFORM}
        assert tables.states() == ["available", "available"]


async def test_it_is_there_with_the_commit_and_not_before(open_press: Open, tables: Tables) -> None:
    """D26: a submit within a transaction of the application's is its business until it commits."""
    async with open_press(Kind("echo", echo), workers=None) as press:
        async with press.transaction() as tx:
            await press.submit("echo", 1, within=tx)
            await press.submit_many([Request("echo", n) for n in range(3)], within=tx)
            assert tables.jobs() == []
        assert len(tables.jobs()) == 4


async def test_a_rollback_leaves_no_oban_job(open_press: Open, tables: Tables) -> None:
    async with open_press(Kind("echo", echo), workers=None) as press:
        old = await press.submit("echo", 0)
        await press.cancel(old)
        before = len(tables.jobs())
        with pytest.raises(ZeroDivisionError):  # noqa: PT012
            async with press.transaction() as tx:
                await press.submit("echo", 1, within=tx)
                await press.submit_many([Request("echo", n) for n in range(3)], within=tx)
                await press.retry(old, within=tx)
                raise ZeroDivisionError
        assert len(tables.jobs()) == before


async def test_many_retries_and_ticks_are_enlisted_too(open_press: Open, tables: Tables) -> None:
    tick = Schedule("yearly", YEARLY, "echo")
    async with open_press(Kind("echo", echo), workers=None, schedules=[tick]) as press:
        answers = await press.submit_many([Request("echo", n) for n in range(50)])
        assert {row["args"]["uid"] for row in tables.jobs()} == {one.uid for one in answers}

        await press.cancel(answers[0])
        again = await press.retry(answers[0])
        assert tables.of(again.uid)["state"] == "available"

        async with open_press(Kind("echo", echo), apps=(), only=["render"], schedules=[tick]) as other:
            async with other.transaction() as tx:
                moment = int((datetime.now(UTC) - timedelta(days=370)).timestamp() * 1000)
                await tx.execute("UPDATE schedule SET last_tick = :last", {"last": moment})
            await other.maintenance.fire_schedules()
        assert len([row for row in tables.jobs() if row["worker"] == PERFORM]) == 52


async def test_a_job_of_the_future_is_scheduled_in_oban(open_press: Open, tables: Tables) -> None:
    async with open_press(Kind("echo", echo), workers=None) as press:
        job = await press.submit("echo", 1, delay=3600)
        known = tables.of(job.uid)
        assert known["state"] == "scheduled"
        assert known["scheduled_at"] > datetime.now(UTC).replace(tzinfo=None) + timedelta(minutes=50)


async def test_a_job_behind_its_key_is_enlisted_when_its_turn_comes(open_press: Open, tables: Tables) -> None:
    gate = Gate()
    kind = Kind("step", lambda job, payload: gate.hold(), on_key=OnKey.LINE_UP)
    async with open_press(kind) as press:
        first = await press.submit("step", 1, key="door")
        second = await press.submit("step", 2, key="door")
        assert tables.of(second.uid)["id"] is None
        gate.open()
        await press.wait(first, timeout=60)
        await press.wait(second, timeout=60)
        assert tables.of(second.uid)["id"] is not None


async def test_a_kind_with_a_worker_of_its_own_is_not_obans_business(open_press: Open, tables: Tables) -> None:
    """As webhooks: neither when they are submitted, nor when they get more urgent, nor with those that oban forgot."""
    async with open_press(Kind("echo", echo), Kind("own", echo, uses_delivery=False)) as press:
        await press.submit("own")
        await asyncio.to_thread(tables.do, "UPDATE pressroom.job SET tier = 0 WHERE tier > 0")
        await reconciler_of(press)
        for _ in range(FOLLOWER_ROUNDS):
            await press.maintenance.announce_again()
        assert tables.jobs() == []
        assert not press.webhooks.kind.uses_delivery


@in_both_schemas
async def test_a_retry_is_a_snooze_for_the_policys_time(open_press: Open, tables: Tables, eventually: Eventually) -> None:
    """Q33, D30: oban's own attempts are not used up, and its default backoff (gotcha 10: 15 s and more) is never asked."""

    async def flaky(job: Any, payload: Any) -> int:
        if job.attempt == 1:
            raise Transient("not yet")
        return int(job.attempt)

    kinds = [
        Kind("soon", flaky, backoff=Backoff(0.05, jitter=0)),
        Kind("late", flaky, backoff=Backoff(600.0, cap=600.0, jitter=0)),
    ]
    async with open_press(*kinds) as press:
        late = await press.submit("late")
        soon = await press.submit("soon")
        assert await press.wait(soon, timeout=60) == 2
        await eventually(lambda: tables.of(soon.uid)["state"] == "completed")
        await eventually(lambda: tables.of(late.uid)["state"] == "scheduled")

        assert tables.of(soon.uid)["attempt"] == 1
        known = tables.of(late.uid)
        assert (known["attempt"], known["errors"], known["meta"]["snoozed"]) == (0, [], 1)
        (due,) = tables.do(
            "SELECT timezone('UTC', to_timestamp(run_at / 1000.0)) AS at FROM pressroom.job WHERE uid = %s", late.uid
        )
        assert abs((known["scheduled_at"] - due["at"]).total_seconds()) < 120


async def test_the_status_is_never_asked_of_oban(open_press: Open, tables: Tables) -> None:
    """Q1: it carries the news. With its table out of reach everything that is known stays known."""
    async with open_press(Kind("echo", echo)) as press:
        done = await press.submit("echo", 1)
        await press.wait(done, timeout=60)
    async with open_press(Kind("echo", echo), workers=None) as press:
        waiting = await press.submit("echo", 2)
        tables.do("ALTER TABLE public.oban_jobs RENAME TO out_of_reach")
        assert (await press.get(done)).status is Status.COMPLETED
        assert await press.wait(done, timeout=60) == 1
        assert [job.uid for job in (await press.list(status=Status.QUEUED)).jobs] == [waiting.uid]
        assert (await press.cancel(waiting)).status is Status.CANCELLED


@in_both_schemas
async def test_ticks_come_through_obans_scheduler_once_for_two_nodes(
    open_press: Open, tables: Tables, eventually: Eventually
) -> None:
    """I22, Q34: both nodes are made to evaluate the same minute, as two leaders would for a moment."""
    tick = Schedule("yearly", YEARLY, "echo")
    async with open_press(Kind("echo", echo), schedules=[tick]) as one, open_press(Kind("echo", echo), schedules=[tick]) as two:
        nodes = [await serving(press) for press in (one, two)]
        for press in (one, two):
            await press.maintenance.stop()
        async with one.transaction() as tx:
            moment = int((datetime.now(UTC) - timedelta(days=370)).timestamp() * 1000)
            await tx.execute("UPDATE schedule SET last_tick = :last", {"last": moment})

        await asyncio.gather(*(node._scheduler._evaluate(datetime(2030, 1, 1, tzinfo=UTC)) for node in nodes))

        await eventually(lambda: [row["state"] for row in tables.jobs() if "Tick" in row["worker"]] == ["completed"] * 2)
        assert len((await one.list(kind="echo")).jobs) == 1


async def test_a_minute_brings_one_tick_however_many_schedules_name_it(open_press: Open, tables: Tables) -> None:
    schedules = [Schedule("daily", "30 4 * * *", "echo"), Schedule("also", "*/30 4 * * *", "echo")]
    async with open_press(Kind("echo", echo), schedules=schedules) as press:
        node = await serving(press)
        await node._scheduler._evaluate(datetime(2030, 1, 1, 4, 29, tzinfo=UTC))
        assert tables.jobs() == []
        await node._scheduler._evaluate(datetime(2030, 1, 1, 4, 30, tzinfo=UTC))
        assert len(tables.jobs()) == 1


@pytest.mark.parametrize("cron", ["0 4 L * *", "0 4 * * mon", "0 4 * * 1#2", "0 4 13 * fri"])
async def test_a_cron_that_oban_does_not_read_is_fired_by_our_chore(open_press: Open, cron: str) -> None:
    async with open_press(Kind("echo", echo), schedules=[Schedule("odd", cron, "echo")]) as press:
        assert not press._delivery.fires_schedules
        assert (await serving(press))._scheduler._entries == []
        async with press.transaction() as tx:
            moment = int((datetime.now(UTC) - timedelta(days=62)).timestamp() * 1000)
            await tx.execute("UPDATE schedule SET last_tick = :last", {"last": moment})
        await press.maintenance.fire_schedules()
        assert len((await press.list(kind="echo")).jobs) == 1
