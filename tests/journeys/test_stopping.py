"""Stopping: claim no more, finish what runs, give back the rest at no cost, and leave nobody waiting in silence."""

import asyncio
import threading

import pytest

from pressroom import Backoff, JobCancelled, OnKey, Pressroom, QueueClosed, Request, Status, Transient, kind
from pressroom.errors import StopTimeout
from pressroom.store.jobs.queries import last_event_id
from pressroom.worker import lease, worker
from tests.journeys.stage import OtherProcess


@kind("shout")
async def shout(job, payload):
    return payload.upper()


def held_by(gate, **promises):
    @kind("held", **promises)
    async def held(job, payload):
        await gate.hold(payload)
        return payload

    return held


async def look_at(database, job):
    async with Pressroom(database, workers=None) as press:
        return await press.get(job), [event.type for event in await press.history(job)]


# W25, P15
async def test_stopping_finishes_what_runs_and_starts_nothing_more(database, gate, eventually):
    async with Pressroom(database, kinds=[held_by(gate)], workers=1) as press:
        running, waiting = await press.submit_many([Request("held", "running"), Request("held", "waiting")])
        await eventually(lambda: gate.came)

        stopping = asyncio.create_task(press.stop())
        await eventually(lambda: not press.worker._loop.claiming)
        gate.open()
        await stopping

    finished, _ = await look_at(database, running)
    untouched, history = await look_at(database, waiting)
    assert (finished.status, finished.result) == (Status.COMPLETED, "running")
    assert (untouched.status, history) == (Status.QUEUED, ["queued"])


# W25
async def test_what_is_not_finished_within_the_grace_goes_back_to_the_queue_at_no_cost(database, gate, eventually):
    async with Pressroom(database, kinds=[held_by(gate)], workers=1) as press:
        job = await press.submit("held", "slow")
        await eventually(lambda: gate.came)
        before = await press.get(job)

        with pytest.raises(StopTimeout) as late:
            await press.stop(grace=0)

    released, history = await look_at(database, job)
    assert late.value.released == 1
    assert (released.status, released.failures, released.crashes) == (Status.QUEUED, 0, 0)
    assert (released.seq, released.waits_for) == (before.seq, None)
    assert history == ["queued", "started", "released"]

    gate.open()
    async with Pressroom(database, kinds=[held_by(gate)], workers=1) as press:
        assert await press.wait(job) == "slow"
        assert (await press.get(job)).failures == 0


# W25
async def test_a_job_that_is_claimed_while_its_worker_stops_goes_back_to_the_queue(database, gate, monkeypatch):
    """The claim was on its way when the grace was over. Else the job would look as if its worker had died."""
    claimed, grace_over = asyncio.Event(), asyncio.Event()
    monkeypatch.setattr(worker, "STOP_GRACE", 60)
    async with Pressroom(database, kinds=[held_by(gate)], workers=1) as press:
        turns, loop = press.worker._turns, press.worker._loop
        run_turn, wait_until_idle = turns.run, loop.wait_until_idle

        async def run_turn_slowly(*asked):
            turn = await run_turn(*asked)
            if turn.claims:
                claimed.set()
                await grace_over.wait()
            return turn

        async def wait_in_vain(deadline):
            await wait_until_idle(deadline)
            grace_over.set()

        monkeypatch.setattr(turns, "run", run_turn_slowly)
        monkeypatch.setattr(loop, "wait_until_idle", wait_in_vain)
        job = await press.submit("held")
        await claimed.wait()
        with pytest.raises(StopTimeout):
            await press.stop(grace=0)

    released, history = await look_at(database, job)
    assert (released.status, released.crashes, history) == (Status.QUEUED, 0, ["queued", "started", "released"])


# W25
async def test_a_function_that_will_not_stop_is_given_back_too(database, eventually):
    started, released = threading.Event(), threading.Event()

    @kind("deaf")
    def deaf(job, payload):
        started.set()
        released.wait()

    async with Pressroom(database, kinds=[deaf], workers=1) as press:
        job = await press.submit("deaf")
        await eventually(started.is_set)

        with pytest.raises(StopTimeout):
            await press.stop(grace=0)

    released.set()
    given_back, _ = await look_at(database, job)
    assert (given_back.status, given_back.failures) == (Status.QUEUED, 0)


# W26
async def test_what_is_asked_after_the_stop_is_answered_that_the_queue_is_closed(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        job = await press.submit("shout", "hi")
        await press.wait(job)
    ask = [
        lambda: press.submit("shout", "late"),
        lambda: press.submit_many([Request("shout", "late")]),
        lambda: press.get(job),
        lambda: press.wait(job),
        lambda: press.cancel(job),
        lambda: press.retry(job),
        lambda: press.pause("shout"),
    ]

    for late in ask:
        with pytest.raises(QueueClosed) as closed:
            await late()
        assert closed.value.code == "queue_closed"


# W26
async def test_nothing_is_accepted_while_the_queue_drains(anywhere, gate, eventually):
    async with Pressroom(anywhere, kinds=[held_by(gate)], workers=1) as press:
        await press.submit("held")
        await eventually(lambda: gate.came)
        stopping = asyncio.create_task(press.stop())
        await asyncio.sleep(0)

        with pytest.raises(QueueClosed):
            await press.submit("held")

        gate.open()
        await stopping


async def test_everybody_who_still_waits_is_told_that_the_queue_closes(database):
    async with Pressroom(database, kinds=[shout], workers=1) as press:
        await press.pause("shout")
        jobs = await press.submit_many([Request("shout", str(number)) for number in range(100)])
        waiters = [asyncio.create_task(press.wait(job)) for job in jobs]
        watchers = [asyncio.create_task(anext(press.watch(job, after=2**62))) for job in jobs]
        for _ in range(10):  # reads are answered in turn, so by then all of them have looked and wait for news
            await press.stats()

        await press.stop()
        answers = await asyncio.gather(*waiters, *watchers, return_exceptions=True)

    assert all(isinstance(answer, QueueClosed) for answer in answers)


async def test_the_stream_of_all_jobs_ends_when_the_queue_closes(anywhere):
    seen = []

    async def listen(press):
        async for event in press.events(after=0):
            seen.append(event.type)

    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        listening = asyncio.create_task(listen(press))
        await press.wait(await press.submit("shout", "hi"))

    await asyncio.wait_for(listening, timeout=60)
    assert seen == ["queued", "started", "completed"]


async def test_closing_waits_for_reads_that_are_under_way(database, eventually):
    looking, go_on = threading.Event(), threading.Event()

    def slow_look():
        looking.set()
        go_on.wait()
        return (yield from last_event_id())

    async with Pressroom(database, kinds=[shout], workers=None) as press:
        reads = [asyncio.create_task(press._database.read(slow_look)), *(asyncio.create_task(press.stats()) for _ in range(3))]
        await asyncio.to_thread(looking.wait)

        closing = asyncio.create_task(press.stop())
        await eventually(lambda: press._database._closed)
        go_on.set()
        try:
            await asyncio.wait_for(asyncio.shield(closing), timeout=60)
        finally:
            press._database._reads.put(None)  # so that a reader which missed the end does not hold up the tests

        assert len(await asyncio.gather(*reads)) == 4


# D11
async def test_a_database_in_memory_is_drained_because_nothing_survives_it():
    done = []

    @kind("note")
    async def note(job, payload):
        await asyncio.sleep(0)
        done.append(payload)
        return payload

    async with Pressroom("sqlite:///:memory:", kinds=[note], workers=2) as press:
        jobs = await press.submit_many([Request("note", number) for number in range(200)])
        waiters = [asyncio.create_task(press.wait(job)) for job in jobs]
        await asyncio.sleep(0)

    assert sorted(done) == list(range(200))
    assert await asyncio.gather(*waiters) == list(range(200))


async def test_a_line_behind_a_key_is_drained_to_its_end():
    done = []

    @kind("ledger", on_key=OnKey.LINE_UP)
    async def ledger(job, payload):
        done.append(payload)

    async with Pressroom("sqlite:///:memory:", kinds=[ledger], workers=4, lease=3600, poll_interval=60) as press:
        await press.submit_many([Request("ledger", number, key="a") for number in range(20)])

    assert done == list(range(20))


async def test_a_retry_that_is_due_within_the_grace_is_part_of_what_is_drained(eventually):
    """Nobody would ever try again: the database ends with the process."""

    @kind("flaky", backoff=Backoff(base=0.1, jitter=0))
    async def flaky(job, payload):
        if job.attempt == 1:
            raise Transient("not now")
        return "at last"

    async with Pressroom("sqlite:///:memory:", kinds=[flaky], workers=1) as press:
        job = await press.submit("flaky")
        waiter = asyncio.create_task(press.wait(job))
        await eventually(lambda: press.worker.counts.settled == 1)

    assert await waiter == "at last"


async def test_what_memory_cannot_drain_in_time_leaves_nobody_waiting_in_silence(gate, eventually):
    async with Pressroom("sqlite:///:memory:", kinds=[held_by(gate)], workers=1) as press:
        jobs = await press.submit_many([Request("held", number) for number in range(3)])
        waiters = [asyncio.create_task(press.wait(job)) for job in jobs]
        await eventually(lambda: gate.came)

        with pytest.raises(StopTimeout):
            await press.stop(grace=0)

        answers = await asyncio.gather(*waiters, return_exceptions=True)
    assert all(isinstance(answer, QueueClosed) for answer in answers)


async def test_leases_are_kept_alive_while_the_queue_drains(database, gate, eventually, monkeypatch):
    """Whoever stops its heartbeat first loses the jobs that it is about to finish."""
    monkeypatch.setattr(lease, "RENEWALS_PER_LEASE", 600)  # ten a second, of a lease that outlives any stall of the machine
    async with (
        Pressroom(database, kinds=[held_by(gate)], workers=1, lease=60, poll_interval=0.01) as press,
        Pressroom(database, workers=None) as neighbour,
    ):
        job = await press.submit("held", "slow")
        await eventually(lambda: gate.came)
        stopping = asyncio.create_task(press.stop())
        first = (await neighbour.get(job)).lease_until

        async def renewed_twice():
            lease_until = (await neighbour.get(job)).lease_until
            return (lease_until - first).total_seconds() > 0.3

        await eventually(renewed_twice)
        await neighbour.maintenance.rescue()
        gate.open()
        await stopping

        ended = await neighbour.get(job)
    assert (ended.status, ended.crashes, gate.came) == (Status.COMPLETED, 0, ["slow"])


async def test_stopping_twice_is_stopping_once(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        await press.stop()
        await press.stop()


def our_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("pressroom")}


async def test_a_queue_that_was_stopped_can_be_opened_again(database):
    press = Pressroom(database, kinds=[shout], workers=1)
    for text in ("one", "two"):
        async with press:
            assert await press.wait(await press.submit("shout", text)) == text.upper()


async def test_a_queue_that_was_opened_again_stops_as_it_did_the_first_time(anywhere, gate, eventually):
    before = our_threads()
    press = Pressroom(anywhere, kinds=[held_by(gate)], workers=1)
    await press.start()
    await press.tokens.any_holds()
    await press.stop()

    await press.start()
    await press.submit("held", "slow")
    await eventually(lambda: gate.came)
    await press.tokens.any_holds()
    await eventually(lambda: not press.webhooks._stopping.is_set())
    assert all(not task.done() for task in press.webhooks._tasks)
    with pytest.raises(StopTimeout):
        await press.stop(grace=0)

    await eventually(lambda: our_threads() <= before)
    await press.start()  # what had to be released the last time is forgotten
    gate.open()
    await press.stop()


async def test_a_queue_that_was_opened_again_renders(database):
    press = Pressroom(database, workers=1)
    for text in ("# One", "# Two"):
        async with press:
            made = await press.wait(await press.render("markdown", text, "html"), timeout=60)
            artifact = await press.artifact(made["artifact"])
            assert text[2:] in b"".join([chunk async for chunk in await press.read(artifact)]).decode()


@pytest.mark.parametrize(
    "part", ["worker.maintenance.Maintenance.start", "worker.leader.Leadership.start", "kinds.webhooks.Webhooks.start"]
)
async def test_a_start_that_fails_leaves_nothing_behind(anywhere, eventually, monkeypatch, part):
    """Whoever tries again, as a supervisor does within one process, must not gather workers that nobody stops."""

    def fail(*_):
        raise ZeroDivisionError

    before = our_threads()
    with monkeypatch.context() as broken:
        broken.setattr(f"pressroom.{part}", fail)
        press = Pressroom(anywhere, kinds=[shout], workers=1)
        with pytest.raises(ZeroDivisionError):
            await press.start()

    await eventually(lambda: our_threads() <= before)
    await eventually(lambda: asyncio.all_tasks() == {asyncio.current_task()})
    with pytest.raises(QueueClosed):
        await press.submit("shout", "hi")
    async with press:
        assert await press.wait(await press.submit("shout", "hi")) == "HI"


async def test_a_cancel_that_came_before_the_stop_is_carried_out(database, gate, eventually):
    async with Pressroom(database, kinds=[held_by(gate)], workers=1) as press:
        job = await press.submit("held")
        await eventually(lambda: gate.came)
        await press.cancel(job)
        waiter = asyncio.create_task(press.wait(job))
        await asyncio.sleep(0)

        await press.stop()

        with pytest.raises(JobCancelled):
            await waiter


async def test_an_attempt_that_fails_while_the_queue_stops_is_tried_again_when_it_opens(database, gate, eventually):
    @kind("flaky", backoff=Backoff(base=0, jitter=0))
    async def flaky(job, payload):
        if job.attempt == 1:
            await gate.hold()
            raise Transient("not now")
        return "at last"

    async with Pressroom(database, kinds=[flaky], workers=1) as press:
        job = await press.submit("flaky")
        await eventually(lambda: gate.came)
        stopping = asyncio.create_task(press.stop())
        await eventually(lambda: not press.worker._loop.claiming)
        gate.open()
        await stopping

    async with Pressroom(database, kinds=[flaky], workers=1) as press:
        assert await press.wait(job) == "at last"


# P16
async def test_a_closed_queue_leaves_no_thread_no_task_and_no_worker_behind(anywhere, eventually):
    @kind("plain")
    def plain(job, payload):
        return payload

    before = our_threads()
    async with Pressroom(anywhere, kinds=[shout, plain], workers=4) as press:
        await press.wait(await press.submit("shout", "hi"))
        await press.wait(await press.submit("plain", "hi"))
        assert our_threads() - before
        assert len(await press.workers()) == 1

    await eventually(lambda: our_threads() <= before)
    await eventually(lambda: asyncio.all_tasks() == {asyncio.current_task()})
    if "memory" not in anywhere:
        async with Pressroom(anywhere, workers=None) as press:
            assert await press.workers() == []


# W27
async def test_a_service_that_is_told_to_stop_finishes_the_job_in_flight(database, tmp_path, eventually):
    go_on = tmp_path / "go on"
    async with OtherProcess(database) as service, Pressroom(database, kinds=[held_elsewhere], workers=None) as press:
        job = await press.submit("hold", {"text": "in flight", "until": str(go_on)})
        await service.says("holding")

        stopping = asyncio.create_task(service.terminate())
        await asyncio.sleep(0)
        go_on.touch()

        assert await stopping == 0
        assert await press.wait(job) == "in flight"


@kind("hold", tier=0)
async def held_elsewhere(job, payload):
    """Known here so that it can be submitted; the other process runs it."""
