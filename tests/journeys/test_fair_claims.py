"""Organisations take turns for the slots of a worker, however much one of them has queued."""

import asyncio

import pytest

from pressroom import Pressroom, Request, Tier, kind


@pytest.fixture
def starts():
    """The jobs in the order of their start, by organisation and number."""
    return []


@pytest.fixture
def work(starts):
    @kind("work")
    async def work(job, payload):
        starts.append((payload["org"], payload["n"]))

    return work


def of(org, count, tier=Tier.BACKGROUND):
    return [Request("work", {"org": org, "n": n}, org_id=org, tier=tier) for n in range(count)]


async def run_all(anywhere, work, requests, workers):
    async with Pressroom(anywhere, kinds=[work], workers=workers) as press:
        await press.pause("work")
        submitted = await press.submit_many(requests)
        await press.resume("work")
        await asyncio.gather(*(press.wait(job) for job in submitted))


@pytest.mark.parametrize("workers", [1, 4])
async def test_a_job_of_one_organisation_does_not_wait_for_the_backlog_of_another(anywhere, work, starts, workers):
    await run_all(anywhere, work, of("acme", 40) + of("globex", 2), workers)

    places = [place for place, (org, _) in enumerate(starts) if org == "globex"]
    assert places[0] <= workers
    assert places[1] <= 2 * workers + 1


async def test_with_one_slot_every_organisation_has_its_turn(anywhere, work, starts):
    orgs = ["a", "b", "c", "d"]
    await run_all(anywhere, work, [request for org in orgs for request in of(org, 5)], 1)

    for turn in range(5):
        assert sorted(starts[4 * turn : 4 * turn + 4]) == [(org, turn) for org in orgs]


async def test_within_an_organisation_the_order_is_by_tier_and_place(anywhere, work, starts):
    await run_all(anywhere, work, of("a", 5) + of("b", 5) + of("a", 3, Tier.INTERACTIVE), 1)

    assert starts[:3] == [("a", 0), ("a", 1), ("a", 2)]
    for org in "ab":
        numbers = [n for one, n in starts[3:] if one == org]
        assert numbers == sorted(numbers)


async def test_one_organisation_is_served_in_the_order_of_its_submits(anywhere, work, starts):
    await run_all(anywhere, work, of("a", 30), 1)

    assert starts == [("a", n) for n in range(30)]


async def test_a_busy_organisation_stands_back_while_another_has_nothing_in_progress(anywhere, eventually):
    started, may_end = [], {}

    @kind("slow")
    async def slow(job, payload):
        started.append(payload)
        await may_end.setdefault(payload, asyncio.Event()).wait()

    async with Pressroom(anywhere, kinds=[slow], workers=2) as press:
        await press.submit_many([Request("slow", f"acme-{n}", org_id="acme", tier=Tier.INTERACTIVE) for n in range(12)])
        await eventually(lambda: len(started) == 2)
        await press.submit("slow", "globex", org_id="globex", tier=Tier.INTERACTIVE)

        may_end[started[0]].set()
        await eventually(lambda: len(started) == 3)

        assert started[2] == "globex"
        for n in range(12):
            may_end.setdefault(f"acme-{n}", asyncio.Event()).set()
        may_end["globex"].set()
