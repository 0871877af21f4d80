"""What it costs a claim on a server that organisations take turns: counted in blocks touched, beside the plain order."""

import asyncio
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pressroom import Kind, Pressroom, Request
from pressroom.store.engine.postgres_connection import SCHEMA
from pressroom.store.engine.postgres_statements import translate_parameters
from pressroom.store.engine.statements import load
from pressroom.store.jobs import claiming
from pressroom.store.jobs.claiming import FreeSlots

PLAIN_ORDER = Path(__file__).with_name("claim_in_plain_order.sql").read_text()
KINDS = [f"kind-{n}" for n in range(12)]
QUEUED, RUNNING, FREE = 2_000, 8, 4


async def fill(address: str, organisations: int) -> None:
    async with Pressroom(address, kinds=[Kind(name, lambda job, payload: payload) for name in KINDS], workers=None) as press:
        names = [f"org-{n * organisations // QUEUED:03}" for n in range(QUEUED)]
        await press.submit_many([Request("kind-3", 0, org_id=name, tier=0) for name in names])
        await press._database.run(lambda: claiming.claim("other", KINDS, FreeSlots(RUNNING, 0), 60_000), name="turn")


@pytest.mark.parametrize("analysed", [False, True], ids=["new", "analysed"])
@pytest.mark.parametrize("organisations", [1, 100])
def test_a_claim_where_many_organisations_wait_costs_little_more(on_server: str, organisations: int, analysed: bool) -> None:
    asyncio.run(fill(on_server, organisations))
    with psycopg.connect(f"{on_server}?options=-csearch_path%3D{SCHEMA}", autocommit=True) as connection:
        if analysed:
            connection.execute("ANALYZE job")
        plain = blocks(connection, PLAIN_ORDER)
        fair = blocks(connection, load("postgres")["claim_next"])

    assert fair <= 1.3 * plain


def blocks(connection: "psycopg.Connection[Any]", text: str) -> int:
    """As the third of its kind: what the first finds out about tables and indexes it finds out once."""
    values = {"kinds": json.dumps(KINDS), "total": FREE, "background": FREE, "worker": "w", "lease": 1, "now": 2**42}
    for _ in range(3):
        with connection.transaction(force_rollback=True):
            sql = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {translate_parameters(text).sql}"
            ((plans,),) = connection.execute(sql, {**values, "after": "org-050"})  # type: ignore[arg-type]
    plan = plans[0]["Plan"]
    assert plan["Actual Rows"] == FREE
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
