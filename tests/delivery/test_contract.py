"""What every delivery keeps: it may repeat itself and may forget, and still each job runs, in order, once (Q1, design 5)."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pressroom import Backoff, Kind, OnKey, Pressroom, Request, Schedule, Status, Tier, Transient
from pressroom.delivery.redis import Redis
from pressroom.errors import StoreUnavailable
from pressroom.store.jobs import claiming
from pressroom.store.jobs.claiming import FreeSlots
from tests.delivery.conftest import Open
from tests.journeys.stage import Gate

type Eventually = Callable[..., Any]


async def echo(job: Any, payload: Any) -> Any:
    return payload


async def test_a_job_is_delivered_and_its_result_comes_back(open_press: Open) -> None:
    """Q1: the handler is a plain function that knows nothing of how it was called."""
    async with open_press(Kind("echo", echo)) as press:
        job = await press.submit("echo", {"n": 1})
        assert await press.wait(job, timeout=60) == {"n": 1}


async def test_a_kind_is_a_name_like_any_other(open_press: Open) -> None:
    """Q4: the kinds of design 004, text and not an enumeration; `credential_rewrap` came after the others."""
    names = ["build_processing", "edition_update", "dashboard_sync", "lifecycle_eval", "git_ref_audit", "purgatory_cleanup"]
    async with open_press(*(Kind(name, echo) for name in [*names, "credential_rewrap"])) as press:
        jobs = [await press.submit(name, name) for name in [*names, "credential_rewrap"]]
        assert [await press.wait(job, timeout=60) for job in jobs] == [*names, "credential_rewrap"]


async def test_what_one_process_submits_another_does(open_press: Open) -> None:
    """R15: whoever submits need not work, and whoever works need not have submitted."""
    kind = Kind("echo", echo)
    async with open_press(kind, workers=None) as front, open_press(kind):
        answers = await front.submit_many([Request("echo", n) for n in range(20)])
        answers.append(await front.submit("echo", 20))
        assert [await front.wait(one, timeout=60) for one in answers] == list(range(21))


async def test_many_jobs_run_once_each_over_two_workers(open_press: Open) -> None:
    """Q2, I4: one submit is one job, and whoever else was told of it leaves it alone."""
    ran: list[int] = []

    async def note(job: Any, n: int) -> None:
        ran.append(n)

    kind = Kind("note", note)
    async with open_press(kind) as one, open_press(kind):
        answers = await one.submit_many([Request("note", n) for n in range(300)])
        for answer in answers:
            await one.wait(answer, timeout=60)
    assert sorted(ran) == list(range(300))


async def test_interactive_work_goes_first(open_press: Open, eventually: Eventually) -> None:
    order: list[str] = []
    gate = Gate()

    async def note(job: Any, name: str) -> None:
        if name == "first":
            await gate.hold()
        order.append(name)

    async with open_press(Kind("note", note, tier=Tier.BACKGROUND), workers=1) as press:
        first = await press.submit("note", "first")
        await eventually(lambda: gate.came)
        waiting = [await press.submit("note", f"background {n}") for n in range(3)]
        waiting.append(await press.submit("note", "interactive", tier=Tier.INTERACTIVE))
        if isinstance(press._delivery, Redis):
            await press._delivery._all_announced.wait()
        gate.open()
        for job in [first, *waiting]:
            await press.wait(job, timeout=60)
    assert order.index("interactive") < order.index("background 2")
    assert [name for name in order if name.startswith("background")] == [f"background {n}" for n in range(3)]


async def test_background_work_leaves_a_slot_for_somebody_who_waits(open_press: Open, eventually: Eventually) -> None:
    """I13: with every other slot full of background work, an interactive job starts all the same."""
    gate = Gate()

    async def hold(job: Any, name: str) -> str:
        if name == "background":
            await gate.hold()
        return name

    async with open_press(Kind("hold", hold), workers=3) as press:
        flood = await press.submit_many([Request("hold", "background", tier=Tier.BACKGROUND) for _ in range(10)])
        await eventually(lambda: len(gate.came) == 2)
        quick = await press.submit("hold", "interactive", tier=Tier.INTERACTIVE)
        assert await press.wait(quick, timeout=60) == "interactive"
        assert len(gate.came) == 2
        gate.open()
        for job in flood:
            await press.wait(job, timeout=60)


async def test_a_failed_attempt_is_made_again_after_the_policys_time(open_press: Open) -> None:
    """R27, Q33, D18, D30: waiting is a row's time, not a worker's sleep, and the next attempt starts from the beginning."""
    attempts: list[int] = []

    async def flaky(job: Any, payload: Any) -> int:
        attempts.append(job.attempt)
        if job.attempt < 3:
            raise Transient("not yet")
        return job.attempt

    async with open_press(Kind("flaky", flaky, max_attempts=3, backoff=Backoff(0.05)), workers=1) as press:
        job = await press.submit("flaky")
        other = await press.submit("flaky")
        assert await press.wait(job, timeout=60) == 3
        assert await press.wait(other, timeout=60) == 3
        assert (await press.get(job)).failures == 2
    assert sorted(attempts) == [1, 1, 2, 2, 3, 3]


async def test_after_its_last_attempt_a_job_has_failed(open_press: Open) -> None:
    """R29: and nobody delivers it again."""

    async def broken(job: Any, payload: Any) -> None:
        raise Transient("never")

    async with open_press(Kind("broken", broken, max_attempts=2, backoff=Backoff(0.01))) as press:
        job = await press.submit("broken")
        ended = await press.wait_until_ended(job, timeout=60)
        assert (ended.status, len(ended.errors)) == (Status.FAILED, 2)


async def test_a_job_of_the_future_runs_when_its_time_has_come(open_press: Open) -> None:
    async with open_press(Kind("echo", echo)) as press:
        job = await press.submit("echo", "later", delay=0.3)
        assert (await press.get(job)).status is Status.QUEUED
        assert await press.wait(job, timeout=60) == "later"
        done = await press.get(job)
        assert done.date_started is not None
        assert done.date_started - done.date_created >= timedelta(seconds=0.3)


@pytest.mark.parametrize("delay", [0.0, 0.2])
async def test_jobs_of_a_key_run_one_after_the_other(open_press: Open, delay: float) -> None:
    running, most, order = 0, 0, []

    async def step(job: Any, n: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        order.append(n)
        running -= 1

    async with open_press(Kind("step", step, on_key=OnKey.LINE_UP), workers=4) as press:
        line = [await press.submit("step", n, key="door", delay=delay) for n in range(5)]
        for job in line:
            await press.wait(job, timeout=60)
    assert most == 1
    assert order == list(range(5))


async def test_a_newer_payload_takes_the_place_of_a_waiting_one(open_press: Open, eventually: Eventually) -> None:
    gate = Gate()

    async def render(job: Any, text: str) -> str:
        await gate.hold(text)
        return text

    async with open_press(Kind("render", render, on_key=OnKey.COALESCE)) as press:
        first = await press.submit("render", "r1", key="wiki:/Home")
        await eventually(lambda: gate.came)
        second = await press.submit("render", "r2", key="wiki:/Home")
        third = await press.submit("render", "r3", key="wiki:/Home")
        gate.open()
        assert await press.wait(first, timeout=60) == "r1"
        assert await press.wait(second, timeout=60) == "r3"
        assert third.uid == second.uid
        assert gate.came == ["r1", "r3"]


async def test_who_joins_a_waiting_job_and_cannot_wait_pulls_it_forward(open_press: Open, eventually: Eventually) -> None:
    """I12: the job was enlisted among the background ones; it is served among the interactive ones."""
    gate, order = Gate(), []

    async def note(job: Any, name: str) -> None:
        if name == "first":
            await gate.hold()
        order.append(name)

    kind = Kind("note", note, tier=Tier.BACKGROUND, cache_for=timedelta(minutes=1))
    async with open_press(kind, workers=1) as press:
        first = await press.submit("note", "first")
        await eventually(lambda: gate.came)
        line = [await press.submit("note", f"before {n}") for n in range(3)]
        slow = await press.submit("note", "same", fingerprint={"source": "same"})
        joined = await press.submit("note", "same", fingerprint={"source": "same"}, tier=Tier.INTERACTIVE)
        assert joined.uid == slow.uid
        gate.open()
        for job in (first, *line, slow):
            await press.wait(job, timeout=60)
    assert order.index("same") < order.index("before 2")


async def test_a_paused_kind_waits_and_goes_on_when_resumed(open_press: Open, eventually: Eventually) -> None:
    async with (
        open_press(Kind("echo", echo), Kind("other", echo)) as press,
        open_press(Kind("echo", echo), Kind("other", echo)) as second,
    ):
        await second.pause("echo")
        waiting = await press.submit("echo", "paused")
        assert await press.wait(await press.submit("other", "not paused"), timeout=60) == "not paused"
        assert (await press.get(waiting)).status is Status.QUEUED
        await second.resume("echo")
        assert await press.wait(waiting, timeout=60) == "paused"


async def test_a_queued_job_that_is_cancelled_never_runs(open_press: Open) -> None:
    kind = Kind("echo", echo)
    async with open_press(kind, workers=None) as front:
        job = await front.submit("echo", 1)
        await front.cancel(job)
        async with open_press(kind) as press:
            assert await press.wait(await press.submit("echo", 2), timeout=60) == 2
            assert (await press.get(job)).status is Status.CANCELLED
            assert [event.type for event in await press.history(job)] == ["queued", "cancelled"]


async def test_a_running_job_is_cancelled_from_another_process(open_press: Open, eventually: Eventually) -> None:
    gate = Gate()
    kind = Kind("hold", lambda job, payload: gate.hold())
    async with open_press(kind, workers=None) as front, open_press(kind):
        job = await front.submit("hold")
        await eventually(lambda: gate.came)
        await front.cancel(job)
        assert (await front.wait_until_ended(job, timeout=60)).status is Status.CANCELLED


async def test_a_job_whose_worker_died_is_delivered_again(open_press: Open) -> None:
    """D17: nobody has to notice that a message was lost with the worker; the lease is enough."""
    kind = Kind("echo", echo)
    async with open_press(kind, workers=None) as front:
        job = await front.submit("echo", "back again")
        (claim,) = await front._database.run(lambda: claiming.claim("ghost", ["echo"], FreeSlots(1, 1), 1), name="turn")
        assert claim.uid == job.uid
        async with open_press(kind) as press:
            assert await press.wait(job, timeout=60) == "back again"
            assert (await press.get(job)).crashes == 1


async def test_a_claim_whose_answer_was_lost_is_given_back_at_once(
    open_press: Open, monkeypatch: pytest.MonkeyPatch, eventually: Eventually
) -> None:
    """I4: the commit arrived and its answer did not. The job is neither stranded until its lease ends nor charged a crash."""
    async with open_press(Kind("echo", echo), lease=600.0) as press:
        worker = press.worker
        assert worker is not None
        really, lost = worker._turns._settle_and_claim, []

        async def lose_the_first_claim(*asked: Any) -> Any:
            result = await really(*asked)
            if result.claims and not lost:
                lost.append(result)
                raise StoreUnavailable("the connection was cut")
            return result

        monkeypatch.setattr(worker._turns, "_settle_and_claim", lose_the_first_claim)
        await eventually(lambda: not worker._loop.turns_in_flight)  # else one that began before would claim the job
        job = await press.submit("echo", "once more")
        assert await press.wait(job, timeout=60) == "once more"
        told = await press.get(job)
        assert (told.crashes, told.failures) == (0, 0)
        assert [event.type for event in await press.history(job)] == [
            *("queued", "started", "released", "started", "completed"),
        ]


async def test_a_worker_that_stops_leaves_its_job_to_another(open_press: Open, eventually: Eventually) -> None:
    """I24: without charging an attempt."""
    gate, second = Gate(), Gate()

    def kind(where: Gate) -> Kind:
        async def hold(job: Any, payload: Any) -> int:
            await where.hold()
            return int(job.attempt)

        return Kind("hold", hold)

    leaving = open_press(kind(gate))
    await leaving.start()
    job = await leaving.submit("hold")
    await eventually(lambda: gate.came)
    async with open_press(kind(second)) as press:
        with pytest.raises(Exception, match="went back"):
            await leaving.stop(grace=0.05)
        await eventually(lambda: second.came, within=60)
        second.open()
        assert await press.wait(job, timeout=60) == 1


async def test_a_worker_of_some_kinds_leaves_the_others_alone(open_press: Open) -> None:
    kinds = (Kind("mine", echo), Kind("yours", echo))
    async with open_press(*kinds, only=["mine"]) as press:
        yours = [await press.submit("yours", n) for n in range(3)]
        assert await press.wait(await press.submit("mine", "done"), timeout=60) == "done"
        assert {(await press.get(job)).status for job in yours} == {Status.QUEUED}
        async with open_press(*kinds, only=["yours"]):
            assert [await press.wait(job, timeout=60) for job in yours] == [0, 1, 2]


async def test_what_was_rolled_back_is_never_delivered(open_press: Open) -> None:
    """D19, D26: the announcement belongs to the commit."""
    ran: list[str] = []

    async def note(job: Any, name: str) -> None:
        ran.append(name)

    async with open_press(Kind("note", note)) as press:
        with pytest.raises(ZeroDivisionError):  # noqa: PT012
            async with press.transaction() as tx:
                await press.submit("note", "never", within=tx)
                raise ZeroDivisionError
        async with press.transaction() as tx:
            kept = await press.submit("note", "kept", within=tx)
        await press.wait(kept, timeout=60)
    assert ran == ["kept"]


async def test_what_waits_when_the_workers_come_is_done(open_press: Open) -> None:
    """Announced to nobody, or long ago."""
    kind = Kind("echo", echo)
    async with open_press(kind, workers=None) as front:
        early = [await front.submit("echo", n) for n in range(5)]
        async with open_press(kind) as press:
            assert [await press.wait(job, timeout=60) for job in early] == list(range(5))


async def test_a_tick_is_fired_once_whatever_the_number_of_nodes(open_press: Open, eventually: Eventually) -> None:
    """I22, Q34: two nodes are told of the same tick, by whoever tells them."""
    kind = Kind("sweep", echo)
    tick = Schedule("yearly", "0 0 1 1 *", "sweep")  # the next one does not come in the middle of the test
    long_ago = datetime.now(UTC) - timedelta(days=370)
    async with open_press(kind, schedules=[tick]) as one, open_press(kind, schedules=[tick]) as two:
        await _set_last_tick(one, long_ago)
        await asyncio.gather(one.maintenance.fire_schedules(), two.maintenance.fire_schedules())
        await eventually(lambda: _ended(one, "sweep"), within=60)
        assert len((await one.list(kind="sweep")).jobs) == 1


async def _set_last_tick(press: Pressroom, when: datetime) -> None:
    async with press.transaction() as tx:
        await tx.execute("UPDATE schedule SET last_tick = :last", {"last": int(when.timestamp() * 1000)})


async def _ended(press: Pressroom, kind: str) -> bool:
    found = (await press.list(kind=kind)).jobs
    return bool(found) and all(job.status.ended for job in found)
