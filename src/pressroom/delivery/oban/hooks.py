"""Two of oban's extension points: acks in sets instead of one by one, and fetching no more than there are free slots for.

They are set for the whole process; an oban that is not ours keeps its own way of fetching, and its acks mean the same.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from oban._executor import AckAction
from oban._extensions import put_ext
from oban._producer import Producer, _get_jobs
from oban._query import Query
from oban.job import Job

from pressroom.delivery.oban import serving


def statement(name: str) -> str:
    return files("pressroom.delivery.oban").joinpath(f"sql/{name}.sql").read_text(encoding="utf-8")


ACK = statement("ack")


def install() -> None:
    put_ext("query.ack_jobs", ack)
    put_ext("producer.get_jobs", fetch)


async def ack(query: Query, acks: Sequence[AckAction]) -> list[int]:
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
    sql = ACK if query._prefix == "public" else ACK.replace("public.", f"{query._prefix}.")
    async with query.connection() as connection:
        cursor = await connection.execute(sql, rows)
        return [id for (id,) in await cursor.fetchall()]


async def fetch(producer: Producer) -> list[Job]:
    served = serving.of_node(producer._node)
    if served is None or producer._queue == serving.TICKS:
        return await _get_jobs(producer)
    demand = min(producer._limit - len(producer._running_jobs), served.room_for(producer._queue))
    if demand <= 0:
        return []
    jobs = await producer._query.fetch_jobs(demand=demand, queue=producer._queue, node=producer._node, uuid=producer._uuid)
    served.expect(jobs)
    return jobs


def _plain(moment: datetime | None) -> datetime | None:
    """As the column has it: UTC, unsaid."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def _as_text(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)
