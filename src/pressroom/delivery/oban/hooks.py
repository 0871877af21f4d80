"""Two of oban's extension points: acks in sets instead of one by one, and fetching no more than there are free slots for.

They are set for the whole process; the jobs of an oban that is not ours go the way that they went before.
"""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from oban.job import Job

from pressroom.delivery.oban import internals, registry
from pressroom.delivery.oban.internals import AckAction, Producer, Query

_previous: dict[str, Callable[..., Any]] = {}


@cache
def load_statement(name: str, schema: str | None = None) -> str:
    """`schema` is where oban's tables are, for those statements that use them."""
    text = files("pressroom.delivery.oban").joinpath(f"sql/{name}.sql").read_text(encoding="utf-8")
    return text if schema is None else text.replace("{schema}", schema)


def install() -> None:
    for name, ours in (("query.ack_jobs", ack), ("producer.get_jobs", fetch)):
        previous = internals.swap_extension(name, ours)
        if previous is not ours:
            _previous[name] = previous


async def ack(query: Query, acks: Sequence[AckAction]) -> list[int]:
    if not all(_is_ours(one.job) for one in acks):
        acked: list[int] = await _previous["query.ack_jobs"](query, acks)
        return acked
    ordered = sorted(acks, key=lambda one: one.id or 0)  # two acks that lock rows in the same order cannot deadlock
    rows = {
        "ids": [one.id for one in ordered],
        "handed_out": [_naive_utc(one.attempted_at) for one in ordered],
        "states": [str(one.state) for one in ordered],
        "waits": [one.schedule_in for one in ordered],
        "changes": [one.attempt_change for one in ordered],
        "errors": [_json_or_none(one.error) for one in ordered],
        "metas": [_json_or_none(one.meta) for one in ordered],
    }
    async with query.connection() as connection:
        cursor = await connection.execute(load_statement("ack", internals.schema_of(query)), rows)
        return [id for (id,) in await cursor.fetchall()]


async def fetch(producer: Producer) -> list[Job]:
    node, queue = registry.find_node(internals.node_name(producer)), internals.queue_name(producer)
    if node is None or queue == registry.TICK_QUEUE:
        fetched: list[Job] = await _previous["producer.get_jobs"](producer)
        return fetched
    reserved = node.reserve_slots(queue, internals.free_slots(producer))
    if reserved <= 0:
        return []
    jobs: list[Job] = []
    try:
        jobs = await internals.fetch_jobs(producer, reserved)
    finally:
        node.note_fetched(queue, reserved, jobs)
    return jobs


def _is_ours(job: Job) -> bool:
    return bool(job.attempted_by) and registry.find_node(job.attempted_by[0]) is not None


def _naive_utc(moment: datetime | None) -> datetime | None:
    """As the column has it: UTC without a time zone."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def _json_or_none(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)
