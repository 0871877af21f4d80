"""What the crash lab found. Each story is the smallest that still goes wrong."""

import asyncio
from functools import partial

from pressroom import Pressroom, Schedule, Tier
from pressroom.store.jobs import claiming
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.store.jobs.claiming import FreeSlots
from tests.reliability.client import Receipt
from tests.reliability.stage import Stage, drained, until
from tests.reliability.workload import POLL, Handlers


def worker_for(stage: Stage, *names: str) -> Pressroom:
    kinds = [kind for kind in Handlers(stage.journal).kinds() if not names or kind.name in names]
    return Pressroom(stage.url, kinds=kinds, workers=2, lease=stage.lease, poll_interval=POLL)


async def claim(press: Pressroom, kind: str) -> list[str]:
    """Claim as a worker would that dies at once: its lease is over in a millisecond."""
    claims = await press._database.run(lambda: claiming.claim("gone", [kind], FreeSlots(1, 1), 1), name="turn")
    return [claim.uid for claim in claims]


async def cancel_as_a_stranger(stage: Stage, receipt: Receipt | None) -> None:
    """By a process that does not know the kind, and so must leave the ending to one that does."""
    assert receipt is not None
    async with Pressroom(stage.url, workers=None) as stranger:
        await stranger.cancel(receipt.uid)


async def test_a_job_that_was_cancelled_before_it_began_never_says_that_it_started(stage: Stage) -> None:
    # I19, I23: a claim recorded the start of every job that it chose, also of those that it then did not get
    await stage.found()

    async with stage.desk() as press:
        receipt = await stage.client(press).submit("note")
        assert receipt is not None
        await cancel_as_a_stranger(stage, receipt)
        claimed = await claim(press, "note")
        history = await press.history(receipt.uid)

    assert claimed == []
    assert [event.type for event in history] == ["queued", "cancelling"]


async def test_a_cancelled_job_does_not_stand_between_a_worker_and_the_next(stage: Stage) -> None:
    # I14: it was chosen and not claimed, and took the only free slot each time
    await stage.found()

    async with stage.desk() as press:
        client = stage.client(press)
        first, second = await client.submit("note"), await client.submit("note")
        assert second is not None
        await cancel_as_a_stranger(stage, first)

        assert await claim(press, "note") == [second.uid]


async def test_a_rescuer_that_does_not_know_a_kind_does_not_let_an_older_version_win(stage: Stage) -> None:
    # I9: the older one was put back into the line, behind a newer one of a better tier, and was published after it
    await stage.found()

    async with stage.desk() as press:
        client = stage.client(press)
        older = await client.submit("page", key="page:/Home", tier=Tier.BACKGROUND)
        assert older is not None
        assert await claim(press, "page") == [older.uid]
        await client.submit("page", key="page:/Home", tier=Tier.INTERACTIVE)
        await asyncio.sleep(0.01)
        async with worker_for(stage, "book") as stranger:
            await stranger.maintenance.rescue()
        async with worker_for(stage):
            await until(lambda: drained(press))

    assert stage.judge().regress == []


async def test_dead_workers_that_hold_nothing_are_forgotten(stage: Stage) -> None:
    """Each was kept for an hour, and every worker looked at each of them every second: after 2,000 restarts that took a
    third of a core for every worker."""
    await stage.found()
    with stage.worker():
        await until(lambda: any(line.do == "tally" for line in stage.lines()))

    async with worker_for(stage) as press:
        await press.maintenance.rescue()
        cards = await press.workers()

    assert len(cards) == 1


async def test_a_tick_names_the_job_that_it_came_to(stage: Stage) -> None:
    # I22: a tick whose submit was coalesced named a job that there never was
    await stage.found()
    hourly = Schedule("hourly", "0 * * * *", "page", payload={"kind": "page"}, key="page:/News")

    async with stage.desk() as press:
        await press._database.run(lambda: schedule_rows.save_schedule(hourly), name="schedule")
        for tick in (3_600_000, 7_200_000):
            new = press.for_schedule(hourly)
            await press._database.run(partial(schedule_rows.fire, hourly, tick, new), name="schedule")
        (job,) = (await press.list()).jobs
        async with press.transaction() as transaction:
            ticks = await transaction.execute("SELECT job FROM schedule_tick")

    assert ticks == [(job.uid,), (job.uid,)]


async def test_a_tick_during_the_grace_is_no_failure_of_the_chore(stage: Stage) -> None:
    # I24: a worker that was told to stop logged an error with a traceback whenever a tick came due meanwhile
    await stage.found()

    async with worker_for(stage) as press:
        press.queue._accepting = False  # as stop() does first, while the chores go on until the running jobs are done

        assert press.for_schedule(Schedule("hourly", "0 * * * *", "tick")).kind == "tick"
