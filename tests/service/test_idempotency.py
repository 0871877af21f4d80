"""`Idempotency-Key` on retry and cancel: what is sent twice happens once, and is answered twice with the same words."""

import asyncio
from typing import Any

from pressroom.api.access import Scope
from pressroom.api.idempotency import KEPT
from pressroom.store.access import idempotency
from pressroom.testing import ManualClock, SteppedStore
from tests.service.access_stage import Stage, on_stage

KEY = {"Idempotency-Key": '"order-42"'}


async def failed_job(stage: Stage) -> str:
    job = await stage.press.submit("shout", "fail", max_attempts=1)
    await stage.press.wait_until_ended(job, timeout=60)
    return str(job)


async def retries_of(stage: Stage) -> int:
    return sum(job.retry_of is not None for job in (await stage.press.list()).jobs)


async def test_a_retry_that_is_sent_twice_makes_one_job(database: str) -> None:
    async with on_stage(database) as stage, stage.client(await stage.token()) as client:
        job = await failed_job(stage)

        first, second = [await client.post(f"/jobs/{job}/retry", headers=KEY) for _ in range(2)]

        assert first.status_code == second.status_code == 202
        assert first.json() == second.json()
        assert first.headers["location"] == second.headers["location"]
        assert "idempotency-replayed" not in first.headers
        assert second.headers["idempotency-replayed"] == "true"
        assert await retries_of(stage) == 1


async def test_retries_that_are_sent_at_once_make_one_job(database: str) -> None:
    async with on_stage(database) as stage, stage.client(await stage.token()) as client:
        job = await failed_job(stage)

        answers = await asyncio.gather(*(client.post(f"/jobs/{job}/retry", headers=KEY) for _ in range(10)))

        assert len({answer.json()["id"] for answer in answers}) == 1
        assert await retries_of(stage) == 1


async def test_without_a_key_every_retry_is_one(database: str) -> None:
    async with on_stage(database) as stage, stage.client(await stage.token()) as client:
        job = await failed_job(stage)

        for _ in range(2):
            await client.post(f"/jobs/{job}/retry")

        assert await retries_of(stage) == 2


async def test_a_key_is_for_one_request_of_one_caller(database: str) -> None:
    async with on_stage(database) as stage:
        job, another = await failed_job(stage), await failed_job(stage)
        async with stage.client(await stage.token()) as client, stage.client(await stage.token(Scope.SUBMITTER)) as neighbour:
            await client.post(f"/jobs/{job}/retry", headers=KEY)
            other_body = await client.post(f"/jobs/{job}/retry", headers=KEY, content=b"{}")
            other_query = await client.post(f"/jobs/{job}/retry?wait=1", headers=KEY)
            other_job = await client.post(f"/jobs/{another}/retry", headers=KEY)
            other_caller = await neighbour.post(f"/jobs/{job}/retry", headers=KEY)

    assert (other_body.status_code, other_body.json()["code"]) == (422, "idempotency_key_reused")
    assert (other_query.status_code, other_query.json()["code"]) == (422, "idempotency_key_reused")
    assert other_job.headers.get("idempotency-replayed") is other_caller.headers.get("idempotency-replayed") is None


async def test_a_refused_retry_may_work_the_next_time(database: str) -> None:
    async with on_stage(database) as stage, stage.client(await stage.token()) as client:
        job: Any = await stage.press.submit("shout", "hi", delay=3600)

        refused = await client.post(f"/jobs/{job}/retry", headers=KEY)
        await stage.press.cancel(job)
        accepted = await client.post(f"/jobs/{job}/retry", headers=KEY)

    assert (refused.status_code, accepted.status_code) == (409, 202)


async def test_a_cancel_that_is_sent_twice_is_answered_with_the_same_words(database: str) -> None:
    async with on_stage(database, works=False) as stage, stage.client(await stage.token()) as client:
        job = await stage.press.submit("shout", "hi")

        first, second = [await client.post(f"/jobs/{job}/cancel", headers=KEY) for _ in range(2)]

    assert first.status_code == second.status_code == 200
    assert first.json()["status"] == "cancelled"
    assert first.content == second.content
    assert second.headers["idempotency-replayed"] == "true"


def test_an_answer_is_given_again_for_a_day_and_not_a_millisecond_longer() -> None:
    """Also if nothing was kept since, by which the old ones are deleted."""
    clock = ManualClock()
    store = SteppedStore(clock)
    reply = idempotency.StoredReply("digest", 202, {}, "{}")
    store.run(idempotency.save_reply("scope", "key", reply, KEPT))

    clock.advance(seconds=KEPT / 1000 - 0.001)
    assert store.run(idempotency.find("scope", "key")) == reply
    clock.advance(seconds=0.001)
    assert store.run(idempotency.find("scope", "key")) is None
