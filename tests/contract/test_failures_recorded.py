"""Every job that ends failed is remembered by its error, in the transaction that ends it; no other job is."""

from typing import Any

import psycopg
import pytest

from pressroom import Pressroom
from pressroom.base.failure_signature import failure_signature
from pressroom.errors import JobFailed
from pressroom.model import GaveUp, Retry, Row, Work
from pressroom.store.engine.postgres_connection import SCHEMA, PostgresConnection
from pressroom.store.engine.postgres_statements import translate_parameters
from pressroom.store.engine.statements import load
from pressroom.store.jobs import claiming, rescue
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement, cancel, settle
from pressroom.store.jobs.rescue import LostJob
from pressroom.store.operators import failures
from pressroom.testing import SteppedStore
from tests import looking
from tests.service.queue_stage import BAD, GOOD, HALF, KINDS, STOPPED, Floor, floor


def recorded(database: str) -> list[Any]:
    return [tuple(row) for row in looking.rows(database, "SELECT job_id, print, version FROM job_failure ORDER BY job_id")]


async def test_only_what_fails_is_recorded(database: str) -> None:
    async with floor(database) as stage:
        for outcome in (GOOD, HALF, STOPPED):
            await stage.end(outcome)
        failed = await stage.end(BAD)
        tried_again = await stage.start()
        await stage.run(settle([Settlement(tried_again, Retry({"code": "x", "message": "no", "attempt": 1}, 1.0))], KINDS))

    assert recorded(database) == [(failed.id, failure_signature("build", "handler_error", "no"), None)]


async def test_an_attempt_that_lost_its_claim_or_was_cancelled_records_nothing(database: str) -> None:
    async with floor(database) as stage:
        claim = await stage.start()
        again = await stage.release(claim)
        await stage.run(settle([Settlement(claim, BAD)], KINDS))
        await stage.run(cancel(again.uid, KINDS, "never mind"))
        await stage.run(settle([Settlement(again, BAD)], KINDS))

    assert recorded(database) == []


async def test_a_rescue_that_gives_up_is_recorded(database: str) -> None:
    async with floor(database) as stage:
        claim = await stage.start(worker="gone")
        lost = LostJob(claim.id, claim.token, claim.kind, "gone", True, 0)
        for _ in range(3):
            await stage.run(rescue.rescue(lost, KINDS, 0))
            rows = looking.rows(database, f"SELECT status FROM job WHERE id = {claim.id}")
            if rows[0][0] == "failed":
                break
            lost = await _lost_again(stage)

    ((id, print, _),) = recorded(database)
    assert (id, len(print)) == (claim.id, 16)


async def _lost_again(stage: Floor) -> LostJob:
    stage.clock.advance(seconds=120)
    (claim,) = await stage.run(claiming.claim("gone", ["build"], FreeSlots(1, 1), 60_000))
    return LostJob(claim.id, claim.token, claim.kind, "gone", True, claim.crashes)


async def test_a_pruned_job_takes_its_row_along(database: str) -> None:
    async with floor(database) as stage:
        await stage.end(BAD)
        stage.clock.advance(days=30)
        await stage.run(rescue.prune(10))

    assert recorded(database) == []


async def test_nothing_more_is_said_when_nothing_fails(file: str) -> None:
    said: list[str] = []

    def overheard(work: Work[Any]) -> Work[Any]:
        rows: list[Row] = []
        try:
            statement = next(work)
            while True:
                said.append(statement.sql)
                rows = yield statement
                statement = work.send(rows)
        except StopIteration as end:
            return end.value

    async with floor(file) as stage:
        for outcome, times in ((GOOD, 0), (BAD, 1)):
            said.clear()
            await stage.run(overheard(settle([Settlement(await stage.start(), outcome)], KINDS)))
            assert said.count("record_failures") == times


async def test_a_failure_needs_no_round_trip_of_its_own(on_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = PostgresConnection._execute_after_deferred

    def note(self: PostgresConnection, text: str, *args: Any, **how: Any) -> None:
        asked.append(text)
        ask(self, text, *args, **how)

    async with floor(on_server) as stage:
        claims = [await stage.start(), await stage.start()]
        monkeypatch.setattr(PostgresConnection, "_execute_after_deferred", note)
        counts = []
        for claim, outcome in zip(claims, (GOOD, GaveUp({"code": "x", "message": "no"})), strict=True):
            asked.clear()
            await stage.run(settle([Settlement(claim, outcome)], KINDS))
            counts.append(len([text for text in asked if "SAVEPOINT" not in text]))

    assert counts[0] == counts[1]


READS = [name for name in load("sqlite") if name.startswith("failure_")]
VALUES = {
    "since": 1,
    "step": 1,
    "most": 1,
    "deep": 1,
    "groups": 1,
    "limit": 1,
    "near": 1,
    "above": 1,
    "id": 1,
    "org_id": None,
    "prints": '["0"]',
    "ids": "[1]",
    "firsts": '[[1,"x"]]',
    "print": "0",
}


@pytest.mark.parametrize("statement", READS)
def test_no_look_at_failures_reads_all_jobs(statement: str) -> None:
    store = SteppedStore()
    plan = [str(row[3]) for row in store.raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')[statement]}", VALUES)]
    store.close()

    assert not [line for line in plan if line.startswith(("SCAN job", "SCAN own", "SCAN job_failure", "SCAN beyond"))], plan


@pytest.mark.parametrize("statement", READS)
async def test_every_look_is_understood_by_the_server(on_server: str, statement: str) -> None:
    async with floor(on_server):
        pass
    text = translate_parameters(load("postgres")[statement])
    values = VALUES | {f"{name}__is_null": VALUES[name] is None for name in text.tested}
    with psycopg.connect(f"{on_server}?options=-csearch_path%3D{SCHEMA}") as connection:
        connection.execute(text.sql, values)  # type: ignore[arg-type]


async def test_groups_are_counted_no_further_than_is_looked_and_say_so(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "LOOKED_AT", 2)
    monkeypatch.setattr(failures, "LEAST", 2)
    async with floor(database) as stage:
        for number in range(4):
            await stage.end(GaveUp({"code": "x", "message": f"no {number}"}))
        found = await stage.press._database.read(lambda: failures.list_groups(failures.FailureWindow(3_600_000, 12), None))
        everything = await stage.press._database.read(lambda: failures.list_groups(failures.FailureWindow(None, 12), None))

    (group,) = found.items
    assert (group.count, group.capped, found.capped) == (4, True, True)
    assert sum(group.columns) == 2
    assert everything.items[0].print == group.print == failure_signature("build", "x", "no 7")


async def test_the_engines_at_whose_work_it_happened_are_recorded(database: str) -> None:
    async with Pressroom(database, workers=1) as press:
        job = await press.render("dot", "digraph { a ->", "svg")
        with pytest.raises(JobFailed) as failed:
            await press.wait(job, timeout=60)

    ((_, _, version),) = recorded(database)
    assert version == f"graphviz: {failed.value.error['engines']['graphviz']}"
