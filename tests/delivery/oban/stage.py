"""What the tests of delivery by oban are staged with: a look into its tables, and an oban of somebody else."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from oban import Cancel, Oban, Record, Snooze, worker
from oban.job import Job
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from pressroom import Pressroom
from pressroom.delivery.oban import Oban as Delivery
from pressroom.delivery.oban import registry
from pressroom.delivery.oban.internals import Instance
from pressroom.delivery.oban.node import Node
from pressroom.delivery.oban.reconciler import Reconciler

PERFORM = "pressroom.delivery.oban.workers.Perform"
YEARLY = "0 0 1 1 *"  # so that no minute brings a tick of its own into the middle of a test


class Tables:
    """Oban's tables, and ours, as an operator with psql has them. What is said of `public.oban_…` is done in `schema`."""

    def __init__(self, url: str, schema: str = "public") -> None:
        self.url = url
        self.schema = schema

    def do(self, sql: str, *parameters: Any) -> list[dict[str, Any]]:
        sql = sql.replace("public.oban_", f"{self.schema}.oban_")
        with psycopg.connect(self.url, autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(sql, parameters or None)
            return cursor.fetchall() if cursor.description is not None else []

    def jobs(self) -> list[dict[str, Any]]:
        return self.do("SELECT * FROM public.oban_jobs ORDER BY id")

    def of(self, uid: str) -> dict[str, Any]:
        """The oban job that `delivery_ref` names."""
        (row,) = self.do(
            "SELECT known.* FROM pressroom.job LEFT JOIN public.oban_jobs known ON known.id = delivery_ref::bigint"
            " WHERE job.uid = %s",
            uid,
        )
        return row

    def states(self) -> list[str]:
        return [row["state"] for row in self.jobs()]


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.005)


def delivery_of(press: Pressroom) -> Delivery:
    assert isinstance(press._delivery, Delivery)
    return press._delivery


async def serving(press: Pressroom) -> Instance:
    """Its oban, once it is there and hears what it is told."""
    delivery = delivery_of(press)
    await until(lambda: delivery.instance is not None and not delivery.instance._notifier._pending_listen)
    assert delivery.instance is not None
    return delivery.instance


def node_of(instance: Instance) -> Node:
    node = registry.find_node(instance._node)
    assert isinstance(node, Node)
    return node


async def pause(press: Pressroom, kind: str) -> None:
    """And wait until its node has seen it."""
    node = node_of(await serving(press))
    await press.pause(kind)
    await until(lambda: kind in node._paused)


async def reconciler_of(press: Pressroom) -> Reconciler:
    await serving(press)
    found = delivery_of(press).reconciler
    assert found is not None
    return found


@asynccontextmanager
async def client(tables: Tables, **options: Any) -> AsyncIterator[Oban]:
    """Somebody else's oban. Without queues it is what an operator has at hand."""
    async with (
        AsyncConnectionPool(tables.url, min_size=1, max_size=4, open=False) as pool,
        Oban(pool=pool, prefix=tables.schema, **options) as oban,
    ):
        await until(lambda: not oban._notifier._pending_listen)
        yield oban


@worker(queue="mail", max_attempts=3)
class Mail:
    """A worker of somebody else, that does what it is told."""

    async def process(self, job: Job) -> Any:
        match job.args["do"]:
            case "record":
                return Record({"sent": True})
            case "snooze":
                return Snooze(3600, meta={"why": "full"})
            case "cancel":
                return Cancel("unknown address")
            case "fail":
                raise RuntimeError("no route")
            case "hold":
                await until(job.cancelled)
                return Cancel("told to")
        return None

    def backoff(self, job: Job) -> int:
        return 3600
