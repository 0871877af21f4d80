"""`/readyz`: whether this process can take jobs now. It is told apart from whether the database can be read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from pressroom.api import readiness
from pressroom.store.engine import postgres_connection
from tests import looking
from tests.service.access_stage import Stage, on_stage

GOOD = {"kind": "shout", "payload": "hi"}
BREAK_ALL_SUBMITS = {
    "sqlite": "ALTER TABLE sequence RENAME TO elsewhere",
    "postgresql": "ALTER FUNCTION reserve_numbers RENAME TO elsewhere",
}
MEND_ALL_SUBMITS = {
    "sqlite": "ALTER TABLE elsewhere RENAME TO sequence",
    "postgresql": "ALTER FUNCTION elsewhere RENAME TO reserve_numbers",
}


@pytest.fixture(autouse=True)
def _ask_the_store_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "FRESH", 0.0)


@asynccontextmanager
async def a_service(database: str) -> AsyncIterator[tuple[Stage, httpx.AsyncClient]]:
    async with on_stage(database, works=False) as stage, stage.client(await stage.token()) as client:
        yield stage, client


def dialect(database: str) -> str:
    return database.partition(":")[0]


async def ready(client: httpx.AsyncClient) -> tuple[int, Any]:
    answer = await client.get("/readyz")
    return answer.status_code, answer.json()


def refuse_inserts(database: str, condition: str) -> None:
    """As a trigger that is broken does: rows of the table `job` can be read, and none that meets the condition inserted."""
    if dialect(database) == "sqlite":
        looking.change(
            database,
            f"CREATE TRIGGER broken BEFORE INSERT ON job WHEN {condition} BEGIN SELECT RAISE(ABORT, 'broken'); END",
        )
    else:
        looking.change(
            database, "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM 1/0; RETURN NEW; END $$"
        )
        looking.change(
            database, f"CREATE TRIGGER broken BEFORE INSERT ON job FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION fail()"
        )


def accept_inserts(database: str) -> None:
    looking.change(database, "DROP TRIGGER broken" if dialect(database) == "sqlite" else "DROP TRIGGER broken ON job")


async def test_a_service_that_can_take_jobs_is_ready_and_makes_none(database: str) -> None:
    async with a_service(database) as (_, client):
        for _ in range(3):
            assert await ready(client) == (200, {"status": "pass"})

    assert looking.rows(database, "SELECT count(*) FROM job") == [(0,)]
    assert looking.rows(database, "SELECT count(*) FROM job_event") == [(0,)]


async def test_submits_that_cannot_be_done_are_noticed_although_reads_work(database: str) -> None:
    """Before anybody submits: the probe goes the way of a submit."""
    async with a_service(database) as (_, client):
        looking.change(database, BREAK_ALL_SUBMITS[dialect(database)])

        assert (await client.get("/jobs")).status_code == 200
        assert await ready(client) == (503, {"status": "fail", "code": "submit_failed"})
        assert (await client.get("/health")).status_code == 503
        assert (await client.post("/jobs", json=GOOD)).status_code == 500

        looking.change(database, MEND_ALL_SUBMITS[dialect(database)])
        assert await ready(client) == (200, {"status": "pass"})
        assert (await client.get("/health")).status_code == 200
        assert (await client.post("/jobs", json=GOOD)).status_code == 202


async def test_after_a_submit_that_failed_a_job_is_inserted_and_rolled_back(database: str) -> None:
    """What only a row brings to light, such as a trigger: for as long as it is broken, and no longer."""
    async with a_service(database) as (_, client):
        refuse_inserts(database, "1 = 1")
        assert (await client.post("/jobs", json=GOOD)).status_code == 500

        assert await ready(client) == (503, {"status": "fail", "code": "submit_failed"})
        assert await ready(client) == (503, {"status": "fail", "code": "submit_failed"})

        accept_inserts(database)
        assert await ready(client) == (200, {"status": "pass"})
        assert (await client.post("/jobs", json=GOOD)).status_code == 202
        assert looking.rows(database, "SELECT kind FROM job") == [("shout",)]


async def test_a_request_that_fails_for_its_own_sake_does_not_make_the_service_unready(database: str) -> None:
    """Or one caller could take every instance out of rotation."""
    async with a_service(database) as (_, client):
        refuse_inserts(database, "NEW.subject = 'poison'")
        for _ in range(5):
            assert (await client.post("/jobs", json=GOOD | {"subject": "poison"})).status_code == 500
            assert await ready(client) == (200, {"status": "pass"})


async def test_a_database_that_others_hold_is_told_as_busy(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looking.be_impatient(monkeypatch)
    async with a_service(database) as (_, client):
        with looking.held(database):
            assert await ready(client) == (503, {"status": "fail", "code": "store_busy"})
        assert await ready(client) == (200, {"status": "pass"})


async def test_a_session_that_loses_every_statement_again_and_again_is_ready_because_submits_work(on_server: str) -> None:
    async with a_service(on_server) as (stage, client):
        for _ in range(3):
            for connection in stage.press._database._connections:
                connection.raw.execute("DEALLOCATE ALL")
            assert await ready(client) == (200, {"status": "pass"})


async def test_the_probe_goes_through_the_prepared_statement_of_submits(
    on_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    send = postgres_connection.PostgresConnection.single_round_trip

    def note(self: Any, statement: Any, durable: bool) -> Any:
        sent.append(statement.sql)
        assert durable
        return send(self, statement, durable)

    monkeypatch.setattr(postgres_connection.PostgresConnection, "single_round_trip", note)
    async with a_service(on_server) as (_, client):
        assert await ready(client) == (200, {"status": "pass"})

    assert sent == ["submit_in_one_round_trip"]


async def test_many_probes_ask_the_store_once(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "FRESH", 3600.0)
    asked = 0
    async with a_service(file) as (stage, client):
        check = stage.press.check_submit

        async def count() -> None:
            nonlocal asked
            asked += 1
            await check()

        monkeypatch.setattr(stage.press.queue, "check_submit", count)
        answers = [*await asyncio.gather(*(ready(client) for _ in range(50))), await ready(client)]

    assert set(map(str, answers)) == {str((200, {"status": "pass"}))}
    assert asked == 1


async def test_a_store_that_does_not_answer_is_told_as_a_timeout_and_asked_once(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "LONGEST", 0.01)
    asked, may_go_on = 0, asyncio.Event()
    async with a_service(file) as (stage, client):

        async def hang() -> None:
            nonlocal asked
            asked += 1
            await may_go_on.wait()

        monkeypatch.setattr(stage.press.queue, "check_submit", hang)
        while not asked:  # a busy machine may not come so far within the time
            assert await ready(client) == (503, {"status": "fail", "code": "timeout"})
        assert await ready(client) == (503, {"status": "fail", "code": "timeout"})
        assert asked == 1

        may_go_on.set()
        monkeypatch.setattr(readiness, "LONGEST", 60.0)
        assert await ready(client) == (200, {"status": "pass"})


async def test_a_service_that_is_being_stopped_is_not_ready(file: str) -> None:
    async with a_service(file) as (stage, client):
        stage.service.closing.set()

        assert await ready(client) == (503, {"status": "fail", "code": "queue_closed"})
        assert (await client.get("/health")).status_code == 503
