"""What the chaos lab found, told once more where it can be seen at once."""

import asyncio
from typing import Any

import psycopg
import pytest

from pressroom import Pressroom, kind
from pressroom.config import Settings
from pressroom.errors import StoreUnavailable
from pressroom.store import lane, postgres_connection
from pressroom.worker.chores import UNLED_ROUNDS


@kind("shout")
async def shout(job: Any, payload: Any) -> Any:
    return payload.upper()


@kind("whisper")
async def whisper(job: Any, payload: Any) -> Any:
    return payload.lower()


def cut_all_connections(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pressroom'")


async def test_whoever_holds_a_transaction_when_its_connection_is_cut_is_told(on_server: str) -> None:
    """I2. A server that died between BEGIN and the next statement left its caller waiting for ever: a request unanswered."""

    async def be_cut_off() -> None:
        async with asyncio.timeout(10), press.transaction() as transaction:
            await asyncio.to_thread(cut_all_connections, on_server)
            await transaction.execute("SELECT 1")

    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        with pytest.raises(StoreUnavailable):
            await be_cut_off()

        await press.submit("shout", "well again")


async def test_a_job_that_oban_forgot_is_found_although_the_leader_does_not_know_its_kind(on_server: str) -> None:
    """I26. Only the leader looked for what oban had forgotten, and only for kinds of its own: others waited for ever."""
    place = Settings(database=on_server, delivery="oban", poll_interval=0.02)
    async with (
        Pressroom(settings=place, kinds=[whisper], workers=1) as leader,
        Pressroom(settings=place, kinds=[shout], workers=1) as other,
    ):
        assert leader.leadership is not None
        assert leader.leadership.leads
        async with other.transaction() as transaction:
            job = await other.submit("shout", "found", within=transaction)
            await transaction.execute("DELETE FROM public.oban_jobs")

        for _ in range(UNLED_ROUNDS):
            await other.chores.announce_again()

        assert await other.wait(job, timeout=60) == "FOUND"


def test_whoever_is_stopped_in_a_transaction_is_ended_before_others_are_refused() -> None:
    """I4. A paused process held the lock of all writers for ten seconds, and those who waited were refused after five."""
    assert postgres_connection.IDLE_TIMEOUT < postgres_connection.BUSY_TIMEOUT
    assert lane.HOLD_LIMIT < postgres_connection.HELD_IDLE_TIMEOUT
