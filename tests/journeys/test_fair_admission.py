"""A full queue refuses the organisation that filled it, not the one that has little in it."""

import pytest

from pressroom import Pressroom, QueueFull, Request, kind

LIMIT = 12


@kind("shout")
async def shout(job, payload):
    return payload.upper()


async def fill(press: Pressroom, org_id: str | None) -> int:
    """Submit one job at a time until the queue refuses. Returns how many were accepted."""
    accepted = 0
    while True:
        try:
            await press.submit("shout", "x", org_id=org_id)
        except QueueFull:
            return accepted
        accepted += 1


async def test_an_organisation_below_its_share_is_admitted_when_another_fills_the_queue(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=LIMIT) as press:
        assert await fill(press, "acme") == LIMIT

        assert await fill(press, "globex") == LIMIT // 2
        assert await fill(press, "initech") == LIMIT // 3
        assert await fill(press, "acme") == 0
        assert await fill(press, "globex") == 0


async def test_the_queue_never_holds_more_than_the_harmonic_bound(anywhere):
    """Each newcomer is admitted up to its share of that moment: the limit times 1 + 1/2 + ... + 1/n, and no more."""
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=LIMIT) as press:
        organisations = [f"org-{n}" for n in range(2 * LIMIT)]
        for _ in range(2):
            for org_id in organisations:
                await fill(press, org_id)

        shares = [max(1, LIMIT // n) for n in range(1, len(organisations) + 1)]
        assert (await press.stats()).queued == sum(shares)


async def test_an_absent_organisation_has_no_share(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=LIMIT) as press:
        visitor = await press.submit("shout", "x", org_id="globex")
        await press.cancel(visitor)

        assert await fill(press, "acme") == LIMIT


async def test_while_there_is_room_an_organisation_may_have_more_than_its_share(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=LIMIT) as press:
        await press.submit("shout", "x", org_id="globex")

        assert await fill(press, "acme") == LIMIT - 1


async def test_jobs_without_an_organisation_share_like_one(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=LIMIT) as press:
        assert await fill(press, None) == LIMIT
        assert await fill(press, "acme") == LIMIT // 2


async def test_jobs_dated_for_later_count_in_the_share_as_well(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=LIMIT) as press:
        await press.submit_many([Request("shout", "x", org_id="acme", delay=3600) for _ in range(LIMIT)])

        assert await fill(press, "acme") == 0
        assert await fill(press, "globex") == LIMIT // 2


async def test_a_batch_is_admitted_whole_or_not_at_all(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=LIMIT) as press:
        await fill(press, "acme")
        too_many = [Request("shout", "x", org_id="globex") for _ in range(LIMIT // 2 + 1)]

        with pytest.raises(QueueFull):
            await press.submit_many(too_many)
        with pytest.raises(QueueFull):
            await press.submit_many([*too_many[:2], Request("shout", "x", org_id="acme")])
        assert (await press.stats()).queued == LIMIT
        assert len(await press.submit_many(too_many[1:])) == LIMIT // 2


async def test_a_retry_is_admitted_by_the_share_of_its_organisation(anywhere):
    async with Pressroom(anywhere, kinds=[shout], workers=None, max_queued=LIMIT) as press:
        ended = [await press.cancel(await press.submit("shout", "x", org_id=org_id)) for org_id in ("acme", "globex")]
        await fill(press, "acme")

        with pytest.raises(QueueFull):
            await press.retry(ended[0].uid)
        await press.retry(ended[1].uid)
