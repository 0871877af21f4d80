"""A worker's turns on a server: what a batch does to many rows at once, and what one turn that waits does to the others."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from pressroom import Pressroom, Request, kind
from pressroom.clock import SystemClock
from pressroom.errors import SourceInvalid
from pressroom.model import Status, Succeeded
from pressroom.store.engine.postgres_connection import SCHEMA, PostgresConnection
from pressroom.store.jobs import claiming
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement
from tests import looking

WEBHOOKS = """
INSERT INTO webhook VALUES ('0123456789ABCDEFGHJKMNPQR0', '', 'https://example.org/', '["job.completed"]', NULL, NULL, 1);
INSERT INTO webhook VALUES ('0123456789ABCDEFGHJKMNPQR1', '', 'https://example.org/', '["job.failed"]', '["shout"]', NULL, 1);
INSERT INTO webhook VALUES ('0123456789ABCDEFGHJKMNPQR2', 'b', 'https://example.org/', '["job.completed"]', NULL, NULL, 1);
"""


@kind("shout")
async def shout(job: Any, payload: Any) -> Any:
    if payload == "bad":
        raise SourceInvalid("bad")
    return payload.upper()


@pytest.mark.parametrize("hooks", ["", WEBHOOKS])
async def test_all_that_end_in_one_turn_owe_their_webhooks_one_delivery_each(on_server: str, hooks: str) -> None:
    """They are found once for the whole batch, and not at all where nobody wants to be told."""
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        await press.submit_many([Request("shout", text) for text in ["a", "bad", "b", "c", "bad"]])
    if hooks:
        looking.change(on_server, hooks)

    async with Pressroom(on_server, kinds=[shout], workers=10) as press:
        page = await press.list()
        for job in page.jobs:
            await press.wait_until_ended(job, timeout=60)

    owed = "SELECT right(webhook, 1), webhook_delivery.type, count(DISTINCT job_event.job_id), count(*) FROM webhook_delivery"
    found = looking.rows(on_server, f"{owed} JOIN job_event ON job_event.id = event GROUP BY 1, 2 ORDER BY 1")
    assert found == ([("0", "job.completed", 3, 3), ("1", "job.failed", 2, 2)] if hooks else [])


async def test_a_turn_that_waits_for_somebody_does_not_hold_up_the_rest(on_server: str, eventually: Callable[..., Any]) -> None:
    let_go = asyncio.Event()

    @kind("patient")
    async def patient(job: Any, payload: Any) -> str:
        await let_go.wait()
        return "at last"

    async with Pressroom(on_server, kinds=[shout, patient], workers=4, lease=600) as press:
        slow = await press.submit("patient")
        await eventually(lambda: looking.rows(on_server, "SELECT 1 FROM job WHERE status = 'in_progress'"))
        async with await psycopg.AsyncConnection.connect(on_server) as somebody:
            await somebody.execute(f"SELECT 1 FROM {SCHEMA}.job FOR UPDATE")
            let_go.set()
            await eventually(lambda: looking.rows(on_server, "SELECT 1 FROM pg_locks WHERE NOT granted"))

            assert await press.wait(await press.submit("shout", "quick"), timeout=60) == "QUICK"
            assert (await press.get(slow)).status is Status.IN_PROGRESS
            await somebody.rollback()
        assert await press.wait(slow, timeout=60) == "at last"


def test_a_batch_is_settled_claim_by_claim(on_server: str) -> None:
    """One of the batch was lost, one was cancelled while it ran: neither changes what the others come to."""
    with_tables = Pressroom(on_server, kinds=[shout], workers=None)
    asyncio.run(_submitted(with_tables, 4))
    connection = PostgresConnection(on_server, SystemClock())

    def run_work(unit: Any) -> Any:
        connection.begin(durable=True, shared_lock=True)
        result = connection.run_work(unit)
        connection.commit()
        return result

    claims = run_work(claiming.claim_concurrently("one", ["shout"], FreeSlots(4, 4), 60_000))
    looking.change(on_server, f"UPDATE job SET claim = claim + 1 WHERE id = {claims[1].id}")
    looking.change(on_server, f"UPDATE job SET cancel_requested = 1 WHERE id = {claims[2].id}")
    batch = [Settlement(claim, Succeeded(f'"{claim.uid}"')) for claim in reversed(claims)]
    turn = run_work(claiming.settle_and_claim(batch, "one", ["shout"], FreeSlots(4, 4), 60_000, {}, shared_lock=True))
    connection.close()

    assert [one.status for one in turn.settled] == [Status.COMPLETED, Status.CANCELLED, None, Status.COMPLETED]
    results = looking.rows(on_server, "SELECT status, result FROM job ORDER BY id")
    assert results == [
        ("completed", f'"{claims[0].uid}"'),
        ("in_progress", None),
        ("cancelled", None),
        ("completed", f'"{claims[3].uid}"'),
    ]


async def _submitted(press: Pressroom, count: int) -> None:
    async with press:
        await press.submit_many([Request("shout", str(number)) for number in range(count)])
