"""What only a server can do to us: cut connections, die, be migrated by two at once. Nothing that was accepted is lost."""

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pressroom import Pressroom, kind
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.clock import SystemClock
from pressroom.errors import DatabaseTooNew, StoreBusy, StoreUnavailable
from pressroom.model import Status, Tier
from pressroom.store.engine import postgres_connection, postgres_health, postgres_migrate
from pressroom.store.engine.postgres import CommitListener
from pressroom.store.engine.postgres_connection import EVENTS
from tests import looking, postgres


@kind("shout")
async def shout(job: Any, payload: Any) -> Any:
    return payload.upper()


@pytest.fixture
def own_server() -> Iterator[Path]:
    """The folder of a server that a test may treat badly."""
    folder = postgres.make_folder()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def cut_all_connections(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pressroom'")


async def submitted(press: Pressroom, text: str) -> Any:
    while True:
        with suppress(StoreUnavailable):
            return await press.submit("shout", text)
        await asyncio.sleep(0.01)


async def test_connections_that_are_cut_are_made_again_and_every_job_ends_once(on_server: str) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=4, poll_interval=0.01, lease=2) as press:
        accepted = []
        for number in range(60):
            if number % 6 == 0:
                await asyncio.to_thread(cut_all_connections, on_server)
            accepted.append(await submitted(press, f"n{number}"))
        ended = [await settled(press, job) for job in accepted]

    assert {job.status for job in ended} == {Status.COMPLETED}
    assert [job.result for job in ended] == [f"N{number}" for number in range(60)]
    endings = looking.rows(on_server, "SELECT job_id, count(*) FROM job_event WHERE type = 'completed' GROUP BY job_id")
    assert {count for _, count in endings} == {1}


async def settled(press: Pressroom, job: Any) -> Any:
    while True:
        with suppress(StoreUnavailable):
            return await press.wait_until_ended(job, timeout=60)
        await asyncio.sleep(0.01)


async def test_a_server_that_dies_and_comes_back_has_kept_what_was_accepted(own_server: Path, eventually: Any) -> None:
    with postgres.server(own_server, fsync=True) as url:
        address = postgres.new_database(url)
        press = Pressroom(address, kinds=[shout], workers=2, poll_interval=0.02)
        await press.start()
        await press.pause("shout")
        accepted = [await press.submit("shout", f"n{number}") for number in range(20)]
    with pytest.raises(StoreUnavailable):
        await press.submit("shout", "nobody is there")
    port = int(url.rpartition(":")[2].partition("/")[0])
    with postgres.server(own_server, fsync=True, port=port):
        await eventually(lambda: resumed(press), within=60)
        ended = [await settled(press, job) for job in accepted]
        await press.stop()

    assert [job.result for job in ended] == [f"N{number}" for number in range(20)]


async def resumed(press: Pressroom) -> bool:
    with suppress(StoreUnavailable):
        await press.resume("shout")
        return True
    return False


def test_two_that_migrate_at_once_apply_every_migration_once(postgres_server: str) -> None:
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS unmigrated")
        connection.execute("CREATE DATABASE unmigrated")
    address = postgres.address_of(postgres_server, "unmigrated")
    with ThreadPoolExecutor(4) as together:
        applied = list(together.map(lambda _: postgres_migrate.bring_up_to_date(address, BUILT_IN_SCHEMA), range(4)))

    assert sorted(map(len, applied)) == [0, 0, 0, len(max(applied, key=len))]
    postgres.drop_database(address)


async def test_a_database_newer_than_the_code_is_refused(on_server: str) -> None:
    looking.change(on_server, "INSERT INTO pressroom_migration VALUES ('core', 9999, 'tomorrow', '', 0)")
    with pytest.raises(DatabaseTooNew, match="upgrade Pressroom"):
        await Pressroom(on_server, workers=None).start()


async def test_an_address_without_a_database_is_told_without_its_password(postgres_server: str) -> None:
    address = postgres.address_of(postgres_server, "nowhere").replace("postgres@", "postgres:secret@")
    with pytest.raises(StoreUnavailable, match='database "nowhere" does not exist') as told:
        await Pressroom(address, workers=None).start()
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "move",
    [
        "UPDATE job SET status = 'queued', date_completed = NULL, prune_after = NULL",
        "UPDATE job SET claim = 0",
        "DELETE FROM job WHERE status = 'queued'",
        "UPDATE job_event SET type = 'failed'",
        "INSERT INTO job_event (job_id, at, type) SELECT id, 0, 'failed' FROM job WHERE status = 'completed'",
    ],
)
async def test_the_database_refuses_an_illegal_move(on_server: str, move: str) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=1) as press:
        await press.wait(await press.submit("shout", "a"))
        await press.submit("shout", "later", delay=3600)
    with pytest.raises(psycopg.errors.IntegrityError):
        looking.change(on_server, move)


async def test_events_become_visible_in_the_order_of_their_numbers(on_server: str, eventually: Callable[..., Any]) -> None:
    """Numbers are given when a row is inserted. If a later one could be committed first, whoever reads on from it would never
    see the earlier: so the history is written under a lock that is held until the commit."""
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        async with await psycopg.AsyncConnection.connect(on_server) as slow:
            await slow.execute("SELECT pg_advisory_xact_lock(%s)", (EVENTS,))  # another process, about to commit
            submit = asyncio.create_task(press.submit("shout", "second"))
            await eventually(lambda: looking.one_waits_for_a_lock(on_server))
            assert looking.rows(on_server, "SELECT count(*) FROM job") == [(0,)]
            await slow.commit()
        await submit


def test_a_commit_that_the_server_made_a_rollback_of_is_not_believed(on_server: str) -> None:
    """PostgreSQL answers the COMMIT of a transaction that went wrong with ROLLBACK, and without an error."""
    connection = postgres_connection.PostgresConnection(on_server, SystemClock())
    with closing(connection):
        connection.begin(durable=True, shared_lock=True)
        with suppress(psycopg.Error):
            connection.execute("SELECT 1 / 0")

        with pytest.raises(StoreUnavailable, match="rolled the transaction back"):
            connection.commit()


async def test_whoever_waits_too_long_for_another_is_told(on_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        with looking.held(on_server), monkeypatch.context() as impatient:
            looking.be_impatient(impatient)
            with pytest.raises(StoreBusy):
                await press.submit("shout", "x", key="one")
        await press.submit("shout", "x", key="one")


async def test_a_worker_that_is_never_idle_still_wakes_what_is_due(on_server: str) -> None:
    """Beside others a claim leaves alone what waits for its time; a backlog must not keep it asleep."""
    order: list[str] = []

    @kind("note", tier=Tier.INTERACTIVE)
    async def note(job: Any, payload: Any) -> None:
        order.append(payload)
        await asyncio.sleep(0.02)

    async with Pressroom(on_server, kinds=[note], workers=1, poll_interval=0.05) as press:
        await press.submit("note", "due", delay=0.2, key="some")
        backlog = [await press.submit("note", f"n{number}") for number in range(150)]
        await settled(press, backlog[-1])
        await settled(press, await press.submit("note", "last"))

    assert order.index("due") < len(order) - 20


def test_time_limits_are_read_when_a_connection_opens(on_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that raises a limit must raise the server's."""
    monkeypatch.setattr(postgres_connection, "IDLE_TIMEOUT", 77.0)
    monkeypatch.setattr(postgres_connection, "BUSY_TIMEOUT", 88.0)
    connection = postgres_connection.PostgresConnection(on_server, SystemClock())
    try:
        limits = [
            connection.raw.execute(f"SHOW {name}").fetchone()
            for name in ("idle_in_transaction_session_timeout", "lock_timeout")
        ]
    finally:
        connection.close()
    assert limits == [("77s",), ("88s",)]


async def test_a_process_that_is_stopped_in_a_transaction_does_not_stop_the_others(
    on_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as brief:
        brief.setattr(postgres_connection, "IDLE_TIMEOUT", 0.2)
        stopped = postgres_connection.PostgresConnection(on_server, SystemClock())
    stopped.begin(durable=True, shared_lock=False)  # and there its process is stopped, with the lock in its hands
    async with Pressroom(on_server, kinds=[shout], workers=1) as press:
        assert await press.wait(await press.submit("shout", "on", key="k"), timeout=60) == "ON"
    with pytest.raises(StoreUnavailable), stopped.translating_errors():
        stopped.commit()
    stopped.close()


async def test_a_job_takes_its_history_with_it_and_fsck_finds_what_it_left(on_server: str, tmp_path: Path) -> None:
    """An event has no foreign key to its job, because the server would look for it each time."""
    async with Pressroom(on_server, kinds=[shout], workers=1, home=str(tmp_path)) as press:
        job = await press.submit("shout", "hi")
        await press.wait(job, timeout=60)
        with psycopg.connect(on_server, autocommit=True) as connection:
            connection.execute("SET search_path = pressroom")
            connection.execute("DELETE FROM job")
            assert connection.execute("SELECT count(*) FROM job_event").fetchone() == (0,)
            assert postgres_health.audit(on_server, BUILT_IN_SCHEMA) == []
            connection.execute("INSERT INTO job_event (job_id, at, type) VALUES (77, 0, 'queued')")
    (found,) = postgres_health.audit(on_server, BUILT_IN_SCHEMA)
    assert (found.check, found.detail.endswith("has no job")) == ("orphan", True)


def test_whoever_begins_to_listen_looks_once_for_what_was_committed_before(on_server: str) -> None:
    """Polling would find it too, but later: a notice that was sent while no connection listened is lost."""
    looked = threading.Semaphore(0)
    with closing(CommitListener(on_server, looked.release, set)) as listener:
        assert looked.acquire(timeout=60)
        assert listener.consume_notification()
        with psycopg.connect(on_server, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert looked.acquire(timeout=60)
        assert listener.consume_notification()
