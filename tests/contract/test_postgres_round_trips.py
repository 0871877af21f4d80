"""What answers nothing needs no round trip of its own, and yet whoever wrote it hears of its errors."""

import asyncio
import re
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import msgspec
import psycopg
import pytest

from pressroom import OnKey, Pressroom, kind
from pressroom.clock import ManualClock, SystemClock
from pressroom.ids import new_uid
from pressroom.store.engine.postgres_connection import PostgresConnection
from pressroom.store.jobs import claiming, queries, submitting
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.submitting import CheckedJob
from tests import looking


@kind("shout")
async def shout(job: Any, payload: Any) -> Any:
    return payload.upper()


def a_job(uid: str) -> CheckedJob:
    return CheckedJob(uid, "shout", 1, '"hi"', OnKey.COALESCE, 3, 3, 60_000)


async def test_a_submit_alone_and_a_claim_alone_ask_the_server_once(on_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        first = await press.submit("shout", "and the queue is counted, now and then")
        await press.cancel(first)
        asked: list[str] = []
        send = PostgresConnection.single_round_trip

        def note(self: PostgresConnection, statement: Any, durable: bool) -> Any:
            asked.append(statement.sql)
            return send(self, statement, durable)

        monkeypatch.setattr(PostgresConnection, "single_round_trip", note)
        monkeypatch.setattr(PostgresConnection, "begin", None)
        submitted = await press.submit("shout", "hi")
        unit = partial(claiming.settle_and_claim, (), "me", press.kinds, FreeSlots(1, 1), 15_000, press.kinds, shared_lock=True)
        turn = await press._database.run(unit, name="turn", durable=False, shared_lock=True)
        nothing = await press._database.run(unit, name="turn", durable=False, shared_lock=True)

        assert asked == ["submit_in_one_round_trip", "claim_in_one_round_trip", "claim_in_one_round_trip"]
        assert [claim.uid for claim in turn.claims] == [submitted.uid]
        assert nothing.claims == []
        history = await press.history(submitted)
        assert [(event.type, event.data) for event in history] == [("queued", {}), ("started", {"attempt": 1, "worker": "me"})]


def messages(connection: PostgresConnection, do: Callable[[], Any]) -> list[str]:
    """What is sent to the server meanwhile, and each answer's end, as libpq sees it."""
    with tempfile.TemporaryFile("w+") as file:
        connection.raw.pgconn.trace(file.fileno())
        connection.raw.pgconn.set_trace_flags(psycopg.pq.Trace.SUPPRESS_TIMESTAMPS)
        do()
        connection.raw.pgconn.untrace()
        file.seek(0)
        found = re.findall(r"^([FB])\t\d+\t(\w+)", file.read(), re.MULTILINE)
    return [name for sender, name in found if sender == "F" or name == "ReadyForQuery"]


def test_a_submit_alone_and_a_claim_alone_are_one_message_the_first_time_and_after_an_error(on_server: str) -> None:
    with closing(PostgresConnection(on_server, SystemClock())) as connection:
        for _ in range(3):
            submit = next(submitting.insert_new_jobs([a_job(new_uid())], single_round_trip=True))
            claim = next(claiming.claim_concurrently("me", ["shout"], FreeSlots(1, 1), 15_000, single_round_trip=True))
            assert messages(connection, partial(connection.single_round_trip, submit, True)) == ["Query", "ReadyForQuery"]
            assert messages(connection, partial(connection.single_round_trip, claim, False)) == ["Query", "ReadyForQuery"]

            connection.begin(durable=True, shared_lock=True)
            with pytest.raises(psycopg.errors.DivisionByZero):
                connection.execute("SELECT 1/0")
            connection.rollback()


async def test_a_submit_at_once_and_one_by_the_long_way_come_to_the_same(on_server: str) -> None:
    """With what is easily got wrong on the way: a NUL, quotes, a backslash, a delay, a time."""
    odd = {
        "payload": '{"text": "\\u0000 \\\\ \'; DROP TABLE job; --"}',
        "org_id": "o'rg",
        "project_id": "p",
        "build_id": "b",
        "subject": "$1 %s :name \0",
        "trace": "{}",
    }
    soon = 4_000_000_000_000
    given = [{}, {"delay": 5_000}, {"run_at": soon}, {"run_at": 1, "delay": 7_000}, odd]
    clock = ManualClock()
    async with Pressroom(on_server, kinds=[shout], workers=None, clock=clock) as press:
        for way in ("prepared", "in full", "by several statements"):
            if way == "in full":
                for connection in press._database._connections:
                    connection.raw.execute("DEALLOCATE ALL")
            many = [msgspec.structs.replace(a_job(new_uid()), **more) for more in given]
            unit = partial(submitting.insert_new_jobs, many, single_round_trip=way != "by several statements")
            await press._database.run(unit, name="submit", shared_lock=True)
        shown = "kind, tier, run_at, status, waits_for, max_attempts, max_crashes, org_id, project_id, build_id, subject, trace"
        more = "retention, on_key, date_created, body, seq = id"
        rows = looking.rows(on_server, f"SELECT {shown}, {more} FROM job JOIN job_payload ON job_id = id ORDER BY id")
        events = looking.rows(on_server, "SELECT type, data, at FROM job_event ORDER BY id")

    assert len(rows) == 3 * len(given)
    assert rows[: len(given)] == rows[len(given) : 2 * len(given)] == rows[2 * len(given) :]
    assert set(events) == {("queued", "{}", clock.now_ms())}


async def test_a_connection_that_was_cut_while_nobody_used_it_is_made_again(on_server: str) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        await press.submit("shout", "before")
        pids = [connection.raw.info.backend_pid for connection in press._database._connections]
        for pid in pids:
            looking.rows(on_server, f"SELECT pg_terminate_backend({pid}, 5000)")

        assert (await press.submit("shout", "after")).uid


async def test_submits_that_gather_share_one_commit(on_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the lock and the clock, for a number, and for everything else with the commit."""
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        await press._database.run(lambda: submitting.insert_new_jobs([a_job(new_uid())]), name="submit")
        asked: list[str] = []
        ask, commit = PostgresConnection._execute_after_deferred, PostgresConnection.commit

        def note(self: PostgresConnection, text: str, *args: Any, **how: Any) -> None:
            asked.append(re.split(r"[;(]", text)[0])
            ask(self, text, *args, **how)

        def note_commit(self: PostgresConnection) -> None:
            asked.append("commit")
            commit(self)

        monkeypatch.setattr(PostgresConnection, "_execute_after_deferred", note)
        monkeypatch.setattr(PostgresConnection, "commit", note_commit)
        await press._database.run(lambda: submitting.insert_new_jobs([a_job(new_uid())]), name="submit")

        assert asked == ["BEGIN", "SELECT reserve_numbers", "commit"]


async def test_of_many_submits_in_one_commit_only_the_bad_one_fails(on_server: str, eventually: Callable[..., Any]) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        run = press._database.run
        taken = (await press.submit("shout", "there")).uid
        good = [new_uid() for _ in range(3)]
        with looking.held(on_server):
            first = asyncio.create_task(run(lambda: submitting.insert_new_jobs([a_job(good[0])]), name="submit"))
            await eventually(lambda: looking.one_waits_for_a_lock(on_server))  # it holds the lane while the others gather
            others = [
                asyncio.create_task(run(lambda uid=uid: submitting.insert_new_jobs([a_job(uid)]), name="submit"))
                for uid in (good[1], taken, good[2])
            ]
            await asyncio.sleep(0.2)
        await first
        answers = await asyncio.gather(*others, return_exceptions=True)

        assert [isinstance(one, psycopg.errors.UniqueViolation) for one in answers] == [False, True, False]
        for uid in good:
            assert (await press.get(uid)).payload == "hi"
        with pytest.raises(psycopg.errors.UniqueViolation):
            await run(lambda: submitting.insert_new_jobs([a_job(taken)]), name="submit")
        assert len((await press.list()).jobs) == 4


async def test_what_was_not_told_yet_is_seen_by_the_next_statement_and_gone_with_the_unit(on_server: str) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:

        def broken() -> Any:
            yield from submitting.insert_new_jobs([a_job(new_uid())])
            raise ZeroDivisionError

        def seen() -> Any:
            answers = yield from submitting.insert_new_jobs([a_job(new_uid())])
            return (yield from queries.get(answers[0].uid))

        with pytest.raises(ZeroDivisionError):
            await press._database.run(broken, name="submit")
        assert (await press._database.run(seen, name="submit")).payload == "hi"
        assert len((await press.list()).jobs) == 1
