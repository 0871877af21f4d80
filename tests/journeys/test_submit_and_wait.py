"""A job is submitted, runs in its turn, and whoever waits for it is answered."""

import asyncio
import heapq
import subprocess
import sys
import threading
from contextlib import aclosing, closing
from datetime import timedelta
from random import Random
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressroom import (
    Answer,
    JobFailed,
    NotFound,
    OnKey,
    Pressroom,
    QueueClosed,
    QueueFull,
    Request,
    SourceInvalid,
    Status,
    Tier,
    WaitTimeout,
    kind,
)
from pressroom.delivery.embedded import Embedded
from pressroom.ids import as_uuid
from pressroom.model import Succeeded, from_ms
from pressroom.testing import ManualClock
from pressroom.worker import maintenance
from tests.journeys.stage import Steps, endings


@kind("shout")
async def shout(job, payload):
    return payload.upper()


@kind("plain", max_attempts=1)
def plain(job, payload):
    """A plain function is as welcome as a coroutine."""
    return payload.upper()


@kind("strict")
async def strict(job, payload):
    raise SourceInvalid("a heading needs a space after the #", line=3)


async def test_the_value_that_the_handler_returned_is_what_the_caller_gets(anywhere):
    async with Pressroom(anywhere, kinds=[shout, plain], workers=2) as press:
        from_a_coroutine = await press.submit("shout", "hi")
        from_a_function = await press.submit("plain", "hello")

        assert await press.wait(from_a_coroutine) == "HI"
        assert await press.wait(from_a_function) == "HELLO"


# W8
async def test_there_are_two_tiers_and_a_kind_has_one_by_default(database):
    @kind("view", tier=Tier.INTERACTIVE)
    async def view(job, payload):
        return None

    async with Pressroom(database, kinds=[shout, view], workers=None) as press:
        background = await press.get(await press.submit("shout", "x"))
        interactive = await press.get(await press.submit("view"))
        promoted = await press.get(await press.submit("shout", "x", tier=Tier.INTERACTIVE))

    assert [(tier.name, tier.value) for tier in Tier] == [("INTERACTIVE", 0), ("BACKGROUND", 1)]
    assert [background.tier, interactive.tier, promoted.tier] == [Tier.BACKGROUND, Tier.INTERACTIVE, Tier.INTERACTIVE]


# W9, Q37
async def test_a_job_carries_what_it_was_submitted_with(anywhere):
    payload = {"article": "/wiki/Home", "revision": 2**63 - 1, "markdown": "# Hi\r\n\tthere ✓"}

    async with Pressroom(anywhere, kinds=[shout], workers=None) as press:
        submitted = await press.submit(
            "shout", payload, key="wiki:/Home", org_id="acme", subject="Home", trace={"request": "r1"}
        )
        job = await press.get(submitted)

    assert job.payload == payload
    assert (job.key, job.org_id, job.subject, job.trace) == ("wiki:/Home", "acme", "Home", {"request": "r1"})
    assert (job.status, job.tier, job.version) == (Status.QUEUED, Tier.BACKGROUND, 1)
    assert job.date_created is not None
    assert (job.date_started, job.date_completed) == (None, None)


# W10
async def test_a_job_ends_with_a_value_or_with_an_error_never_with_both(database):
    async with Pressroom(database, kinds=[shout, strict], workers=2) as press:
        good = await press.wait_until_ended(await press.submit("shout", "hi"))
        bad = await press.wait_until_ended(await press.submit("strict"))

    assert (good.status, good.result, good.errors, good.last_error) == (Status.COMPLETED, "HI", [], None)
    assert (bad.status, bad.result) == (Status.FAILED, None)
    assert bad.errors == [
        {"attempt": 1, "code": "source_invalid", "message": "a heading needs a space after the #", "line": 3},
    ]


# W11
async def test_an_interactive_job_runs_before_background_jobs_that_came_earlier(anywhere, gate, eventually):
    ran = []

    @kind("busy")
    async def busy(job, payload):
        await gate.hold()

    @kind("note")
    async def note(job, payload):
        ran.append(payload)

    async with Pressroom(anywhere, kinds=[busy, note], workers=1) as press:
        await press.submit("busy")
        await eventually(lambda: gate.came)
        waiting = [
            await press.submit("note", "bg1"),
            await press.submit("note", "bg2"),
            await press.submit("note", "interactive1", tier=Tier.INTERACTIVE),
        ]

        gate.open()
        for job in waiting:
            await press.wait(job)

    assert ran == ["interactive1", "bg1", "bg2"]


# W12, P3, D1
async def test_concurrent_submitters_are_served_by_tier_and_then_in_the_order_in_which_they_were_accepted(database):
    ran = []

    @kind("note")
    async def note(job, payload):
        ran.append((job.uid, *payload))

    async def submit_ten(press, name):
        dice = Random(name)
        return [await press.submit("note", [name, number], tier=dice.choice(list(Tier))) for number in range(10)]

    async with Pressroom(database, kinds=[note], workers=1) as press:
        await press.pause("note")
        submitted = await asyncio.gather(*(submit_ten(press, name) for name in range(20)))
        accepted = [await press.get(job) for of_one in submitted for job in of_one]
        await press.resume("note")
        for job in accepted:
            await press.wait(job)

    tiers = {job.uid: job.tier for job in accepted}
    assert len({job.seq for job in accepted}) == 200
    assert [uid for uid, *_ in ran] == [job.uid for job in sorted(accepted, key=lambda job: (job.tier, job.seq))]
    for name in range(20):
        for tier in Tier:
            numbers = [number for uid, who, number in ran if who == name and tiers[uid] is tier]
            assert numbers == sorted(numbers)


# W11, W12, D1
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(["interactive", "background", "claim one", "claim three"]), max_size=40))
def test_whatever_comes_between_the_next_job_is_the_best_tier_and_then_the_oldest(story):
    line = []
    with closing(Steps(shout)) as steps:
        for step in story:
            if step.startswith("claim"):
                room = 1 if step == "claim one" else 3
                expected = [heapq.heappop(line) for _ in range(min(room, len(line)))]
                claims = steps.claim(room)
                assert [(claim.tier, claim.seq) for claim in claims] == expected
                for claim in claims:
                    steps.settle(claim, Succeeded("null"))
            else:
                job = steps.submit("shout", tier=Tier[step.upper()])
                heapq.heappush(line, (Tier[step.upper()], job.id))


# W17, W15
async def test_everybody_who_waits_for_a_job_gets_the_same_answer(anywhere, gate):
    @kind("held")
    async def held(job, payload):
        await gate.hold()
        return {"html": "<p>hi</p>"}

    async with Pressroom(anywhere, kinds=[held], workers=1) as press:
        job = await press.submit("held")
        waiters = [asyncio.create_task(press.wait(job)) for _ in range(50)]
        gate.open()
        answers = await asyncio.gather(*waiters)
        late = await press.wait(job)

    assert answers == [{"html": "<p>hi</p>"}] * 50
    assert late == {"html": "<p>hi</p>"}


# W18
async def test_a_waiter_that_went_away_holds_nobody_up(anywhere, gate, eventually):
    @kind("held")
    async def held(job, payload):
        await gate.hold()
        return "done"

    async with Pressroom(anywhere, kinds=[held], workers=1) as press:
        job = await press.submit("held")
        gone = asyncio.create_task(press.wait(job))
        stays = asyncio.create_task(press.wait(job))
        await eventually(lambda: gate.came)

        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        gate.open()

        assert await stays == "done"


# W19
async def test_nobody_has_to_wait_for_a_job(anywhere, eventually):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        job = await press.submit("shout", "hi")

        await eventually(lambda: press.worker.counts.settled == 1)

        assert (await press.get(job)).result == "HI"


# D3
async def test_a_caller_that_gives_up_waiting_changes_nothing(anywhere, gate):
    @kind("held")
    async def held(job, payload):
        await gate.hold()
        return "<p>late but right</p>"

    async with Pressroom(anywhere, kinds=[held], workers=1) as press:
        job = await press.submit("held")
        with pytest.raises(WaitTimeout):
            await press.wait(job, timeout=0.01)

        gate.open()

        assert await press.wait(job) == "<p>late but right</p>"
        assert (await press.get(job)).status is Status.COMPLETED


# W22
@pytest.mark.parametrize("way", ["settled", "watch", "events"])
async def test_what_happens_between_a_look_and_the_wait_for_news_is_not_missed(monkeypatch, way):
    """In memory: there is no other process, so nobody looks for news that was missed."""
    async with Pressroom("sqlite:///:memory:", kinds=[shout], workers=None) as press:
        job = await press.submit("shout", "x")
        seen = (await press.history(job))[-1].id
        plain, looks = press._database.read, []

        async def read(unit):
            found = await plain(unit)
            looks.append(unit)
            if len(looks) == (2 if way == "watch" else 1):  # a watcher looks up the job first
                await press.cancel(job)
            return found

        monkeypatch.setattr(press._database, "read", read)
        async with asyncio.timeout(60):
            if way == "settled":
                assert (await press.wait_until_ended(job)).status is Status.CANCELLED
            else:
                events = press.watch(job, after=seen) if way == "watch" else press.events(after=seen)
                async with aclosing(events):
                    assert (await anext(events)).type == "cancelled"


async def test_a_waiter_may_submit_again_as_soon_as_it_is_told(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:

        async def talkative(text):
            for _ in range(5):
                text = await press.wait(await press.submit("shout", text))
            return text

        assert await asyncio.gather(*(talkative(f"hi {n}") for n in range(10))) == [f"HI {n}" for n in range(10)]


# W22
async def test_a_handler_may_submit_to_the_queue_that_runs_it(anywhere):
    @kind("parent")
    async def parent(job, payload):
        children = await press.submit_many([Request("shout", text, parent=job.uid) for text in payload])
        return [str(child) for child in children]

    async with Pressroom(anywhere, kinds=[parent, shout], workers=1) as press:
        job = await press.submit("parent", ["a", "b"])
        children = await press.wait(job)

        assert [await press.wait(child) for child in children] == ["A", "B"]
        assert {str(child) for child in (await press.list(parent=job)).jobs} == set(children)


async def test_a_list_by_key_and_parent_is_of_jobs_that_have_both(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None) as press:
        first, second = [await press.submit("shout", "parent") for _ in range(2)]
        for parent in (first, second):
            await press.submit("shout", "child", key=f"of {parent}", parent=parent)
        child = await press.submit("shout", "child", key="shared", parent=first)

        assert [str(job) for job in (await press.list(key="shared", parent=first)).jobs] == [str(child)]
        assert (await press.list(key="shared", parent=second)).jobs == []


# W21
async def test_a_submit_wakes_an_idle_worker_without_its_having_to_look(anywhere, monkeypatch):
    monkeypatch.setattr(maintenance, "ANNOUNCE_INTERVAL", 3600)
    async with Pressroom(anywhere, kinds=[shout], workers=2, lease=3600, poll_interval=60) as press:
        for text in ("one", "two", "three"):
            assert await press.wait(await press.submit("shout", text), timeout=50) == text.upper()


# W21
async def test_an_idle_worker_looks_now_and_then_but_never_writes(database, eventually, monkeypatch):
    async with Pressroom(database, kinds=[shout], workers=2, lease=3600, poll_interval=0.002) as press:
        await press.wait(await press.submit("shout", "hi"))
        writes, reads = [], []
        run, read = press._database.run, press._database.read
        monkeypatch.setattr(press._database, "run", lambda unit, **names: writes.append(names["name"]) or run(unit, **names))
        monkeypatch.setattr(press._database, "read", lambda unit: reads.append(unit) or read(unit))
        await eventually(lambda: len(reads) > 20)
        writes.clear()

        await eventually(lambda: len(reads) > 60)

        assert "turn" not in writes


# W21
async def test_the_signal_that_work_waits_is_a_latch_of_one():
    delivery = Embedded()
    for _ in range(3):
        delivery.announce(())

    heard = [await delivery.wait_for_work(timeout=0.01) for _ in range(2)]

    assert heard == [True, False]


# W21
async def test_waiting_for_the_signal_can_be_cancelled():
    delivery = Embedded()
    waiting = asyncio.create_task(delivery.wait_for_work(timeout=60))
    await asyncio.sleep(0)

    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_job_dated_in_the_future_waits_for_its_time_and_holds_nobody_up(anywhere):
    clock = ManualClock()
    async with Pressroom(anywhere, kinds=[shout], workers=1, clock=clock, poll_interval=0.01) as press:
        delayed = await press.submit("shout", "delayed", delay=timedelta(minutes=1), tier=Tier.INTERACTIVE)
        dated = await press.submit("shout", "dated", run_at=from_ms(clock.now_ms() + 120_000))

        assert await press.wait(await press.submit("shout", "now")) == "NOW"
        assert [(await press.get(job)).status for job in (delayed, dated)] == [Status.QUEUED] * 2
        clock.advance(minutes=1)
        assert await press.wait(delayed) == "DELAYED"
        assert (await press.get(dated)).status is Status.QUEUED
        clock.advance(minutes=1)
        assert await press.wait(dated) == "DATED"


# D11
async def test_jobs_really_run_side_by_side(anywhere):
    together = asyncio.Barrier(4)
    in_threads = threading.Barrier(4, timeout=60)

    @kind("meet", tier=Tier.INTERACTIVE)
    async def meet(job, payload):
        await together.wait()

    @kind("meet_in_threads", tier=Tier.INTERACTIVE)
    def meet_in_threads(job, payload):
        in_threads.wait()

    async with Pressroom(anywhere, kinds=[meet, meet_in_threads], workers=4) as press:
        for name in ("meet", "meet_in_threads"):
            jobs = await press.submit_many([Request(name)] * 4)
            for job in jobs:
                await press.wait(job, timeout=60)


async def test_background_work_leaves_one_slot_for_somebody_who_waits(anywhere, gate, eventually):
    @kind("bulk")
    async def bulk(job, payload):
        await gate.hold(payload)

    async with Pressroom(anywhere, kinds=[bulk, shout], workers=3) as press:
        await press.submit_many([Request("bulk", number) for number in range(6)])
        await eventually(lambda: len(gate.came) == 2)

        answer = await press.wait(await press.submit("shout", "quick", tier=Tier.INTERACTIVE))

        assert answer == "QUICK"
        assert gate.came == [0, 1]
        gate.open()


async def test_a_single_slot_is_reserved_for_nobody(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        assert await press.wait(await press.submit("shout", "bulk", tier=Tier.BACKGROUND)) == "BULK"


async def test_a_full_queue_refuses_before_any_id_is_given(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=2) as press:
        first = await press.submit("shout", "one")
        second = await press.submit("shout", "two")

        with pytest.raises(QueueFull) as refused:
            await press.submit("shout", "three")
        with pytest.raises(QueueFull):
            await press.submit_many([Request("shout", "three"), Request("shout", "four")])

        assert refused.value.retry_after > 0
        assert refused.value.code == "queue_full"
        assert (await press.stats()).queued == 2
        await press.cancel(first)
        assert (await press.submit("shout", "three")).id == second.id + 1


async def test_jobs_that_other_processes_submit_count_towards_the_limit(database):
    """They are counted again after every hundredth part of the limit: it is passed by that much at most."""
    async with (
        Pressroom(database, kinds=[shout], workers=None, max_queued=200) as one,
        Pressroom(database, kinds=[shout], workers=None, max_queued=200) as other,
    ):
        await one.submit("shout", "the first: the queue is counted")
        await other.submit_many([Request("shout", str(n)) for n in range(199)])

        for n in range(200 // 100):
            await one.submit("shout", str(n))
        with pytest.raises(QueueFull):
            await one.submit("shout", "one too many")

        assert (await one.stats()).queued == 200 + 200 // 100


async def test_many_submits_at_once_fill_the_queue_exactly_to_its_limit(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=10) as press:
        answers = await asyncio.gather(*(press.submit("shout", str(n)) for n in range(40)), return_exceptions=True)

        assert sum(isinstance(answer, QueueFull) for answer in answers) == 30
        assert (await press.stats()).queued == 10


async def test_a_submitter_that_gives_up_takes_nobody_along_who_submits_at_the_same_time(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None) as press:
        first, second, third = (asyncio.create_task(press.submit("shout", str(n))) for n in range(3))
        await asyncio.sleep(0)  # the three are to be one unit of work
        first.cancel()

        async with asyncio.timeout(60):
            answers = await asyncio.gather(first, second, third, return_exceptions=True)

        assert isinstance(answers[0], asyncio.CancelledError)
        assert [(await press.get(answer)).payload for answer in answers[1:]] == ["1", "2"]


async def test_a_full_queue_still_accepts_what_needs_no_new_place(anywhere):
    @kind("page", on_key=OnKey.COALESCE)
    async def page(job, payload):
        return payload

    @kind("probe", on_key=OnKey.SKIP)
    async def probe(job, payload):
        return payload

    @kind("diagram", cache_for=timedelta(hours=1))
    async def diagram(job, payload):
        return payload

    async with Pressroom(anywhere, kinds=[page, probe, diagram], workers=1, max_queued=3) as press:
        await press.wait(await press.submit("diagram", "known"))
        for name in ("page", "probe", "diagram"):
            await press.pause(name)
        await press.submit("page", 1, key="p")
        await press.submit("probe", 1, key="q")
        await press.submit("diagram", "new")

        coalesced = await press.submit("page", 2, key="p")
        skipped = await press.submit("probe", 2, key="q")
        hit = await press.submit("diagram", "known")
        joined = await press.submit("diagram", "new")

        answers = [coalesced.answer, skipped.answer, hit.answer, joined.answer]
        assert answers == [Answer.COALESCED, Answer.SKIPPED, Answer.HIT, Answer.JOINED]
        with pytest.raises(QueueFull):
            await press.submit("diagram", "another")


async def test_a_paused_kind_is_accepted_but_not_run_until_it_is_resumed(anywhere, gate, eventually):
    @kind("held")
    async def held(job, payload):
        await gate.hold()

    async with Pressroom(anywhere, kinds=[held, shout], workers=3) as press:
        running = await press.submit("held")
        await eventually(lambda: gate.came)

        await press.pause("held")
        waiting = await press.submit("held")
        other = await press.submit("shout", "goes on")
        assert await press.wait(other) == "GOES ON"
        gate.open()
        await press.wait(running)

        assert (await press.stats()).paused == ["held"]
        assert (await press.get(waiting)).status is Status.QUEUED
        await press.resume("held")
        await press.wait(waiting)


# Q5, Q37
async def test_a_job_is_found_by_any_of_its_spellings_with_its_status_phase_progress_errors_and_dates(
    anywhere, gate, eventually
):
    @kind("build")
    async def build(job, payload):
        await job.phase("inventory", total=4)
        await gate.hold()

    async with Pressroom(anywhere, kinds=[build], workers=1) as press:
        submitted = await press.submit("build")
        await eventually(lambda: gate.came)
        uid = submitted.uid
        looked_up = [await press.get(name) for name in (f"job_{uid}", uid, uid.lower(), str(as_uuid(uid)), as_uuid(uid).hex)]
        running = looked_up[0]
        gate.open()
        ended = await press.wait_until_ended(submitted)

    assert {job.id for job in looked_up} == {submitted.id}
    assert (running.status, running.phase, running.progress) == (Status.IN_PROGRESS, "inventory", {"done": 0, "total": 4})
    assert running.date_created <= running.date_started
    assert running.date_completed is None
    assert ended.status is Status.COMPLETED
    assert ended.date_created <= ended.date_started <= ended.date_completed


# Q5
def test_the_six_states_have_the_names_of_the_design():
    assert [*Status] == ["queued", "in_progress", "completed", "completed_with_errors", "failed", "cancelled"]


# I9, Q37
@pytest.mark.parametrize("unknown", ["job_00000000", "nonsense", "", "job_01JD0000000000000000000000", str(UUID(int=7))])
async def test_an_id_that_names_no_job_is_not_found(database, unknown):
    async with Pressroom(database, kinds=[shout], workers=None) as press:
        for ask in (press.get, press.wait, press.cancel, press.retry):
            with pytest.raises(NotFound):
                await ask(unknown)


# I9
async def test_the_job_store_creates_gets_and_hands_out_pending_jobs_in_order(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None) as press:
        created = [await press.submit("shout", str(number)) for number in range(3)]

        assert all(str(job).startswith("job_") and as_uuid(job.uid).version == 7 for job in created)
        assert [(await press.get(job)).payload for job in created] == ["0", "1", "2"]
        waiting = (await press.list(status=Status.QUEUED)).jobs
        assert [job.uid for job in reversed(waiting)] == [job.uid for job in created]


async def test_watching_a_job_misses_nothing_and_ends_with_its_ending(anywhere, gate):
    @kind("press")
    async def press_it(job, payload):
        await job.phase("plates", total=2)
        await job.step()
        await gate.hold()
        await job.items("sheets", ["a", "b"])
        async with job.item("a"):
            pass
        async with job.item("b"):
            pass

    async with Pressroom(anywhere, kinds=[press_it], workers=1) as press:
        job = await press.submit("press")
        seen = []
        async for event in press.watch(job):
            seen.append(event)
            if event.type == "progress":
                gate.open()
        history = [event async for event in press.watch(job)]

    assert seen == history
    assert [event.id for event in seen] == sorted({event.id for event in seen})
    assert [event.type for event in seen] == [
        *("queued", "started", "phase", "progress"),
        *("phase", "item", "item", "completed"),
    ]
    assert endings(event.type for event in seen) == ["completed"]


async def test_a_history_of_more_events_than_are_read_at_once_is_watched_whole(anywhere):
    names = [f"part-{number}" for number in range(700)]

    @kind("parts", timeout=None)
    async def parts(job, payload):
        await job.items("parts", names)
        await asyncio.gather(*map(job.item_completed, names))

    async with Pressroom(anywhere, kinds=[parts], workers=1) as press:
        job = await press.submit("parts")

        live = [event async for event in press.watch(job)]
        later = [event async for event in press.watch(job)]

    assert live == later
    assert [event.data["name"] for event in live if event.type == "item"] == names


async def test_a_watcher_that_was_cut_off_goes_on_after_the_last_event_it_saw(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        job = await press.submit("shout", "hi")
        whole = [event async for event in press.watch(job)]

        for number, event in enumerate(whole[:-1], start=1):
            assert [later async for later in press.watch(job, after=event.id)] == whole[number:]


async def test_watching_from_after_the_ending_ends_at_once(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        job = await press.submit("shout", "hi")
        whole = [event async for event in press.watch(job)]

        async with asyncio.timeout(60):
            assert [event async for event in press.watch(job, after=whole[-1].id)] == []


async def test_the_stream_of_all_jobs_resumes_after_the_event_that_was_seen_last(anywhere):
    async def take(press, count, after):
        async with aclosing(press.events(after=after)) as stream:
            return [await anext(stream) for _ in range(count)]

    async with Pressroom(anywhere, kinds=[shout], workers=2) as press:
        for text in ("one", "two", "three"):
            await press.wait(await press.submit("shout", text))

        whole = await take(press, 9, after=0)
        rest = await take(press, 5, after=whole[3].id)

    assert rest == whole[4:]
    assert [event.type for event in whole].count("completed") == 3


async def test_the_stream_of_all_jobs_begins_now_unless_told_otherwise(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        await press.wait(await press.submit("shout", "before"))
        await press.pause("shout")  # so that nothing happens but what we do, whenever the stream begins
        async with aclosing(press.events()) as stream:
            first = asyncio.create_task(anext(stream))
            while not first.done():
                await press.submit("shout", "after")

            assert (await first).type == "queued"


# W24
async def test_when_a_render_fails_every_waiter_hears_why(anywhere):
    async with Pressroom(anywhere, kinds=[strict], workers=1) as press:
        await press.pause("strict")
        job = await press.submit("strict")
        waiters = [asyncio.create_task(press.wait(job)) for _ in range(10)]
        await press.resume("strict")
        answers = await asyncio.gather(*waiters, return_exceptions=True)

    assert all(isinstance(answer, JobFailed) for answer in answers)
    assert {answer.error["message"] for answer in answers} == {"a heading needs a space after the #"}
    assert {answer.error["line"] for answer in answers} == {3}


def test_a_plain_function_that_hands_back_a_coroutine_may_report_progress_from_it(database):
    """Decorated handlers look like this: the wrapper is a plain function, and what it returns is awaited.

    In a process of its own, because where it goes wrong the event loop stands still.
    """
    story = f"""
import asyncio
from pressroom import Pressroom, kind

async def work(job, payload):
    await job.phase("working", total=1)
    await job.step()
    return "done"

@kind("wrapped")
def wrapped(job, payload):
    return work(job, payload)

async def main():
    async with Pressroom({database!r}, kinds=[wrapped], workers=1) as press:
        job = await press.wait_until_ended(await press.submit("wrapped"))
        print(job.result, job.phase, job.progress)

asyncio.run(main())
"""

    told = subprocess.run([sys.executable, "-c", story], capture_output=True, text=True, timeout=300, check=True).stdout

    assert told.strip() == "done working {'done': 1, 'total': 1}"


async def test_a_kind_may_be_named_by_itself(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=1) as press:
        assert await press.wait(await press.submit(shout, "hi"), timeout=60) == "HI"
        (many,) = await press.submit_many([Request(shout, "many")])
        assert await press.wait(many, timeout=60) == "MANY"


@pytest.mark.parametrize("call", ["submit", "get", "list", "stats", "cancel", "retry", "pause", "preview"])
async def test_a_queue_that_is_not_open_yet_says_so(file, call):
    press = Pressroom(file, kinds=[shout], workers=1)
    arguments = {"list": (), "stats": (), "submit": ("shout",), "preview": ("dot", "digraph { a }", "svg")}
    of_a_job = ("job_01KA4ZC5Q6T9E0V8W2M7N3P1RS",)

    with pytest.raises(QueueClosed):
        await getattr(press, call)(*arguments.get(call, of_a_job))


async def test_after_it_has_stopped_a_queue_previews_nothing(file):
    async with Pressroom(file, workers=None) as press:
        pass

    with pytest.raises(QueueClosed):
        await press.preview("dot", "digraph { a }", "svg")


async def test_of_many_submits_only_those_that_wait_are_announced(file, monkeypatch):
    """A cache hit has nothing to announce: a worker that is told looks for nothing."""
    announced = []
    cached = kind("cached", cache_for=timedelta(hours=1))(shout.handler)
    async with Pressroom(file, kinds=[cached], workers=1) as press:
        await press.wait(await press.submit("cached", "hi"), timeout=60)
        monkeypatch.setattr(press._delivery, "announce", lambda jobs: announced.append(list(jobs)))

        hit, new = await press.submit_many([Request("cached", "hi"), Request("cached", "other")])

        assert (hit.answer, new.answer) == (Answer.HIT, Answer.NEW)
        assert announced == [[new]]


async def test_a_unit_that_fails_in_its_first_step_fails_alone(database):
    """Once, it ended the thread that writes, and with it every later submit."""

    def unit():
        raise ZeroDivisionError
        yield

    async with Pressroom(database, kinds=[shout], workers=1) as press:
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(press._database.run(unit, name="submit", shared_lock=True), 60)

        assert await press.wait(await press.submit("shout", "on"), timeout=60) == "ON"
