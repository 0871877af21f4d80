"""What a running job tells about itself: phases, steps, and named parts that succeed or fail on their own."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressroom import Backoff, Pressroom, SourceInvalid, Status, Transient, kind
from pressroom.errors import ClaimLost, InvalidArgument
from pressroom.model import Succeeded
from pressroom.store.jobs import progress
from pressroom.worker import context


@kind("build")
async def build(job, payload):
    return None


# Q6, Q7
async def test_each_phase_has_a_name_and_starts_its_progress_anew(anywhere):
    shown = []

    @kind("docs")
    async def docs(job, payload):
        for phase in ("inventory", "tracking", "editions", "dashboard"):
            await job.phase(phase, total=5)
            await job.progress(3)
            await job.phase(f"{phase} done")
            shown.append(await press.get(job.uid))

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        job = await press.submit("docs")
        await press.wait(job)
        phases = [event.data for event in [event async for event in press.watch(job)] if event.type == "phase"]

    assert [look.phase for look in shown] == [f"{phase} done" for phase in ("inventory", "tracking", "editions", "dashboard")]
    assert [look.progress for look in shown] == [{}] * 4
    assert phases[0] == {"phase": "inventory", "done": 0, "total": 5}
    assert phases[2] == {"phase": "tracking", "done": 0, "total": 5}


# Q11
async def test_a_phase_may_carry_a_message(anywhere):
    shown = []

    @kind("docs")
    async def docs(job, payload):
        await job.phase("inventory", message="listing objects")
        shown.append(await press.get(job.uid))
        await job.message("1,204 objects")

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        job = await press.submit("docs")
        await press.wait(job)
        ended = await press.get(job)

    assert shown[0].progress == {"message": "listing objects"}
    assert ended.progress == {"message": "1,204 objects"}


# Q8, Q10
async def test_named_parts_are_all_in_progress_at_first_and_move_one_by_one(anywhere):
    shown = []

    @kind("docs")
    async def docs(job, payload):
        await job.items("editions", ["main", "v2", "draft"], phase="editions")
        shown.append(await press.get(job.uid))
        await job.item_completed("v2")
        await job.item_failed("draft", "nobody approved it")
        shown.append(await press.get(job.uid))
        await job.item_completed("main")

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        await press.wait_until_ended(await press.submit("docs"))

    assert shown[0].phase == "editions"
    assert shown[0].progress == {
        "editions_total": 3,
        "editions_completed": [],
        "editions_failed": [],
        "editions_in_progress": ["main", "v2", "draft"],
    }
    assert shown[1].progress == {
        "editions_total": 3,
        "editions_completed": ["v2"],
        "editions_failed": [{"slug": "draft", "error": "nobody approved it"}],
        "editions_in_progress": ["main"],
    }


# Q9
async def test_fifty_parts_that_finish_at_once_are_all_counted(anywhere):
    names = [f"edition-{number}" for number in range(50)]

    @kind("docs")
    async def docs(job, payload):
        await job.items("editions", names)
        await asyncio.gather(*(finish(job, number, name) for number, name in enumerate(names)))

    async def finish(job, number, name):
        if number % 5 == 0:
            await job.item_failed(name, "no")
        else:
            await job.item_completed(name)

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("docs"))

    told = ended.progress
    assert told["editions_total"] == 50
    assert told["editions_completed"] == [name for number, name in enumerate(names) if number % 5]
    assert [failed["slug"] for failed in told["editions_failed"]] == names[::5]
    assert told["editions_in_progress"] == []


# Q9
async def test_fifty_parts_that_finish_in_as_many_threads_are_all_counted(anywhere):
    names = [f"edition-{number}" for number in range(50)]

    @kind("docs")
    def docs(job, payload):
        job.items("editions", names)
        together = threading.Barrier(50)

        def finish(name):
            together.wait()
            job.item_completed(name)

        with ThreadPoolExecutor(50) as threads:
            list(threads.map(finish, names))

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("docs"))

    assert ended.status is Status.COMPLETED
    assert ended.progress["editions_completed"] == names


# Q12
async def test_a_part_is_completed_when_its_block_ends_and_failed_when_it_raises_and_the_error_goes_on(anywhere):
    gathered = []

    @kind("docs")
    async def docs(job, payload):
        await job.items("editions", ["main", "v2", "draft"])

        async def update(name):
            async with job.item(name):
                if name == "draft":
                    raise SourceInvalid("nobody approved it")
                if name == "v2":
                    raise RuntimeError("hunter2")

        gathered.extend(await asyncio.gather(*map(update, ["main", "v2", "draft"]), return_exceptions=True))
        return "published"

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("docs"))

    assert [type(result) for result in gathered] == [type(None), RuntimeError, SourceInvalid]
    assert ended.progress["editions_completed"] == ["main"]
    assert ended.progress["editions_failed"] == [
        {"slug": "v2", "error": "RuntimeError"},
        {"slug": "draft", "error": "nobody approved it"},
    ]


# Q12
async def test_a_plain_function_has_the_same_blocks(anywhere):
    @kind("docs")
    def docs(job, payload):
        job.items("editions", ["main", "draft"])
        with job.item("main"):
            pass
        with pytest.raises(SourceInvalid), job.item("draft"):
            raise SourceInvalid("nobody approved it")

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("docs"))

    assert ended.progress["editions_completed"] == ["main"]
    assert ended.progress["editions_failed"] == [{"slug": "draft", "error": "nobody approved it"}]


# Q35
async def test_parts_that_failed_do_not_fail_the_job_but_are_recorded(anywhere):
    @kind("docs", max_attempts=3)
    async def docs(job, payload):
        await job.items("editions", ["main", "draft"])
        await job.item_completed("main")
        await job.item_failed("draft", "nobody approved it")
        return "published"

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        job = await press.submit("docs")

        assert await press.wait(job) == "published"
        ended = await press.get(job)
        types = [event.type async for event in press.watch(job)]

    assert (ended.status, ended.failures) == (Status.COMPLETED_WITH_ERRORS, 0)
    assert ended.last_error == "draft: nobody approved it"
    assert types[-1] == "completed_with_errors"
    assert types.count("started") == 1


# Q35
async def test_parts_that_failed_in_an_earlier_attempt_do_not_count_against_a_later_one(anywhere):
    @kind("docs", max_attempts=2, backoff=Backoff(base=0, jitter=0))
    async def docs(job, payload):
        await job.items("editions", ["main"])
        if job.attempt == 1:
            await job.item_failed("main", "no")
            raise Transient("again")
        await job.item_completed("main")

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("docs"))

    assert ended.status is Status.COMPLETED
    assert ended.progress["editions_completed"] == ["main"]
    assert ended.progress["editions_failed"] == []


async def test_a_part_is_moved_once_and_only_if_it_was_begun(anywhere):
    refused = []

    @kind("docs")
    async def docs(job, payload):
        await job.items("editions", ["main"])
        await job.item_completed("main")
        for name in ("main", "unheard of"):
            try:
                await job.item_completed(name)
            except InvalidArgument as reason:
                refused.append(str(reason))

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("docs"))

    assert len(refused) == 2
    assert ended.progress["editions_completed"] == ["main"]


async def test_two_parts_of_one_name_are_refused(anywhere):
    @kind("docs", max_attempts=1)
    async def docs(job, payload):
        await job.items("editions", ["main", "main"])

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("docs"))

    assert ended.last_error == "two of the editions have the same name"


async def test_the_last_progress_is_shown_although_it_came_right_after_another(anywhere, monkeypatch):
    monkeypatch.setattr(context, "WRITE_INTERVAL", 60)  # however slowly the machine counts

    @kind("count")
    async def count(job, payload):
        await job.phase("counting", total=1000)
        for _ in range(1000):
            await job.step()

    async with Pressroom(anywhere, kinds=[count], workers=1) as press:
        job = await press.submit("count")
        await press.wait(job)
        ended = await press.get(job)
        told = [event.data["done"] for event in [event async for event in press.watch(job)] if event.type == "progress"]

    assert ended.progress == {"done": 1000, "total": 1000}
    assert told[-1] == 1000
    assert len(told) < 100, "progress is for eyes, and is not written a thousand times"


calls = st.lists(
    st.one_of(
        st.tuples(st.just("progress"), st.integers(-5, 30)),
        st.tuples(st.just("step"), st.integers(-3, 8)),
    ),
    max_size=12,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 20), calls)
def test_progress_never_goes_back_and_never_past_its_total(total, story):
    @kind("count")
    async def count(job, payload):
        await job.phase("counting", total=total)
        for verb, number in story:
            await getattr(job, verb)(number)

    async def watch():
        async with Pressroom("sqlite:///:memory:", kinds=[count], workers=1) as press:
            return [event.data async for event in press.watch(await press.submit("count"))]

    with patch.object(context, "WRITE_INTERVAL", 0):  # every call is written, and none is skipped for coming early
        told = [data["done"] for data in asyncio.run(watch()) if "done" in data]

    assert len(told) == 1 + len(story)
    assert told == sorted(told)
    assert all(0 <= done <= total for done in told)


# D30, Q9
def test_a_worker_that_lost_its_job_can_tell_nothing_more_about_it(steps):
    store = steps(build)
    job = store.submit("build")
    late = store.claim_one(lease=15)
    store.run(progress.begin_items(late.id, late.token, "editions", "editions", ["main"], None))
    store.clock.advance(seconds=16)
    store.rescue()
    quick = store.claim_one()
    store.run(progress.begin_items(quick.id, quick.token, "editions", "editions", ["main"], None))

    with pytest.raises(ClaimLost):
        store.run(progress.move_item(late.id, late.token, "editions", "main", "failed", "too late"))
    with pytest.raises(ClaimLost):
        store.run(progress.save_progress(late.id, late.token, {"done": 99}))
    with pytest.raises(ClaimLost):
        store.run(progress.begin_phase(late.id, late.token, "late", {}))

    assert store.get(job).progress["editions_in_progress"] == ["main"]
    assert store.settle(quick, Succeeded("null")) is Status.COMPLETED


def test_whatever_order_the_parts_finish_in_none_is_lost(steps):
    store = steps(build)
    job = store.submit("build")
    claim = store.claim_one()
    names = [f"edition-{number}" for number in range(30)]
    store.run(progress.begin_items(claim.id, claim.token, "editions", "editions", names, None))

    for name in reversed(names):
        store.run(progress.move_item(claim.id, claim.token, "editions", name, "completed", None))
        told = store.get(job).progress
        parts = (told["editions_completed"], told["editions_failed"], told["editions_in_progress"])
        assert sum(map(len, parts)) == told["editions_total"] == 30

    assert store.get(job).progress["editions_completed"] == names


async def test_a_phase_of_parts_may_be_begun_again_within_one_attempt(anywhere):
    @kind("docs", max_attempts=1)
    async def docs(job, payload):
        for _ in range(2):
            await job.items("editions", ["main", "v2"])
            await job.item_completed("main")

    async with Pressroom(anywhere, kinds=[docs], workers=1) as press:
        ended = await press.wait_until_ended(await press.submit("docs"))

    assert ended.status is Status.COMPLETED
    assert ended.progress["editions_in_progress"] == ["v2"]
