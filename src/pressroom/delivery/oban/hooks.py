"""Two of oban's extension points: acks in sets instead of one by one, and fetching no more than there are free slots for.

They are set for the whole process; the jobs of an oban that is not ours go the way that they went before.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from oban._executor import AckAction
from oban._extensions import get_ext, put_ext
from oban._producer import Producer, _get_jobs
from oban._query import Query, _ack_jobs
from oban.job import Job

from pressroom.delivery.oban import serving

_before: dict[str, Any] = {}


@cache
def statement(name: str, schema: str | None = None) -> str:
    """`schema` is where oban's tables are, for those statements that use them."""
    text = files("pressroom.delivery.oban").joinpath(f"sql/{name}.sql").read_text(encoding="utf-8")
    return text if schema is None else text.replace("{schema}", schema)


def install() -> None:
    for name, ours, usual in (("query.ack_jobs", ack, _ack_jobs), ("producer.get_jobs", fetch, _get_jobs)):
        there = get_ext(name, usual)
        if there is not ours:
            _before[name] = there
            put_ext(name, ours)


async def ack(query: Query, acks: Sequence[AckAction]) -> list[int]:
    if not all(_is_ours(one.job) for one in acks):
        theirs: list[int] = await _before["query.ack_jobs"](query, acks)
        return theirs
    ordered = sorted(acks, key=lambda one: one.id or 0)  # so that two of these never wait for each other
    rows = {
        "ids": [one.id for one in ordered],
        "handed_out": [_plain(one.attempted_at) for one in ordered],
        "states": [str(one.state) for one in ordered],
        "waits": [one.schedule_in for one in ordered],
        "changes": [one.attempt_change for one in ordered],
        "errors": [_as_text(one.error) for one in ordered],
        "metas": [_as_text(one.meta) for one in ordered],
    }
    async with query.connection() as connection:
        cursor = await connection.execute(statement("ack", query._prefix), rows)
        return [id for (id,) in await cursor.fetchall()]


async def fetch(producer: Producer) -> list[Job]:
    served = serving.of_node(producer._node)
    if served is None or producer._queue == serving.TICKS:
        theirs: list[Job] = await _before["producer.get_jobs"](producer)
        return theirs
    asked = served.ask(producer._queue, producer._limit - len(producer._running_jobs))
    if asked <= 0:
        return []
    jobs: list[Job] = []
    try:
        jobs = await producer._query.fetch_jobs(demand=asked, queue=producer._queue, node=producer._node, uuid=producer._uuid)
    finally:
        served.came(producer._queue, asked, jobs)
    return jobs


def _is_ours(job: Job) -> bool:
    return bool(job.attempted_by) and serving.of_node(job.attempted_by[0]) is not None


def _plain(moment: datetime | None) -> datetime | None:
    """As the column has it: UTC, unsaid."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def _as_text(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)
