"""What the chaos lab found, told once more where it can be seen at once."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from pressroom import Pressroom, kind
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.config import Settings
from pressroom.errors import StoreUnavailable
from pressroom.model import Succeeded
from pressroom.store.engine import postgres_connection, postgres_health, writer
from pressroom.store.jobs import claiming, rescue
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement
from pressroom.worker.maintenance import FOLLOWER_ROUNDS
from tests import looking
from tests.patience import be_patient


@kind("shout")
async def shout(job: Any, payload: Any) -> Any:
    return payload.upper()


@kind("whisper")
async def whisper(job: Any, payload: Any) -> Any:
    return payload.lower()


def cut_all_connections(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pressroom'")


async def test_whoever_holds_a_transaction_when_its_connection_is_cut_is_told(
    on_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I2. A server that died between BEGIN and the next statement left its caller waiting for ever: a request unanswered."""
    be_patient(monkeypatch)

    async def be_cut_off() -> None:
        async with asyncio.timeout(60), press.transaction() as transaction:
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

        for _ in range(FOLLOWER_ROUNDS):
            await other.maintenance.announce_again()

        assert await other.wait(job, timeout=60) == "FOUND"


def test_whoever_is_stopped_in_a_transaction_is_ended_before_others_are_refused() -> None:
    """I4. A paused process held the lock of all writers for ten seconds, and those who waited were refused after five."""
    assert postgres_connection.IDLE_TIMEOUT < postgres_connection.BUSY_TIMEOUT
    assert writer.HOLD_LIMIT < postgres_connection.HELD_IDLE_TIMEOUT


@kind("leaflet", retention=timedelta(0))
async def leaflet(job: Any, payload: Any) -> None:
    return None


async def test_a_job_that_is_pruned_in_the_group_that_ended_it_leaves_no_history(
    on_server: str, monkeypatch: pytest.MonkeyPatch, eventually: Callable[..., Any]
) -> None:
    """I20. Without a foreign key, the event of its ending comes after its row is gone, and stays."""
    be_patient(monkeypatch)
    async with Pressroom(on_server, kinds=[leaflet], workers=None) as press:
        run = press._database.run
        await press.submit("leaflet", None)
        (claim,) = await run(lambda: claiming.claim("somebody", ["leaflet"], FreeSlots(1, 1), 60_000), name="turn")
        ending = [Settlement(claim, Succeeded("null"))]
        with looking.held(on_server):
            first = asyncio.create_task(run(lambda: rescue.prune(10), name="prune"))  # holds the lane while the others gather
            await eventually(lambda: looking.one_waits_for_a_lock(on_server))
            others = asyncio.gather(
                run(lambda: claiming.settle_and_claim(ending, "somebody", (), FreeSlots(0, 0), 0, press.kinds), name="turn"),
                run(lambda: rescue.prune(10), name="prune"),
            )
            await asyncio.sleep(0.2)
        await first
        assert (await others)[1] == 1

    assert postgres_health.audit(on_server, BUILT_IN_SCHEMA) == []


async def test_who_starts_while_others_hold_the_store_waits_for_them(
    database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, eventually: Callable[..., Any]
) -> None:
    """I4. It ended after five seconds: on a busy machine two paused processes can hold the store longer than that."""
    async with Pressroom(database, workers=None):
        pass  # the tables are there

    press = Pressroom(database, kinds=[leaflet], workers=1)
    with looking.held(database), monkeypatch.context() as impatient:
        looking.be_impatient(impatient)
        starting = asyncio.create_task(press.start())
        await eventually(lambda: caplog.text.count("starting, when the store is free") > 1, within=60)
    await starting
    assert await press.wait(await press.submit("leaflet", None), timeout=60) is None
    await press.stop()
