"""Who names jobs reads those and no others, on a server that does not know yet how many wait."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from pressroom import Kind, Pressroom, Request
from pressroom.store.engine.postgres_connection import SCHEMA
from pressroom.store.engine.postgres_statements import translate_parameters
from pressroom.store.engine.statements import load
from pressroom.store.jobs import claiming
from pressroom.store.jobs.claiming import FreeSlots

WAIT, RUN, NAMED = 2_000, 200, 40


@pytest.fixture
def has_concurrent_writers(on_server: str) -> str:
    asyncio.run(fill(on_server))
    return on_server


async def fill(address: str) -> None:
    kind = Kind("echo", lambda job, payload: payload)
    async with Pressroom(address, kinds=[kind], workers=None) as press:
        await press.submit_many([Request("echo", n) for n in range(WAIT + RUN)])
        await press._database.run(lambda: claiming.claim("somebody", ["echo"], FreeSlots(RUN, RUN), 60_000), name="turn")


@pytest.mark.parametrize(
    "statement", ["claim_named", "list_named", "find_named_states", "claim_jobs", "list_notices", "record_starts"]
)
def test_jobs_that_wait_are_found_by_their_names(has_concurrent_writers: str, statement: str) -> None:
    """A claim by name once read everything that waited: 130 us a job with ten thousand of them, and more with more."""
    with psycopg.connect(f"{has_concurrent_writers}?options=-csearch_path%3D{SCHEMA}") as connection:
        rows = connection.execute("SELECT id, uid FROM job WHERE status = 'queued' ORDER BY id LIMIT %s", (NAMED,)).fetchall()
        assert len(rows) == NAMED
        assert rows_read(connection, statement, rows) <= 2 * NAMED


def test_leases_are_renewed_by_the_ids_of_their_jobs(has_concurrent_writers: str) -> None:
    with psycopg.connect(f"{has_concurrent_writers}?options=-csearch_path%3D{SCHEMA}") as connection:
        found = connection.execute("SELECT id, claim FROM job WHERE status = 'in_progress' ORDER BY id LIMIT %s", (NAMED,))
        assert rows_read(connection, "renew_leases", [], claims=json.dumps(found.fetchall())) <= 2 * NAMED


def rows_read(connection: "psycopg.Connection[Any]", statement: str, rows: list[Any], **more: Any) -> int:
    """Of the table of jobs, kept or not."""
    values = {
        "ids": json.dumps([id for id, _ in rows]),
        "uids": json.dumps([uid for _, uid in rows]),
        "kinds": '["echo"]',
        "with_payload": '["echo"]',
        "now": 2**42,
        "worker": "somebody",
        "lease": 60_000,
        "limited": 0,
    }
    text = translate_parameters(load("postgres")[statement]).sql
    ((plans,),) = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", values | more)  # type: ignore[arg-type]
    connection.rollback()
    return sum(_read_by(node) for node in _nodes(plans[0]["Plan"]))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def _read_by(node: dict[str, Any]) -> int:
    if node.get("Relation Name") != "job" or node["Node Type"] == "ModifyTable":
        return 0
    each = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return round(each * node["Actual Loops"])
