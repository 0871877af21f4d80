"""Attempts: which errors are tried again, when, how often, and what is told about it."""

import asyncio
import threading
from datetime import timedelta

import pytest

from pressroom import (
    Answer,
    Backoff,
    Backpressure,
    JobFailed,
    OnKey,
    Partial,
    Pressroom,
    SourceInvalid,
    Status,
    Tier,
    Transient,
    kind,
)
from pressroom.errors import NotFinished
from pressroom.model import GaveUp, Released, Retry, Succeeded
from pressroom.testing import ManualClock
from tests.journeys.stage import endings

AT_ONCE = Backoff(base=0, jitter=0)
ERROR = {"attempt": 1, "code": "transient", "message": "not now"}


@kind("shout")
async def shout(job, payload):
    return payload.upper()


# Q33, D30
async def test_an_error_that_may_pass_is_tried_again_from_the_start(anywhere):
    attempts = []

    @kind("build", max_attempts=3, backoff=AT_ONCE)
    async def build(job, payload):
        attempts.append(job.attempt)
        await job.phase("inventory", total=2)
        await job.step()
        if job.attempt < 3:
            raise Transient("the disk is asleep")
        return "built"

    async with Pressroom(anywhere, kinds=[build], workers=1) as press:
        job = await press.submit("build")

        assert await press.wait(job) == "built"
        ended = await press.get(job)
        types = [event.type async for event in press.watch(job)]

    assert attempts == [1, 2, 3]
    assert (ended.status, ended.failures) == (Status.COMPLETED, 2)
    assert [(error["attempt"], error["message"]) for error in ended.errors] == [
        (1, "the disk is asleep"),
        (2, "the disk is asleep"),
    ]
    assert types.count("started") == 3
    assert types.count("retrying") == 2
    assert endings(types) == ["completed"]


# Q33
async def test_after_the_last_attempt_the_job_has_failed(anywhere):
    @kind("build", max_attempts=3, backoff=AT_ONCE)
    async def build(job, payload):
        raise Transient(f"attempt {job.attempt} went wrong")

    async with Pressroom(anywhere, kinds=[build], workers=1) as press:
        job = await press.submit("build")

        with pytest.raises(JobFailed, match="attempt 3 went wrong"):
            await press.wait(job)
        ended = await press.get(job)

    assert (ended.status, ended.failures, ended.last_error) == (Status.FAILED, 3, "attempt 3 went wrong")
    assert [error["attempt"] for error in ended.errors] == [1, 2, 3]


# Q33, Q7
async def test_progress_starts_anew_at_each_attempt_and_earlier_ones_stay_readable(anywhere, gate, eventually):
    @kind("build", max_attempts=2, backoff=AT_ONCE)
    async def build(job, payload):
        if job.attempt == 1:
            await job.items("editions", ["main", "v2"], phase="editions")
            await job.item_completed("main")
            raise Transient("the disk is asleep")
        await gate.hold()

    async with Pressroom(anywhere, kinds=[build], workers=1) as press:
        job = await press.submit("build")
        await eventually(lambda: gate.came)
        second = await press.get(job)
        gate.open()
        await press.wait(job)
        told = [event async for event in press.watch(job)]

    assert (second.phase, second.progress) == (None, None)
    assert [event.data for event in told if event.type == "item"] == [
        {"noun": "editions", "name": "main", "state": "completed"}
    ]


async def test_a_wrong_source_is_not_tried_again(anywhere):
    attempts = []

    @kind("strict", max_attempts=5, backoff=AT_ONCE)
    async def strict(job, payload):
        attempts.append(job.attempt)
        raise SourceInvalid("a heading needs a space", line=3, column=2, excerpt="#Hi")

    async with Pressroom(anywhere, kinds=[strict], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("strict"))

    assert attempts == [1]
    assert ended.errors == [
        {
            "attempt": 1,
            "code": "source_invalid",
            "message": "a heading needs a space",
            "line": 3,
            "column": 2,
            "excerpt": "#Hi",
        }
    ]


# D22
async def test_what_an_unforeseen_error_said_is_for_operators_not_for_callers(anywhere):
    secret = "postgresql://admin:hunter2@db/prod"

    @kind("leaky", max_attempts=2, backoff=AT_ONCE)
    async def leaky(job, payload):
        raise RuntimeError(f"cannot reach {secret}")

    async with Pressroom(anywhere, kinds=[leaky], workers=1) as press:
        job = await press.submit("leaky")
        with pytest.raises(JobFailed) as told:
            await press.wait(job)
        ended = await press.get(job)
        shown = [event async for event in press.watch(job)]

    assert secret not in str(told.value)
    assert ended.last_error == "RuntimeError in the handler of leaky; the worker's log has the details"
    assert not any(secret in str(event.data) for event in shown)
    assert [error["code"] for error in ended.errors] == ["handler_error"] * 2
    assert all(secret in error["detail"] for error in ended.errors)


# D18
async def test_waiting_for_the_next_attempt_keeps_no_slot_and_nobody_waiting(anywhere, eventually):
    clock = ManualClock()

    @kind("flaky", backoff=Backoff(base=60, cap=3600, jitter=0))
    async def flaky(job, payload):
        if job.attempt == 1:
            raise Transient("not now")
        return "at last"

    async with Pressroom(anywhere, kinds=[flaky, shout], workers=1, clock=clock, poll_interval=0.01) as press:
        job = await press.submit("flaky")
        await eventually(lambda: press.worker.counts.settled == 1)

        waiting = await press.get(job)
        assert await press.wait(await press.submit("shout", "others go on")) == "OTHERS GO ON"
        assert (waiting.status, waiting.waits_for) == (Status.QUEUED, "time")
        assert waiting.run_at - waiting.date_started == timedelta(seconds=60)
        clock.advance(seconds=60)
        assert await press.wait(job) == "at last"


def test_backoff_is_a_date_that_the_claim_respects_to_the_millisecond(steps):
    store = steps(shout)
    store.submit("shout")
    store.settle(store.claim_one(), Retry(ERROR, wait=60))

    store.clock.advance(seconds=59.999)
    too_early = store.claim()
    store.clock.advance(seconds=0.001)

    assert too_early == []
    assert store.claim_one().failures == 1


def test_a_retry_goes_to_the_end_of_the_line_while_a_stop_or_a_lost_worker_keeps_its_place(steps):
    store = steps(shout)
    jobs = [store.submit("shout", name) for name in ("fails", "is stopped", "is lost", "last")]
    fails, is_stopped, _is_lost = store.claim(room=3, lease=15)

    store.settle(fails, Retry(ERROR, wait=0))
    store.settle(is_stopped, Released())
    store.clock.advance(seconds=16)
    store.rescue()

    order = [claim.uid for claim in store.claim(room=4)]
    assert order == [jobs[1].uid, jobs[2].uid, jobs[3].uid, jobs[0].uid]
    assert [(store.get(job).failures, store.get(job).crashes) for job in jobs] == [(1, 0), (0, 0), (0, 1), (0, 0)]


async def test_no_room_now_costs_no_attempt(anywhere):
    asked = []

    @kind("render", max_attempts=1)
    async def render(job, payload):
        asked.append(job.attempt)
        if len(asked) < 4:
            raise Backpressure("all browsers are busy", retry_after=0)
        return "rendered"

    async with Pressroom(anywhere, kinds=[render], workers=1) as press:
        job = await press.submit("render")

        assert await press.wait(job) == "rendered"
        assert (await press.get(job)).failures == 0
    assert asked == [1, 1, 1, 1]


async def test_a_kind_may_choose_to_fail_when_there_is_no_room(anywhere):
    @kind("render", on_backpressure="fail", max_attempts=5)
    async def render(job, payload):
        raise Backpressure("all browsers are busy")

    async with Pressroom(anywhere, kinds=[render], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("render"))

    assert (ended.status, ended.errors[-1]["code"]) == (Status.FAILED, "backpressure")


# P8
async def test_a_job_that_takes_too_long_is_stopped_and_fails_with_a_timeout(anywhere, gate):
    @kind("slow", max_attempts=1, timeout=0.05)
    async def slow(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[slow, shout], workers=1) as press:
        job = await press.submit("slow")

        with pytest.raises(JobFailed, match="did not finish within its limit"):
            await press.wait(job)
        assert (await press.get(job)).errors[-1]["code"] == "timeout"
        assert await press.wait(await press.submit("shout", "the slot is free")) == "THE SLOT IS FREE"


# P8
async def test_a_function_that_takes_too_long_is_interrupted_in_its_thread(anywhere):
    released = threading.Event()

    @kind("slow", max_attempts=1, timeout=0.05)
    def slow(job, payload):
        while not released.is_set():
            pass

    async with Pressroom(anywhere, kinds=[slow], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("slow"))

    released.set()
    assert (ended.status, ended.errors[-1]["code"]) == (Status.FAILED, "timeout")


async def test_a_timeout_may_pass_and_is_tried_again(anywhere, gate):
    @kind("slow", max_attempts=100, timeout=0.05, backoff=AT_ONCE)  # a busy machine may need more than two
    async def slow(job, payload):
        if job.attempt == 1:
            await gate.hold()
        return "quick this time"

    async with Pressroom(anywhere, kinds=[slow], workers=1) as press:
        assert await press.wait(await press.submit("slow")) == "quick this time"


async def test_what_comes_back_after_the_time_limit_is_too_late(anywhere, gate):
    @kind("slow", max_attempts=1, timeout=0.05)
    async def slow(job, payload):
        try:
            await gate.hold()
        except asyncio.CancelledError:
            return "a value all the same"

    async with Pressroom(anywhere, kinds=[slow], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("slow"))

    assert (ended.status, ended.result) == (Status.FAILED, None)


async def test_a_result_that_cannot_be_kept_fails_the_job_in_words(anywhere):
    @kind("odd", max_attempts=3, backoff=AT_ONCE)
    async def odd(job, payload):
        return object()

    async with Pressroom(anywhere, kinds=[odd], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("odd"))

    assert (ended.status, len(ended.errors)) == (Status.FAILED, 1)
    assert "returned what cannot be kept" in ended.last_error


async def test_retrying_an_ended_job_makes_a_new_one_that_names_the_old(anywhere):
    broken = [True]

    @kind("render", max_attempts=1)
    async def render(job, payload):
        if broken[0]:
            raise Transient("not now")
        return payload

    async with Pressroom(anywhere, kinds=[render], workers=1) as press:
        old = await press.submit("render", {"page": 7}, org_id="acme", subject="Home")
        failed = await press.wait_until_ended(old)
        broken[0] = False

        new = await press.retry(old)
        ended = await press.wait_until_ended(new)

        assert new.uid != old.uid
        assert (ended.status, ended.retry_of, ended.result) == (Status.COMPLETED, old.uid, {"page": 7})
        assert (ended.org_id, ended.subject, ended.failures) == ("acme", "Home", 0)
        assert await press.get(old) == failed, "the old one stays as it ended"


async def test_a_retry_takes_along_all_that_the_job_was_submitted_with_but_its_times_and_its_fingerprint(anywhere):
    @kind("page", on_key=OnKey.LINE_UP, cache_for=timedelta(hours=1))
    async def page(job, payload):
        return payload

    names = ("kind", "tier", "key", "org_id", "project_id", "build_id", "subject", "parent", "payload", "max_attempts")
    async with Pressroom(anywhere, kinds=[page], workers=None) as press:
        parent = await press.submit("page")
        given = {
            "tier": Tier.INTERACTIVE,
            "key": "/Home",
            "org_id": "acme",
            "project_id": "docs",
            "build_id": "b7",
            "subject": "Home",
            "parent": parent,
            "max_attempts": 7,
        }
        old = await press.cancel(await press.submit("page", {"page": 7}, delay=3600, **given))

        new = await press.get(await press.retry(old))

        assert {name: getattr(new, name) for name in names} == {name: getattr(old, name) for name in names}
        assert (new.parent, new.retry_of) == (parent.uid, old.uid)
        assert (new.status, new.failures, new.fingerprint) == (Status.QUEUED, 0, None)
        assert new.run_at < old.run_at
        assert [job.uid for job in (await press.list(parent=parent)).jobs] == [new.uid, old.uid]


async def test_only_what_has_ended_can_be_retried(anywhere, gate, eventually):
    @kind("held")
    async def held(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[held], workers=1) as press:
        running, queued = await press.submit("held"), await press.submit("held")
        await eventually(lambda: gate.came)

        for job in (running, queued):
            with pytest.raises(NotFinished):
                await press.retry(job)
        gate.open()


async def test_a_retry_renders_again_although_the_answer_is_known(anywhere):
    renders = []

    @kind("diagram", cache_for=timedelta(hours=1))
    async def diagram(job, payload):
        renders.append(payload)

    async with Pressroom(anywhere, kinds=[diagram], workers=1) as press:
        job = await press.submit("diagram", "a -> b")
        await press.wait(job)

        again = await press.retry(job)
        await press.wait(again)

    assert again.answer is Answer.NEW
    assert len(renders) == 2


def a_page_that_fails_when_it_is_empty(rendered):
    @kind("page", on_key=OnKey.COALESCE, max_attempts=1)
    async def page(job, payload):
        if not payload:
            raise Transient("nothing to render")
        rendered.append(payload)

    return page


async def test_retrying_an_old_version_never_takes_the_place_of_a_newer_one_that_waits(anywhere):
    rendered = []
    async with Pressroom(anywhere, kinds=[a_page_that_fails_when_it_is_empty(rendered)], workers=1) as press:
        old = await press.submit("page", "", key="/Home")
        await press.wait_until_ended(old)
        await press.pause("page")
        newer = await press.submit("page", "the newest text", key="/Home")

        await press.retry(old)

        assert (await press.get(newer)).payload == "the newest text"
        await press.resume("page")
        await press.wait_until_ended(newer)
    assert rendered == ["the newest text"]


# Q34
async def test_a_periodic_job_is_tried_once_more_and_then_left_to_its_next_tick(anywhere):
    attempts = []

    @kind("audit", max_attempts=2, backoff=AT_ONCE)
    async def audit(job, payload):
        attempts.append(job.attempt)
        raise Transient("GitHub is down")

    async with Pressroom(anywhere, kinds=[audit], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("audit"))

    assert attempts == [1, 2]
    assert ended.status is Status.FAILED


async def test_one_submit_may_ask_for_fewer_attempts_than_its_kind(anywhere):
    @kind("flaky", max_attempts=5, backoff=AT_ONCE)
    async def flaky(job, payload):
        raise Transient("not now")

    async with Pressroom(anywhere, kinds=[flaky], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("flaky", max_attempts=2))

    assert ended.failures == 2


# D12
def test_a_job_that_is_lost_with_its_worker_runs_again_without_being_charged(steps):
    store = steps(shout)
    job = store.submit("shout", "hi")
    store.claim_one(worker="dies", lease=15)

    before = store.rescue()
    store.clock.advance(seconds=15)
    after = store.rescue()

    assert (before, after) == ([], [Status.QUEUED])
    again = store.claim_one()
    assert (again.attempt, again.crashes) == (1, 1)
    assert store.settle(again, Succeeded('"HI"')) is Status.COMPLETED
    assert store.history(job) == ["queued", "started", "lost", "started", "completed"]


def test_a_late_worker_cannot_settle_a_job_that_was_taken_from_it(steps):
    store = steps(shout)
    job = store.submit("shout", "hi")
    slow = store.claim_one(lease=15)
    store.clock.advance(seconds=16)
    store.rescue()
    quick = store.claim_one()

    assert store.settle(slow, GaveUp(ERROR)) is None
    assert store.settle(quick, Succeeded('"HI"')) is Status.COMPLETED
    assert store.settle(slow, Succeeded('"late"')) is None

    assert store.get(job).result == "HI"
    assert endings(store.history(job)) == ["completed"]


def test_a_job_that_takes_its_worker_down_each_time_is_parked(steps):
    @kind("poison", max_crashes=3)
    async def poison(job, payload):
        return None

    store = steps(poison)
    job = store.submit("poison")
    for _ in range(3):
        store.claim_one(lease=15)
        store.clock.advance(seconds=16)
        store.rescue()

    parked = store.get(job)
    assert (parked.status, parked.crashes, parked.failures) == (Status.FAILED, 3, 0)
    assert parked.errors[-1]["code"] == "worker_crash"
    assert store.claim() == []


# Q35
async def test_a_handler_may_be_done_with_errors(anywhere):
    @kind("publish")
    async def publish(job, payload):
        return Partial({"published": 2}, ["draft: nobody approved it"])

    async with Pressroom(anywhere, kinds=[publish], workers=1) as press:
        job = await press.submit("publish")

        assert await press.wait(job) == {"published": 2}
        ended = await press.get(job)

    assert (ended.status, ended.failures) == (Status.COMPLETED_WITH_ERRORS, 0)
    assert ended.errors == [{"attempt": 1, "code": "partial", "message": "draft: nobody approved it"}]
