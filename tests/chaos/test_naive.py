"""A delivery that takes the message for the job, made on purpose: the judge must see it, and see nothing where ours runs."""

import math
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis as Client

from pressroom import Pressroom, WaitTimeout
from pressroom.delivery.redis import Redis
from tests import servers
from tests.reliability import checker, dump, journal
from tests.reliability.client import Client as Submitter
from tests.reliability.journal import Journal
from tests.reliability.stage import drained, until
from tests.reliability.workload import Handlers, make_tables, place_at

type Ended = Callable[[Pressroom, Submitter], Awaitable[bool]]


async def lose_all_messages(address: str, folder: Path, ended: Ended) -> checker.Verdict:
    """Five jobs are announced, Redis is killed and comes back empty, and then a worker comes."""
    make_tables(address)
    notes = Journal(folder / "journal.jsonl")
    kinds = Handlers(notes).kinds()
    (port,) = servers.free_ports(1)
    with ExitStack() as redis:
        url = redis.enter_context(servers.valkey(folder, port=port))
        place = place_at(address, delivery="redis", redis_url=url)
        async with Pressroom(settings=place, kinds=kinds, workers=None) as desk:
            submitter = Submitter(desk, notes)
            for _ in range(5):
                await submitter.submit("note")
            async with Client.from_url(url) as client:
                await until(lambda: _holds(client, 5))
            redis.close()
            with servers.valkey(folder, port=port):
                async with Pressroom(settings=place, kinds=kinds, workers=2) as press:
                    await until(lambda: ended(press, submitter))
    return checker.judge(journal.load(notes.path), dump.read(address))


async def _holds(client: Any, messages: int) -> bool:
    return bool(await client.llen("render_jobs:background") == messages)


async def one_more(press: Pressroom, submitter: Submitter) -> bool:
    """It is heard of at the latest when the old connections to Redis have all been found to be dead."""
    receipt = await submitter.submit("note")
    assert receipt is not None
    with suppress(WaitTimeout):
        return (await press.wait_until_ended(receipt.uid, timeout=10.0)).status.ended
    return False


async def all_of_them(press: Pressroom, submitter: Submitter) -> bool:
    return await drained(press)


@pytest.mark.deep
async def test_a_delivery_that_takes_the_message_for_the_job_forgets_what_redis_forgot(
    on_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I1, D17: BLPOP and nothing else, as design 002 had it."""

    async def say_nothing(*_: Any) -> None:
        return None

    monkeypatch.setattr(Redis, "min_poll_interval", math.inf)
    monkeypatch.setattr(Redis, "announce_again", say_nothing)

    verdict = await lose_all_messages(on_server, tmp_path, one_more)

    assert len(verdict.stuck) >= 5
    assert verdict.acked > len(verdict.stuck)


async def test_where_the_row_is_the_job_an_empty_redis_costs_only_time(on_server: str, tmp_path: Path) -> None:
    verdict = await lose_all_messages(on_server, tmp_path, all_of_them)

    assert verdict.clean
    assert verdict.acked == 5
