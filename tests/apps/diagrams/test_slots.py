"""A few may render, some may wait, the rest is told to come back (P5, P6, P18, D11, D14, X3)."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pressroom.errors import Backpressure
from pressroom.submission.fair_slots import FairSlots, RenderWaiters
from tests.apps.diagrams.conftest import Easel, Staging, ended


async def taking(slots: FairSlots, order: list[int], number: int, until: asyncio.Event) -> None:
    async with slots.hold_slot():
        order.append(number)
        await until.wait()


# P18
async def test_a_free_slot_is_granted_at_once_and_the_rest_waits_first_in_first_out() -> None:
    slots, order, done = FairSlots(2, 2), [], asyncio.Event()
    tasks = [asyncio.create_task(taking(slots, order, number, done)) for number in range(4)]
    await asyncio.sleep(0)

    assert (order, slots.free, slots.waiting) == ([0, 1], 0, 2)
    done.set()
    await asyncio.gather(*tasks)

    assert (order, slots.free, slots.waiting) == ([0, 1, 2, 3], 2, 0)


# P6, P18
async def test_with_no_slot_and_no_waiting_room_it_is_a_backpressure_error() -> None:
    slots, order, done = FairSlots(1, 1), [], asyncio.Event()
    tasks = [asyncio.create_task(taking(slots, order, number, done)) for number in range(2)]
    await asyncio.sleep(0)

    with pytest.raises(Backpressure, match="BackpressureError"):
        async with slots.hold_slot():
            pass
    done.set()
    await asyncio.gather(*tasks)
    assert slots.free == 1


# P5, P18
async def test_a_slot_is_given_back_after_an_error_and_by_one_who_gave_up_waiting() -> None:
    slots, order, done = FairSlots(1, 5), [], asyncio.Event()
    with pytest.raises(RuntimeError):
        async with slots.hold_slot():
            raise RuntimeError
    first, gives_up, last = (asyncio.create_task(taking(slots, order, number, done)) for number in range(3))
    await asyncio.sleep(0)

    gives_up.cancel()
    await asyncio.sleep(0)
    assert slots.waiting == 1
    done.set()
    await asyncio.gather(first, last)

    assert (order, slots.free) == ([0, 2], 1)


# P18
async def test_one_who_gives_up_in_the_moment_of_getting_a_slot_does_not_keep_it() -> None:
    slots, order, done = FairSlots(1, 5), [], asyncio.Event()
    done.set()
    async with slots.hold_slot():
        unlucky = asyncio.create_task(taking(slots, order, 1, done))
        await asyncio.sleep(0)
    # The slot was handed on, and the unlucky one has not run since.
    assert (slots.free, slots.waiting, order) == (0, 0, [])
    unlucky.cancel()
    await asyncio.gather(unlucky, return_exceptions=True)

    assert order == []
    assert slots.free == 1


async def taking_for(slots: FairSlots, order: list[str], org_id: str, until: asyncio.Event) -> None:
    async with slots.hold_slot(org_id):
        order.append(org_id)
        await until.wait()


async def served(slots: FairSlots, orgs: str) -> str:
    """In which order these organisations are given a slot, each of which is given back at once but the first."""
    order: list[str] = []
    first, rest = asyncio.Event(), asyncio.Event()
    rest.set()
    tasks = [asyncio.create_task(taking_for(slots, order, org, rest if n else first)) for n, org in enumerate(orgs)]
    await asyncio.sleep(0)
    first.set()
    await asyncio.gather(*tasks)
    return "".join(order)


async def test_organisations_take_turns_for_a_slot() -> None:
    assert await served(FairSlots(1, 50), "aaaaabbc") == "abcabaaa"
    assert await served(FairSlots(1, 50), "aaaa") == "aaaa"


async def test_a_slot_goes_to_the_organisation_that_holds_fewest() -> None:
    slots, order = FairSlots(4, 50), list[str]()
    ends = [asyncio.Event() for _ in range(7)]
    tasks = [asyncio.create_task(taking_for(slots, order, org, end)) for org, end in zip("aaaaabb", ends, strict=True)]
    await asyncio.sleep(0)
    for end in ends[:2]:
        end.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    assert order == list("aaaabb")  # and not a's fifth, which came first
    for end in ends:
        end.set()
    await asyncio.gather(*tasks)
    assert (slots.free, slots.waiting) == (4, 0)


async def test_an_organisation_below_its_share_may_wait_in_a_full_room() -> None:
    slots, order, done = FairSlots(1, 4), list[str](), asyncio.Event()
    tasks = [asyncio.create_task(taking_for(slots, order, org, done)) for org in "aaaaa" + "bbb" + "a" + "cc"]
    await asyncio.sleep(0)

    assert slots.waiting == 4 + 2 + 1
    refused = [task for task in tasks if task.done()]
    assert [tasks.index(task) for task in refused] == [7, 8, 10]
    done.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(task.exception(), Backpressure) for task in refused)
    assert (slots.free, slots.waiting) == (1, 0)


async def test_with_no_waiting_room_no_organisation_has_a_share_of_it() -> None:
    slots, order, done = FairSlots(1, 0), list[str](), asyncio.Event()
    holder = asyncio.create_task(taking_for(slots, order, "a", done))
    await asyncio.sleep(0)

    with pytest.raises(Backpressure):
        async with slots.hold_slot("b"):
            pass
    done.set()
    await holder


def test_an_organisation_below_its_share_may_wait_for_a_render() -> None:
    waiters = RenderWaiters(2)
    with waiters.reserve_place("a1", "a"), waiters.reserve_place("a2", "a"):
        with waiters.reserve_place("b1", "b"), pytest.raises(Backpressure), waiters.reserve_place("b2", "b"):
            pass
        with pytest.raises(Backpressure), waiters.reserve_place("a3", "a"):
            pass
    with waiters.reserve_place("a3", "a"), waiters.reserve_place("a4", "a"):
        pass


def test_places_that_were_left_count_against_no_organisation() -> None:
    waiters = RenderWaiters(2)
    with waiters.reserve_place("a1", "a"), waiters.reserve_place("a2", "a"):
        pass
    with waiters.reserve_place("b1", "b"), waiters.reserve_place("b2", "b"), waiters.reserve_place("a3", "a"):
        pass


def test_whoever_waits_for_the_same_render_takes_no_further_place() -> None:
    waiters = RenderWaiters(1)
    with waiters.reserve_place("a"), waiters.reserve_place("a"), pytest.raises(Backpressure), waiters.reserve_place("b"):
        pass
    with waiters.reserve_place("b"):
        pass


# P6
async def test_queue_full_marks_the_job_failed_with_a_backpressure_error_and_the_rest_goes_on(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged(workers=8, diagrams={"max_concurrent": 1, "max_waiting": 1}) as stage:
        answers = [await stage.http.post("/render?format=dot", content=f"digraph {{ {n} }}") for n in range(4)]
        await eventually(lambda: len(easel.drew) == 1)
        full = [await ended(stage, answer) for answer in answers[2:]]
        easel.release()
        fine = [await ended(stage, answer) for answer in answers[:2]]

        assert [told["status"] for told in full] == ["failed", "failed"]
        assert all(told["error"].startswith("BackpressureError") and told["code"] == "backpressure" for told in full)
        assert [told["status"] for told in fine] == ["completed", "completed"]
        assert stage.press.app("diagrams").diagrams.slots.free == 1


# D11
async def test_as_many_async_jobs_are_rendered_at_once_as_there_are_slots(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged(workers=5, diagrams={"max_concurrent": 3, "max_waiting": 50}) as stage:
        answers = [await stage.http.post("/render?format=dot", content=f"digraph {{ {n} }}") for n in range(9)]
        await eventually(lambda: easel.together == 3)
        easel.release()
        assert {(await ended(stage, answer))["status"] for answer in answers} == {"completed"}

        assert easel.most_together == 3


# X3
async def test_in_mode_sync_a_full_queue_is_a_429_with_retry_after_and_no_job(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged(workers=4, diagrams={"max_concurrent": 1, "max_waiting": 1}) as stage:
        waiting = [
            asyncio.create_task(stage.http.post("/render?format=dot&mode=sync", content=f"digraph {{ {n} }}")) for n in range(2)
        ]
        await eventually(lambda: stage.press.app("diagrams").diagrams.slots.waiting == 1)

        refused = await stage.http.post("/render?format=dot&mode=sync", content="digraph { one too many }")
        assert (refused.status_code, refused.json()["code"]) == (429, "backpressure")
        assert refused.headers["retry-after"] == "5"
        assert len((await stage.press.list()).jobs) == 2

        easel.release()
        assert [(await answer).status_code for answer in waiting] == [200, 200]
        later = await stage.http.post("/render?format=dot&mode=sync", content="digraph { one too many }")
        assert later.status_code == 200


# X3
async def test_a_line_of_async_jobs_is_a_full_queue_too(staged: Staging, easel: Easel) -> None:
    async with staged(workers=None, diagrams={"max_concurrent": 1, "max_waiting": 1}) as stage:
        for number in range(2):
            await stage.http.post("/render?format=dot", content=f"digraph {{ {number} }}")

        refused = await stage.http.post("/render?format=dot&mode=sync", content="digraph { one too many }")
        accepted = await stage.http.post("/render?format=dot", content="digraph { one too many }")

        assert (refused.status_code, accepted.status_code) == (429, 202)


async def test_what_was_rendered_before_is_given_however_long_the_line(staged: Staging, easel: Easel) -> None:
    async with staged(diagrams={"max_concurrent": 1, "max_waiting": 0}) as stage:
        await stage.http.post("/render?format=dot&mode=sync", content="digraph { known }")
        easel.hold()
        await stage.http.post("/render?format=dot", content="digraph { slow }")

        known = await stage.http.post("/render?format=dot&mode=sync", content="digraph { known }")
        other = await stage.http.post("/render?format=dot&mode=sync", content="digraph { new }")

        assert (known.status_code, other.status_code) == (200, 429)
        easel.release()


async def test_what_is_being_rendered_is_waited_for_however_long_the_line(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with staged(diagrams={"max_concurrent": 1, "max_waiting": 0}) as stage:
        await stage.http.post("/render?format=dot", content="digraph { slow }")
        await eventually(lambda: len(easel.drew) == 1, within=60)

        refused = await stage.http.post("/render?format=dot&mode=sync", content="digraph { new }")
        joining = asyncio.create_task(stage.http.post("/render?format=dot&mode=sync", content="digraph { slow }"))
        await eventually(lambda: joining.done() or stage.press.app("diagrams").diagrams.render_waiters._inside, within=60)
        easel.release()
        joined = await joining

        assert (refused.status_code, joined.status_code) == (429, 200)
        assert len(easel.drew) == 1


# D14
async def test_sync_traffic_cannot_make_an_async_job_fail(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    """As many wait as may; a job without a waiting caller gets its turn all the same."""
    easel.hold()
    async with staged(workers=2, diagrams={"max_concurrent": 2, "max_waiting": 4}) as stage:
        waiting = [
            asyncio.create_task(stage.http.post("/render?format=dot&mode=sync", content=f"digraph {{ {n} }}"))
            for n in range(10)
        ]
        await eventually(lambda: sum(task.done() for task in waiting) == 4)
        job = await stage.http.post("/render?format=dot", content="digraph { async }")
        easel.release()

        assert (await ended(stage, job))["status"] == "completed"
        assert sorted([(await answer).status_code for answer in waiting]) == [200] * 6 + [429] * 4


# Issue 15: seventy heavy renders of one organisation made another get 429.
async def test_one_organisation_cannot_take_all_the_slots_and_the_waiting_room(
    staged: Staging, easel: Easel, eventually: Callable[..., Any]
) -> None:
    easel.hold()
    async with (
        staged(workers=4, diagrams={"max_concurrent": 1, "max_waiting": 1}) as stage,
        stage.client("red") as red,
        stage.client("blue") as blue,
    ):
        for n in range(12):
            await red.post("/render?format=dot", content=f"digraph {{ {n} }}")
        await eventually(lambda: stage.press.app("diagrams").diagrams.slots.waiting == 1)
        await eventually(lambda: stage.press.worker.running == 2)  # the others fail, for there is no room
        await stage.press.scale("diagram", 2)
        await red.post("/render?format=dot", content="digraph { behind }")
        tiny = asyncio.create_task(blue.post("/render?format=dot&mode=sync", content="digraph { tiny }"))
        refused = await red.post("/render?format=dot&mode=sync", content="digraph { more }")
        await eventually(lambda: tiny.done() or "blue" in stage.press.app("diagrams").diagrams.render_waiters._by_org)
        easel.release()

        assert refused.status_code == 429
        assert (await tiny).status_code == 200
