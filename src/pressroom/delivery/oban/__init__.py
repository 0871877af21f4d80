"""Delivery by oban: a trigger inserts an oban job with our uid in our own transaction, oban calls us, and we claim by id.

Oban schedules, hands out and keeps count; its table is never asked what became of a job. An attempt that fails is snoozed for
as long as the kind's policy says. A job that oban has forgotten, however that came, is enlisted again.
"""

import asyncio
import hashlib
import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any

import msgspec
import psycopg
from oban.schema import install_sql
from psycopg import sql
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool

from pressroom.config import mask_password
from pressroom.delivery import Taker, Waiting
from pressroom.delivery.oban import hooks, registry
from pressroom.delivery.oban.internals import Instance, can_parse_cron
from pressroom.delivery.oban.node import Node, OfferDispatcher
from pressroom.delivery.oban.reconciler import Reconciler, compare_schemas
from pressroom.errors import InvalidSettings, PrivilegesMissing
from pressroom.model import Submitted

INSTALL_LOCK = 4721004  # advisory; held while tables and triggers are made or removed
CONNECTIONS = 4
TABLES = ("oban_jobs", "oban_leaders", "oban_producers")


class Oban:
    """`fire` submits the jobs of the schedules whose time has come; `cancel` ends a job whose oban job was cancelled; `paused`
    tells which kinds are not to be handed out; `count_error` is called with each error of oban's tables; `schema` is
    where oban's tables are, or are made."""

    min_poll_interval = math.inf

    def __init__(
        self,
        url: str,
        crons: Sequence[str],
        *,
        fire_schedules: Callable[[], Awaitable[object]],
        cancel: Callable[[str], Awaitable[object]],
        list_paused_kinds: Callable[[], Awaitable[Collection[str]]],
        count_error: Callable[[BaseException], object] = lambda _reason: None,
        schema: str = "public",
    ) -> None:
        self._url = url
        self._schema = schema
        self._crons = [cron for cron in dict.fromkeys(crons) if can_parse_cron(cron)]
        self.fires_schedules = len(self._crons) == len(set(crons))
        self._fire = fire_schedules
        self._cancel = cancel
        self._paused = list_paused_kinds
        self._count_error = count_error
        self.instance: Instance | None = None
        self.reconciler: Reconciler | None = None

    async def open(self) -> None:
        """Make oban's tables and our triggers, if they are not there."""
        await install(self._url, self._schema)

    def announce(self, jobs: Sequence[Submitted]) -> None:
        """A trigger has already inserted the oban job."""

    async def announce_again(self, kinds: Iterable[str], waiting: Waiting) -> None:  # noqa: ARG002
        if self.reconciler is not None:
            await self.reconciler.enqueue_unannounced_jobs(kinds)

    async def serve(self, taker: Taker) -> None:
        hooks.install()
        node = Node(taker, self._fire, self._cancel, self._paused)
        async with self._make_pool() as pool:
            queues = node.queues | {registry.TICK_QUEUE: 1}
            instance = Instance(
                pool=pool,
                schema=self._schema,
                node=node.name,
                queues=queues,
                dispatcher=OfferDispatcher(node),
                crons=self._crons,
            )
            node.producers = instance.producers
            registry.register_node(node.name, node)
            try:
                async with instance:
                    reconciler = Reconciler(pool, self._cancel, self._schema, self._count_error)
                    await self._run(instance, node, reconciler)
            finally:
                registry.unregister_node(node.name)
                self.instance = self.reconciler = None

    async def close(self) -> None:
        return None

    def _make_pool(self) -> AsyncConnectionPool[Any]:
        named = {"application_name": "pressroom-oban"}
        return AsyncConnectionPool(
            self._url, min_size=1, max_size=CONNECTIONS, kwargs=named, configure=_configure_connection, open=False
        )

    async def _run(self, instance: Instance, node: Node, reconciler: Reconciler) -> None:
        self.instance, self.reconciler = instance, reconciler
        async with asyncio.TaskGroup() as together:
            together.create_task(node.run())
            together.create_task(reconciler.run(node.name, lambda: node.held_job_ids, lambda: instance.is_leader))


async def install(url: str, schema: str = "public") -> None:
    """Make the schema, oban's tables and our triggers, if they are not there. A role that needs to make none of them needs no
    right to do so. Raises PrivilegesMissing, ObanSchemaMismatch and InvalidSettings."""
    try:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (INSTALL_LOCK,))
            found = await connection.execute(hooks.load_statement("find_schema"))
            compare_schemas(await found.fetchall(), schema)
            await _install_oban(connection, schema)
            await _install_triggers(connection, schema)
    except psycopg.errors.InsufficientPrivilege as refused:
        raise PrivilegesMissing(
            f"{mask_password(url)}: oban's tables and triggers are not up to date, and this role may not make them: "
            f"{refused.diag.message_primary}; run `pressroom migrate` with delivery = oban as the role that owns the schema "
            "pressroom (docs/deployment.md, Roles on PostgreSQL)"
        ) from None


async def _install_oban(connection: psycopg.AsyncConnection[Any], schema: str) -> None:
    names = [f"{schema}.{table}" for table in TABLES]
    missing = await connection.execute("SELECT 1 FROM unnest(%s::text[]) AS name WHERE to_regclass(name) IS NULL", (names,))
    if await missing.fetchone() is None:
        return
    reserved = await connection.execute(hooks.load_statement("is_reserved"), {"name": schema})
    if await reserved.fetchone() == (True,):
        raise InvalidSettings([f"oban_schema: {schema!r} is a reserved word of PostgreSQL; name another schema"])
    there = await connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,))
    if await there.fetchone() is None:  # IF NOT EXISTS would need the right to create one also where it exists
        await connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    # Oban looks for its types in the current schema, and makes a function there.
    await connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(sql.Identifier(schema)))
    await connection.execute(install_sql(schema))


async def _install_triggers(connection: psycopg.AsyncConnection[Any], schema: str) -> None:
    ours = hooks.load_statement("install", schema)
    known = await connection.execute("SELECT obj_description(to_regprocedure('pressroom.oban_enlist_added()'), 'pg_proc')")
    if await known.fetchone() != (_short_hash(ours),):
        await connection.execute(ours)
        await connection.execute(f"COMMENT ON FUNCTION pressroom.oban_enlist_added() IS '{_short_hash(ours)}'")


async def uninstall(url: str) -> None:
    """Take our triggers away: new jobs are no longer made known to oban. Its own tables stay."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (INSTALL_LOCK,))
        await connection.execute(hooks.load_statement("uninstall"))


async def _configure_connection(connection: psycopg.AsyncConnection[Any]) -> None:
    """Without waiting for the disk: if power is lost, a lost fetch or ack only means that oban calls us once more."""
    await connection.execute("SET synchronous_commit TO off")
    await connection.commit()
    set_json_loads(msgspec.json.decode, connection)  # three columns of each oban job


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
