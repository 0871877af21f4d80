"""Two processes on one file: who submits, who works, who waits and who cancels need not be the same."""

import asyncio
from collections import Counter

import pytest

from pressroom import Answer, JobCancelled, Pressroom, Request, Status, kind
from tests.journeys.other_process import count, hold, mark, page, poison, shout
from tests.journeys.stage import OtherProcess, endings


@pytest.fixture
def go_on(tmp_path):
    """The file that lets a held job go on, in whichever process it runs."""
    return tmp_path / "go on"


def here(database, *kinds, workers=None):
    return Pressroom(database, kinds=kinds, workers=workers, poll_interval=0.01)


async def test_a_job_submitted_here_runs_there_and_is_waited_for_here(database):
    async with OtherProcess(database), here(database, shout) as press:
        job = await press.submit("shout", {"text": "over there"})

        assert await press.wait(job) == "OVER THERE"


async def test_fifty_waiters_here_hear_of_fifty_endings_there(database):
    async with OtherProcess(database), here(database, shout) as press:
        jobs = await press.submit_many([Request("shout", {"text": f"n{number}"}) for number in range(50)])

        answers = await asyncio.gather(*(press.wait(job) for job in jobs))

        assert answers == [f"N{number}" for number in range(50)]


async def test_watching_from_another_process_misses_nothing(database):
    async with OtherProcess(database), here(database, count) as press:
        job = await press.submit("count")

        seen = [event async for event in press.watch(job)]

        assert seen == list(await press.history(job))
        assert seen[0].type == "queued"
        assert endings(event.type for event in seen) == ["completed"]
        assert [event.data["phase"] for event in seen if event.type == "phase"] == ["one", "two", "three"]


async def test_an_ending_between_a_waiters_look_and_the_first_look_for_news_is_not_missed(database, monkeypatch):
    """The waiter looked too early, and whoever listens for news from elsewhere began too late."""
    async with here(database, shout) as waiting, here(database, shout, workers=1) as working:
        await working.pause("shout")
        job = await waiting.submit("shout", {"text": "hi"})
        read, looked = waiting._database.read, asyncio.Event()

        async def slow_to_begin(unit):
            if getattr(unit, "__name__", "") == "last_event_id":
                looked.set()
                await working.resume("shout")
                await working.wait(job)
            return await read(unit)

        monkeypatch.setattr(waiting._database, "read", slow_to_begin)

        assert await waiting.wait(job, timeout=60) == "HI"
        assert looked.is_set()


# P4
async def test_two_workers_share_the_work_and_no_job_runs_twice(database, tmp_path):
    runs = tmp_path / "runs"
    async with OtherProcess(database), OtherProcess(database), here(database, mark) as press:
        jobs = await press.submit_many([Request("mark", {"file": str(runs)}) for _ in range(300)])
        for job in jobs:
            await press.wait(job)

    lines = [line.split() for line in runs.read_text().splitlines()]
    assert Counter(uid for uid, _ in lines) == Counter(job.uid for job in jobs)


# D4, D12, D17
async def test_a_job_whose_process_was_killed_runs_again_elsewhere(database, go_on):
    async with here(database, hold) as press, OtherProcess(database) as doomed:
        job = await press.submit("hold", {"text": "survives", "until": str(go_on)})
        await doomed.says("holding")
        await doomed.kill()
        assert (await press.get(job)).status is Status.IN_PROGRESS
    go_on.touch()

    async with here(database, hold, workers=1) as press:
        assert await press.wait(job) == "survives"
        ended = await press.get(job)
        assert (ended.status, ended.crashes, ended.failures) == (Status.COMPLETED, 1, 0)
        assert [event.type for event in await press.history(job)].count("lost") == 1


# D9, and I11 of reliability.md
async def test_when_the_process_that_renders_for_many_is_killed_all_of_them_are_answered(database, go_on):
    payload = {"text": "rendered once for all", "until": str(go_on)}
    async with here(database, hold) as press:
        async with OtherProcess(database) as doomed:
            leader = await press.submit("hold", payload)
            await doomed.says("holding")
            followers = await asyncio.gather(*(press.submit("hold", payload) for _ in range(20)))
            waiters = [asyncio.create_task(press.wait(job)) for job in (leader, *followers)]
            await doomed.kill()
        go_on.touch()

        async with OtherProcess(database):
            answers = await asyncio.gather(*waiters)

    assert {job.answer for job in followers} == {Answer.JOINED}
    assert answers == ["rendered once for all"] * 21


# D29
async def test_a_job_that_took_its_process_down_is_parked_and_the_applications_row_says_so(database, go_on):
    async with here(database, poison) as press:
        async with press.transaction() as tx:
            await tx.execute("CREATE TABLE page (uid TEXT, status TEXT, text TEXT)")
        async with OtherProcess(database) as doomed:
            job = await press.submit("poison", {"text": "deadly", "until": str(go_on)})
            await doomed.says("holding")
            await doomed.kill()

        async with OtherProcess(database):
            ended = await press.wait_until_ended(job)
        async with press.transaction() as tx:
            rows = await tx.execute("SELECT uid, status, text FROM page")

    assert (ended.status, ended.errors[-1]["code"]) == (Status.FAILED, "worker_crash")
    assert rows == [(job.uid, "failed", "deadly")]


# D17
async def test_a_thing_whose_render_was_killed_can_be_rendered_again(database, go_on):
    async with here(database, hold) as press:
        async with OtherProcess(database) as doomed:
            killed = await press.submit("hold", {"text": "one", "until": str(go_on)}, key="pack:7/offer")
            await doomed.says("holding")
            await doomed.kill()
        again = await press.submit("hold", {"text": "two", "until": str(go_on)}, key="pack:7/offer")
        go_on.touch()

        async with OtherProcess(database):
            assert await press.wait(again) == "two"
            assert await press.wait(killed) == "two", "the killed one made way for the newer, and its waiters follow"


async def test_a_job_that_runs_there_can_be_cancelled_here(database, go_on):
    async with OtherProcess(database) as other, here(database, hold) as press:
        job = await press.submit("hold", {"text": "unwanted", "until": str(go_on)})
        await other.says("holding")

        asked = await press.cancel(job)

        assert asked.cancel_requested  # by now the other process may have stopped it, so its status says nothing
        with pytest.raises(JobCancelled):
            await press.wait(job)
        told = [event.type for event in await press.history(job)]
        assert told.index("cancelling") < told.index("cancelled")  # it was asked to stop, and stopped there
        assert endings(told) == ["cancelled"]


async def test_a_cancel_by_a_process_that_does_not_know_the_kind_is_carried_out_by_one_that_does(database):
    async with here(database, page) as author, here(database) as stranger:
        async with author.transaction() as tx:
            await tx.execute("CREATE TABLE page (uid TEXT, status TEXT, text TEXT)")
        await author.pause("page")
        job = await author.submit("page", {"text": "unwanted"})

        deferred = await stranger.cancel(job)
        async with OtherProcess(database):
            ended = await stranger.wait_until_ended(job)
        async with author.transaction() as tx:
            rows = await tx.execute("SELECT uid, status FROM page")

    assert (deferred.status, deferred.cancel_requested) == (Status.QUEUED, True)
    assert ended.status is Status.CANCELLED
    assert rows == [(job.uid, "cancelled")]


async def test_a_job_of_a_kind_that_nobody_here_knows_waits_for_somebody_who_does(database, go_on):
    @kind("local")
    async def local(job, payload):
        return "done here"

    async with here(database, local, shout, workers=None) as author, here(database, local, workers=2) as press:
        foreign = await author.submit("shout", {"text": "hi"})
        mine = await author.submit("local")

        assert await press.wait(mine) == "done here"
        assert (await press.get(foreign)).status is Status.QUEUED
        async with OtherProcess(database):
            assert await press.wait(foreign) == "HI"


async def test_a_pause_holds_in_every_process(database):
    async with OtherProcess(database), here(database, shout) as press:
        await press.pause("shout")
        paused = await press.submit("shout", {"text": "later"})
        other = await press.submit_many([Request("shout", {"text": "later"}) for _ in range(5)])
        assert [worker for worker, *_ in await press.workers()], "there is somebody who could run them"
        assert {(await press.get(job)).status for job in (paused, *other)} == {Status.QUEUED}

        await press.resume("shout")

        assert await press.wait(paused) == "LATER"


async def test_an_answer_that_was_rendered_there_is_a_hit_here(database, go_on):
    go_on.touch()
    payload = {"text": "known", "until": str(go_on)}
    async with OtherProcess(database), here(database, hold) as press:
        await press.wait(await press.submit("hold", payload))

        hit = await press.submit("hold", payload)

        assert (hit.answer, await press.wait(hit)) == (Answer.HIT, "known")
