"""Prepared statements belong to the session and may be gone: after every error the next submit and claim are carried out."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import psycopg
import pytest

from pressroom import Pressroom, kind
from pressroom.clock import SystemClock
from pressroom.errors import NotFound, StoreBusy
from pressroom.ids import new_uid
from pressroom.model import OnKey, Row, SingleRoundTrip, Statement, Submitted, Work
from pressroom.store.engine.postgres_connection import EVENTS, PostgresConnection
from pressroom.store.engine.postgres_statements import SingleMessageStatement
from pressroom.store.jobs import claiming, submitting
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.submitting import CheckedJob
from tests import looking


@kind("shout")
async def shout(job: Any, payload: Any) -> Any:
    return payload.upper()


async def submit_in_one_message(press: Pressroom) -> Submitted:
    """As a lone submit is made; the queue's own would count the queue now and then, which is a statement more."""
    new = CheckedJob(new_uid(), "shout", 1, '"hi"', OnKey.COALESCE, 3, 3, 60_000)
    unit = partial(submitting.insert_new_jobs, [new], single_round_trip=True)
    (submitted,) = await press._database.run(unit, name="submit", shared_lock=True)
    return submitted


async def claim_in_one_message(press: Pressroom) -> list[str]:
    unit = partial(claiming.settle_and_claim, (), "me", press.kinds, FreeSlots(1, 1), 15_000, press.kinds, shared_lock=True)
    turn = await press._database.run(unit, name="turn", durable=False, shared_lock=True)
    return [claim.uid for claim in turn.claims]


async def submit_and_claim(press: Pressroom) -> None:
    """A good submit, and a claim on each of the writing connections."""
    for connection in press._database._connections[:2]:
        with pytest.MonkeyPatch.context() as only_this_one:
            writer = next(writer for writer in press._database._writers if writer._connection is connection)
            only_this_one.setattr(press._database, "_writer_for", lambda _, writer=writer: writer)
            submitted = await submit_in_one_message(press)
            assert await claim_in_one_message(press) == [submitted.uid]


async def refuse_a_unit(press: Pressroom) -> None:
    with pytest.raises(NotFound):
        await press.pause("unknown")


async def fail_in_a_transaction_of_the_caller(press: Pressroom) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        async with press.transaction() as transaction:
            await transaction.execute("SELECT 1/0")


async def fail_under_a_savepoint(press: Pressroom) -> None:
    async with press.transaction() as transaction:
        with pytest.raises(psycopg.errors.DivisionByZero):
            await transaction.execute("SELECT 1/0")


async def change_the_schema(press: Pressroom) -> None:
    """psycopg deallocates all statements after DDL as well."""
    async with press.transaction() as transaction:
        await transaction.execute("CREATE TABLE mine (id bigint)")
        await transaction.execute("DROP TABLE mine")


async def fail_in_the_one_message(press: Pressroom) -> None:
    new = CheckedJob("0" * 26, "shout", 1, '"hi"', OnKey.COALESCE, 3, 3, 60_000)
    with pytest.raises(psycopg.errors.UniqueViolation):
        await press._database.run(
            partial(submitting.insert_new_jobs, [new, new], single_round_trip=True), name="submit", shared_lock=True
        )


ERRORS = [
    refuse_a_unit,
    fail_in_a_transaction_of_the_caller,
    fail_under_a_savepoint,
    change_the_schema,
    fail_in_the_one_message,
]


@pytest.mark.parametrize("fail", ERRORS)
async def test_after_an_error_the_next_submit_and_claim_are_carried_out(
    on_server: str, fail: Callable[[Pressroom], Awaitable[None]]
) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        await fail(press)  # before anything is prepared
        await submit_and_claim(press)
        for _ in range(3):
            await press.submit("shout", "later", key=new_uid(), delay=3600)  # psycopg prepares statements of its own
        await fail(press)
        await submit_and_claim(press)
        await fail(press)
        await submit_and_claim(press)


async def test_after_a_lock_that_could_not_be_had_the_next_submit_and_claim_are_carried_out(
    on_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking.be_impatient(monkeypatch)
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        for prepared in (False, True):
            with psycopg.connect(on_server) as other:
                other.execute("LOCK TABLE pressroom.job")
                with pytest.raises(StoreBusy):
                    await submit_in_one_message(press)
            assert await claim_in_one_message(press) == [], f"{prepared=}"
            await submit_and_claim(press)


@pytest.fixture
def connection(on_server: str) -> Iterator[PostgresConnection]:
    with closing(PostgresConnection(on_server, SystemClock())) as connection:
        yield connection


def submit_by_several_statements(connection: PostgresConnection) -> None:
    new = CheckedJob(new_uid(), "shout", 1, '"hi"', OnKey.COALESCE, 3, 3, 60_000)
    connection.begin(durable=True, shared_lock=True)
    connection.run_work(submitting.insert_new_jobs([new]))
    connection.commit()


@pytest.mark.parametrize("before", range(4))
def test_a_statement_whose_preparation_was_never_reached_is_not_believed_to_be_prepared(
    on_server: str, connection: PostgresConnection, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """psycopg counts a statement as prepared when it sends it. In a pipeline that breaks off before, it never was."""
    connection.begin(durable=True, shared_lock=True)
    connection.rollback()  # nothing is prepared yet: psycopg would keep count of a plain ROLLBACK, and not look at the next
    for _ in range(before):
        submit_by_several_statements(connection)
    with psycopg.connect(on_server) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (EVENTS,))
        connection.raw.execute("SET lock_timeout = 1")
        monkeypatch.setitem(
            PostgresConnection.begin.__globals__, "BUSY_TIMEOUT", 0.001
        )  # of this class, if the module was imported anew
        with pytest.raises(psycopg.errors.LockNotAvailable):
            submit_by_several_statements(connection)
        connection.rollback()
    monkeypatch.undo()

    for _ in range(4):
        submit_by_several_statements(connection)

    assert looking.rows(on_server, "SELECT count(*) FROM job_event") == [(before + 4,)]


def a_submit(uid: str | None = None) -> SingleRoundTrip:
    """The statement of a lone submit."""
    new = CheckedJob(uid or new_uid(), "shout", 1, '"hi"', OnKey.COALESCE, 3, 3, 60_000)
    statement = next(submitting.insert_new_jobs([new], single_round_trip=True))
    assert isinstance(statement, SingleRoundTrip)
    return statement


def session_name(connection: PostgresConnection) -> str:
    return connection._single_message["submit_in_one_round_trip"].session_name


def test_a_submit_whose_prepared_statement_is_gone_is_carried_out_once(on_server: str, connection: PostgresConnection) -> None:
    for _ in range(3):
        connection.single_round_trip(a_submit(), durable=True)
        connection.raw.execute("DEALLOCATE ALL")

    assert looking.rows(on_server, "SELECT count(*), count(DISTINCT uid) FROM job") == [(3, 3)]


def test_a_submit_whose_name_the_session_has_already_is_carried_out_once(
    on_server: str, connection: PostgresConnection
) -> None:
    """As in a session of a pooler that another process used before."""
    connection.raw.execute(f"PREPARE {session_name(connection)} AS SELECT 1", prepare=False)

    for _ in range(3):
        connection.single_round_trip(a_submit(), durable=True)

    assert looking.rows(on_server, "SELECT count(*), count(DISTINCT uid) FROM job") == [(3, 3)]


def test_a_message_that_names_an_unknown_statement_does_nothing(
    on_server: str, connection: PostgresConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server leaves the transaction failed and skips the rest of the message, the COMMIT as well."""
    connection.single_round_trip(a_submit(), durable=True)
    before = looking.rows(on_server, "SELECT (SELECT count(*) FROM job_event), last_value FROM job_number")
    connection.raw.execute("DEALLOCATE ALL")
    failed: list[tuple[psycopg.pq.TransactionStatus, Any]] = []
    rollback = PostgresConnection.rollback

    def look_first(self: PostgresConnection) -> None:
        status = psycopg.pq.TransactionStatus(self.raw.pgconn.transaction_status)
        failed.append((status, looking.rows(on_server, "SELECT (SELECT count(*) FROM job_event), last_value FROM job_number")))
        rollback(self)

    monkeypatch.setattr(PostgresConnection, "rollback", look_first)
    connection.single_round_trip(a_submit(), durable=True)

    assert failed == [(psycopg.pq.TransactionStatus.INERROR, before)]
    assert looking.rows(on_server, "SELECT count(*) FROM job") == [(2,)]


def test_a_submit_that_was_committed_is_never_sent_again(
    on_server: str, connection: PostgresConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is said after the commit: psycopg may send a DEALLOCATE of its own, and it may fail in the same words."""
    connection.single_round_trip(a_submit(), durable=True)
    execute = type(connection._cursor).execute

    def complain_afterwards(self: Any, *args: Any, **how: Any) -> Any:
        execute(self, *args, **how)
        raise psycopg.errors.InvalidSqlStatementName('prepared statement "_pg3_7" does not exist')

    with monkeypatch.context() as broken:
        broken.setattr(type(connection._cursor), "execute", complain_afterwards)
        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            connection.single_round_trip(a_submit(), durable=True)

    assert looking.rows(on_server, "SELECT count(*) FROM job") == [(2,)]


def test_another_text_has_another_name_in_the_session() -> None:
    """A rolling upgrade behind a pooler: both versions prepare statements in the same sessions."""
    old, new = (
        SingleMessageStatement("submit_in_one_round_trip", "SELECT :a"),
        SingleMessageStatement("submit_in_one_round_trip", "SELECT :a + 1"),
    )

    assert old.session_name != new.session_name
    assert max(len(one.session_name) for one in (old, new)) < 64  # longer names are cut short by PostgreSQL


def _ask_for(number: int) -> Work[list[Row]]:
    return (yield Statement("SELECT :a::int", {"a": number}))


def test_reading_keeps_what_is_prepared(on_server: str) -> None:
    with closing(PostgresConnection(on_server, SystemClock(), readonly=True)) as connection:
        for _ in range(4):
            connection.read(lambda: _ask_for(1))

        assert connection.execute("SELECT count(*) FROM pg_prepared_statements") == [(1,)]
