"""Cancelling: a queued job ends at once, a running one is stopped, and a job never ends twice."""

import asyncio
import threading
from random import Random

import pytest

from pressroom import Backoff, Cancelled, JobCancelled, NotFound, OnKey, Pressroom, Request, Status, Tier, Transient, kind
from pressroom.model import GaveUp, PartlySucceeded, Postponed, Released, Retry, Stopped, Succeeded
from pressroom.notify.event_poller import EventPoller
from tests.journeys.stage import endings

ERROR = {"attempt": 1, "code": "transient", "message": "not now"}


@kind("shout")
async def shout(job, payload):
    return payload.upper()


async def test_a_queued_job_ends_at_once_and_never_runs(anywhere):
    ran = []

    @kind("note")
    async def note(job, payload):
        ran.append(payload)

    async with Pressroom(anywhere, kinds=[note], workers=1) as press:
        await press.pause("note")
        unwanted = await press.submit("note", "unwanted")
        wanted = await press.submit("note", "wanted")

        cancelled = await press.cancel(unwanted, reason="the author left")
        await press.resume("note")
        await press.wait(wanted)

        assert (cancelled.status, cancelled.date_started) == (Status.CANCELLED, None)
        assert cancelled.last_error == "the author left"
        assert ran == ["wanted"]
        with pytest.raises(JobCancelled, match="the author left"):
            await press.wait(unwanted)


async def test_who_waits_for_a_queued_job_is_told_without_a_poll_that_it_was_cancelled(anywhere, monkeypatch):
    async def poll_never(poller):
        await asyncio.Event().wait()

    monkeypatch.setattr(EventPoller, "run", poll_never)
    async with Pressroom(anywhere, kinds=[shout], workers=None) as press:
        job = await press.submit("shout", "hi")
        waiter = asyncio.create_task(press.wait(job))
        for _ in range(10):  # reads are answered in turn, so by then it has looked and waits for news
            await press.stats()

        await press.cancel(job)

        with pytest.raises(JobCancelled):
            await asyncio.wait_for(waiter, timeout=60)


async def test_a_running_coroutine_is_cancelled_where_it_waits_and_may_tidy_up(anywhere, gate, eventually):
    tidied = []

    @kind("held")
    async def held(job, payload):
        try:
            await gate.hold()
        except asyncio.CancelledError:
            tidied.append("closed the files")
            raise

    async with Pressroom(anywhere, kinds=[held, shout], workers=1) as press:
        job = await press.submit("held")
        await eventually(lambda: gate.came)

        await press.cancel(job)

        with pytest.raises(JobCancelled):
            await press.wait(job)
        assert tidied == ["closed the files"]
        assert await press.wait(await press.submit("shout", "the slot is free")) == "THE SLOT IS FREE"


async def test_a_running_function_is_interrupted_in_its_thread_even_if_it_catches_every_exception(anywhere, eventually):
    started, released = threading.Event(), threading.Event()

    @kind("busy")
    def busy(job, payload):
        started.set()
        while not released.is_set():
            try:
                sum(range(1000))
            except Exception:
                continue

    async with Pressroom(anywhere, kinds=[busy, shout], workers=1) as press:
        job = await press.submit("busy")
        await eventually(started.is_set)

        await press.cancel(job)

        ended = await press.wait_until_ended(job)
        assert ended.status is Status.CANCELLED
        assert press.worker.counts.abandoned == 0
        assert await press.wait(await press.submit("shout", "next")) == "NEXT"
    released.set()


async def test_a_function_may_look_whether_it_should_stop(anywhere, eventually):
    started, looked = threading.Event(), []

    @kind("polite")
    def polite(job, payload):
        started.set()
        while not job.cancelled:
            pass
        looked.append("stopping")
        raise Cancelled

    async with Pressroom(anywhere, kinds=[polite], workers=1) as press:
        job = await press.submit("polite")
        await eventually(started.is_set)

        await press.cancel(job)

        assert (await press.wait_until_ended(job)).status is Status.CANCELLED


async def test_reporting_progress_tells_a_cancelled_handler_to_stop(anywhere, eventually):
    """It would not hear otherwise: here the worker is not told, as when another process cancels."""
    going = asyncio.Event()

    @kind("steps", timeout=None)
    async def steps(job, payload):
        await job.phase("stepping")
        going.set()
        while True:
            await job.phase("stepping")

    async with Pressroom(anywhere, kinds=[steps], workers=1, lease=3600, poll_interval=60) as press:
        job = await press.submit("steps")
        await going.wait()
        press.queue._stop_running = None

        await press.cancel(job)

        assert (await press.wait_until_ended(job, timeout=50)).status is Status.CANCELLED  # sooner than it polls


async def test_a_coroutine_that_ignores_cancellation_is_left_behind_and_its_job_is_cancelled(anywhere, eventually):
    released, ended_late = asyncio.Event(), asyncio.Event()

    @kind("stubborn")
    async def stubborn(job, payload):
        started.set()
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue
        ended_late.set()
        return "too late"

    started = asyncio.Event()
    async with Pressroom(anywhere, kinds=[stubborn, shout], workers=1) as press:
        job = await press.submit("stubborn")
        await started.wait()

        await press.cancel(job)
        ended = await press.wait_until_ended(job)

        assert ended.status is Status.CANCELLED
        assert press.worker.counts.abandoned == 1
        assert await press.wait(await press.submit("shout", "its slot is free")) == "ITS SLOT IS FREE"
        released.set()
        await ended_late.wait()
        assert await press.get(job) == ended, "whatever it still does is nobody's business"
        assert endings([event.type async for event in press.watch(job)]) == ["cancelled"]


async def test_a_function_that_cannot_be_interrupted_is_left_behind_and_its_job_is_cancelled(anywhere, eventually):
    started, released = threading.Event(), threading.Event()

    @kind("deaf")
    def deaf(job, payload):
        started.set()
        released.wait()  # waits in C, where no exception can be raised

    async with Pressroom(anywhere, kinds=[deaf, shout], workers=1) as press:
        job = await press.submit("deaf")
        await eventually(started.is_set)

        await press.cancel(job)

        assert (await press.wait_until_ended(job)).status is Status.CANCELLED
        assert press.worker.counts.abandoned == 1
        assert await press.wait(await press.submit("shout", "next")) == "NEXT"
        released.set()


async def test_a_coroutine_that_a_plain_function_handed_back_is_cancelled_too(anywhere, gate, eventually):
    stopped = asyncio.Event()

    async def work():
        try:
            await gate.hold()
        except asyncio.CancelledError:
            stopped.set()
            raise

    @kind("wrapped")
    def wrapped(job, payload):
        return work()

    async with Pressroom(anywhere, kinds=[wrapped], workers=1) as press:
        job = await press.submit("wrapped")
        await eventually(lambda: gate.came)

        await press.cancel(job)

        assert (await press.wait_until_ended(job)).status is Status.CANCELLED
        assert stopped.is_set(), "its job has ended, but it still runs"


async def test_a_result_that_comes_after_the_cancel_was_accepted_is_not_kept(anywhere, gate, eventually):
    @kind("shielded")
    async def shielded(job, payload):
        try:
            await gate.hold()
        except asyncio.CancelledError:
            return "finished all the same"

    async with Pressroom(anywhere, kinds=[shielded], workers=1) as press:
        job = await press.submit("shielded")
        await eventually(lambda: gate.came)

        await press.cancel(job)
        ended = await press.wait_until_ended(job)

        assert (ended.status, ended.result) == (Status.CANCELLED, None)


async def test_why_a_running_job_was_cancelled_is_told_as_it_is_for_a_queued_one(anywhere, gate, eventually):
    @kind("held")
    async def held(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[held], workers=1) as press:
        job = await press.submit("held")
        await eventually(lambda: gate.came)

        await press.cancel(job, reason="the author left")

        with pytest.raises(JobCancelled, match="the author left"):
            await press.wait(job)


async def test_cancelling_what_has_ended_changes_nothing(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        job = await press.submit("shout", "hi")
        before = await press.wait_until_ended(job)

        after = await press.cancel(job)

        assert after == before
        assert await press.wait(job) == "HI"


async def test_cancelling_twice_is_cancelling_once(anywhere, gate, eventually):
    @kind("held")
    async def held(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[held], workers=1) as press:
        job = await press.submit("held")
        await eventually(lambda: gate.came)

        await asyncio.gather(*(press.cancel(job) for _ in range(5)))
        await press.wait_until_ended(job)

        types = [event.type async for event in press.watch(job)]
        assert types == ["queued", "started", "cancelling", "cancelled"]


async def test_what_was_never_submitted_cannot_be_cancelled(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        with pytest.raises(NotFound):
            await press.cancel("job_01JD0000000000000000000000")


async def test_a_job_that_waits_for_its_next_attempt_ends_at_once(anywhere, eventually):
    @kind("flaky", backoff=Backoff(base=3600, cap=3600))
    async def flaky(job, payload):
        raise Transient("not now")

    async with Pressroom(anywhere, kinds=[flaky], workers=1) as press:
        job = await press.submit("flaky")
        await eventually(lambda: press.worker.counts.settled == 1)

        cancelled = await press.cancel(job)

        assert (cancelled.status, cancelled.failures) == (Status.CANCELLED, 1)


OUTCOMES = [
    Succeeded('"done"'),
    PartlySucceeded('"most"', ERROR),
    GaveUp(ERROR),
    Retry(ERROR, wait=0),
    Postponed("no room", wait=0),
    Released(),
    Stopped("cancelled"),
]


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
def test_a_cancel_that_came_before_the_settling_wins_whatever_the_attempt_came_to(steps, outcome):
    store = steps(shout)
    job = store.submit("shout", "hi")
    claim = store.claim_one()

    store.cancel(job)
    status = store.settle(claim, outcome)

    ended = store.get(job)
    assert (status, ended.status, ended.result) == (Status.CANCELLED, Status.CANCELLED, None)
    assert endings(store.history(job)) == ["cancelled"]


@pytest.mark.parametrize("outcome", [Succeeded('"done"'), PartlySucceeded('"most"', ERROR), GaveUp(ERROR)])
def test_a_settling_that_came_before_the_cancel_wins(steps, outcome):
    store = steps(shout)
    job = store.submit("shout", "hi")
    status = store.settle(store.claim_one(), outcome)
    before = store.get(job)

    after = store.cancel(job)

    assert after == before
    assert endings(store.history(job)) == [status]


def test_a_cancel_finds_a_job_that_went_back_to_the_queue_and_ends_it(steps):
    store = steps(shout)
    job = store.submit("shout", "hi")
    store.settle(store.claim_one(), Retry(ERROR, wait=60))

    assert store.cancel(job).status is Status.CANCELLED

    store.clock.advance(minutes=2)
    assert store.claim() == []


def test_a_silent_workers_job_that_was_cancelled_is_not_given_to_another(steps):
    store = steps(shout)
    job = store.submit("shout", "hi")
    late = store.claim_one(lease=15)
    store.cancel(job)
    store.clock.advance(seconds=16)

    assert store.rescue() == [Status.CANCELLED]

    assert store.claim() == []
    assert store.settle(late, Succeeded('"late"')) is None
    assert endings(store.history(job)) == ["cancelled"]


def test_a_job_is_cancelled_although_a_newer_payload_of_its_key_waits(steps):
    """Whoever waits for it is told of the cancel, and not of somebody else's render."""

    @kind("page", on_key=OnKey.COALESCE)
    async def page(job, payload):
        return payload

    store = steps(page)
    job = store.submit("page", "old", key="/Home")
    claim = store.claim_one()
    store.submit("page", "new", key="/Home")
    store.cancel(job)

    store.settle(claim, Retry(ERROR, wait=0))

    assert store.get(job).status is Status.CANCELLED
    assert store.get(job).superseded_by is None


async def test_however_a_cancel_and_an_ending_meet_there_is_one_ending(database):
    dice = Random(19)

    @kind("quick", tier=Tier.INTERACTIVE)
    async def quick(job, payload):
        for _ in range(payload):
            await asyncio.sleep(0)
        return "done"

    async def cancel_after(press, job, rounds):
        for _ in range(rounds):
            await asyncio.sleep(0)
        return await press.cancel(job)

    async with Pressroom(database, kinds=[quick], workers=4) as press:
        jobs = await press.submit_many([Request("quick", dice.randrange(30)) for _ in range(150)])
        await asyncio.gather(*(cancel_after(press, job, dice.randrange(200)) for job in jobs))
        ended = [await press.wait_until_ended(job) for job in jobs]
        histories = [[event.type async for event in press.watch(job)] for job in jobs]

    assert [endings(history) for history in histories] == [[job.status.value] for job in ended]
    assert {job.status for job in ended} <= {Status.COMPLETED, Status.CANCELLED}
    assert all((job.result == "done") == (job.status is Status.COMPLETED) for job in ended)
