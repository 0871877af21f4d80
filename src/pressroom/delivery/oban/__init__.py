"""Delivery by oban: a trigger inserts an oban job with our uid in our own transaction, oban calls us, and we claim by id.

Oban schedules, hands out and keeps count; its table is never asked what became of a job. An attempt that fails is snoozed for
as long as the kind's policy says. A job that oban has forgotten, however that came, is enlisted again.
"""

import asyncio
import hashlib
import logging
import math
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from oban import Oban as Instance
from oban import Snooze
from oban._producer import LocalDispatcher, Producer
from oban._scheduler import Expression, register_scheduled, scheduled_entries
from oban.job import Job
from oban.schema import install_sql
from psycopg_pool import AsyncConnectionPool

from pressroom.delivery import Offer, Taker, Waiting
from pressroom.delivery.oban import hooks, serving, workers
from pressroom.errors import PressroomError
from pressroom.model import Kind, Submitted

log = logging.getLogger("pressroom.delivery")

NAME = "pressroom"  # oban's name for the nodes that elect a leader among themselves
INSTALLING = 4721004  # the lock of whoever changes the tables
CONNECTIONS = 4
RESCUE_AT_LEAST = 300.0  # seconds; oban knows the age of an attempt only, so this is above every time limit
RESCUE_UNLIMITED = 24 * 3600.0
KEEP = 3600  # seconds that oban's own rows are kept; ours have the history
BATCH = 500
LOOK_FOR_PAUSES = 0.5  # seconds
OVERDUE = 5_000  # milliseconds after its time before a job counts as forgotten: oban looks each second


class Oban:
    """`fire` submits the jobs of the schedules whose time has come; `cancel` ends a job whose oban job was cancelled; `paused`
    tells which kinds are not to be handed out."""

    sweep = math.inf

    def __init__(
        self,
        url: str,
        kinds: Mapping[str, Kind],
        crons: Sequence[str],
        *,
        fire: Callable[[], Awaitable[object]],
        cancel: Callable[[str], Awaitable[object]],
        paused: Callable[[], Awaitable[Collection[str]]],
    ) -> None:
        self._url = url
        self._kinds = kinds
        self._crons = [cron for cron in dict.fromkeys(crons) if _oban_understands(cron)]
        self.keeps_time = len(self._crons) == len(set(crons))
        self._fire = fire
        self._cancel = cancel
        self._paused = paused
        self._pool: AsyncConnectionPool[Any] | None = None

    async def open(self) -> None:
        """Make oban's tables and our triggers, if they are not there."""
        async with await psycopg.AsyncConnection.connect(self._url) as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (INSTALLING,))
            there = await connection.execute("SELECT to_regclass('public.oban_jobs') IS NOT NULL")
            if await there.fetchone() != (True,):
                await connection.execute(install_sql())
            ours = hooks.statement("install")
            known = await connection.execute(
                "SELECT obj_description(to_regprocedure('pressroom.oban_enlist_added()'), 'pg_proc')"
            )
            if await known.fetchone() != (_mark(ours),):
                await connection.execute(ours)
                await connection.execute(f"COMMENT ON FUNCTION pressroom.oban_enlist_added() IS '{_mark(ours)}'")

    def announce(self, jobs: Sequence[Submitted]) -> None:
        """It was said in the transaction that made them."""

    async def announce_again(self, kinds: Iterable[str], waiting: Waiting) -> None:  # noqa: ARG002
        if self._pool is not None:
            await self.reconcile(kinds)

    async def reconcile(self, kinds: Iterable[str]) -> None:
        """Repair what oban forgot, or what was done to its rows behind our back."""
        asked = {"kinds": [kind for kind in kinds if kind != "webhook"], "limit": BATCH}
        async with self._connections.connection() as connection:
            cancelled = await (await connection.execute(hooks.statement("find_cancelled"))).fetchall()
        for (uid,) in cancelled:
            await self._cancel(uid)
        async with self._connections.connection() as connection:
            forgotten = await connection.execute(
                hooks.statement("enlist_forgotten"), asked | {"overdue": int(time.time() * 1000) - OVERDUE}
            )
            if forgotten.rowcount:
                log.warning("%d jobs were unknown to oban and are enlisted again", forgotten.rowcount)
            await connection.execute(hooks.statement("close_abandoned"))

    async def serve(self, taker: Taker) -> None:
        hooks.install()
        async with AsyncConnectionPool(
            self._url,
            min_size=1,
            max_size=CONNECTIONS,
            # Losing a hand-out or an ack with the power only means that oban asks us once more.
            kwargs={"options": "-c synchronous_commit=off", "application_name": "pressroom-oban"},
            open=False,
        ) as pool:
            self._pool = pool
            node = _Node(taker, self._fire, self._cancel, self._paused)
            instance = self._instance(pool, node)
            serving.begin(taker.name, node)
            try:
                await self._register_ticks()
                async with instance:
                    await node.tend(instance)
            finally:
                serving.end(taker.name)
                self._pool = None

    async def close(self) -> None:
        return None

    @property
    def _connections(self) -> AsyncConnectionPool[Any]:
        assert self._pool is not None
        return self._pool

    def _instance(self, pool: AsyncConnectionPool[Any], node: "_Node") -> Instance:
        return Instance(
            pool=pool,
            name=NAME,
            node=node.name,
            queues=node.queues | {serving.TICKS: 1},
            dispatcher=_Dispatcher(node),
            lifeline={"interval": 60.0, "rescue_after": rescue_after(self._kinds.values())},
            pruner={"max_age": KEEP},
            leadership=True,
            shutdown_grace_period=2.0,
        )

    async def _register_ticks(self) -> None:
        known = {entry.expression.input for entry in scheduled_entries() if entry.worker_cls is workers.Tick}
        for cron in self._crons:
            if cron not in known:
                register_scheduled(cron, workers.Tick)


class _Node:
    """A worker of ours as a node of oban's."""

    def __init__(
        self,
        taker: Taker,
        fire: Callable[[], Awaitable[object]],
        cancel: Callable[[str], Awaitable[object]],
        paused: Callable[[], Awaitable[Collection[str]]],
    ) -> None:
        self.name = taker.name
        self.queues: dict[str, Any] = {}
        for kind in taker.kinds:
            interactive, background = queues_of(kind)
            self.queues |= {interactive: 2 * taker.slots, background: 2 * taker.slots}
        self._kinds = {queue: (kind, tier) for kind in taker.kinds for tier, queue in enumerate(queues_of(kind))}
        self._list_paused = paused
        self._paused: Collection[str] = ()
        self._taker = taker
        self._fire = fire
        self._cancel = cancel
        self._expected = [0, 0]  # by tier: fetched, and not offered yet
        self._turned_away: set[str] = set()
        self._cancelling: set[asyncio.Task[object]] = set()

    async def tend(self, instance: Instance) -> None:
        async with asyncio.TaskGroup() as together:
            together.create_task(self._watch_pauses())
            together.create_task(self._call_back(instance))

    async def _watch_pauses(self) -> None:
        """Jobs of a kind that is paused are not fetched at all: to refuse each of them again and again would be work."""
        while True:
            with suppress(PressroomError):
                self._paused = await self._list_paused()
            await asyncio.sleep(LOOK_FOR_PAUSES)

    async def _call_back(self, instance: Instance) -> None:
        """Let those producers look again that came when there was no room."""
        while True:
            await self._taker.slot_freed()
            turned_away, self._turned_away = self._turned_away, set()
            for queue in turned_away:
                producer = instance._producers.get(queue)
                if producer is not None:
                    producer.notify()

    def room_for(self, queue: str) -> int:
        kind, tier = self._kinds[queue]
        if kind in self._paused:
            return 0
        room = self._taker.free_slots()[tier] - (self._expected[1] if tier else sum(self._expected))
        if room <= 0:
            self._turned_away.add(queue)
        return room

    def expect(self, jobs: list[Job]) -> None:
        for job in jobs:
            self._expected[_tier_of(job)] += 1

    async def perform(self, job: Job) -> Snooze | None:
        offer = _Offer(job)
        self._expected[offer.tier] -= 1
        self._taker.offer(offer)
        again = await offer.answer
        return None if again is None else Snooze(math.ceil(again))

    async def fire(self) -> None:
        await self._fire()

    def cancel(self, job: Job) -> None:
        task: asyncio.Task[object] = asyncio.ensure_future(self._cancel(str(job.args["uid"])))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)


class _Dispatcher(LocalDispatcher):
    """Whoever cancels a running job with oban's tools cancels ours."""

    def __init__(self, node: _Node) -> None:
        self._node = node

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        return None

    def cancel(self, producer: Producer, job: Job) -> None:
        super().cancel(producer, job)
        if "uid" in job.args:
            self._node.cancel(job)


class _Offer(Offer):
    """Oban hears once, at the end, and only when to call again."""

    def __init__(self, job: Job) -> None:
        super().__init__(str(job.args["uid"]), _tier_of(job))
        self.answer: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()

    def refused(self, again: float | None) -> None:
        self.settled(again)

    def settled(self, again: float | None) -> None:
        if not self.answer.done():
            self.answer.set_result(again)


async def uninstall(url: str) -> None:
    """Take our triggers away: new jobs are no longer made known to oban. Its own tables stay."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (INSTALLING,))
        await connection.execute(hooks.statement("uninstall"))


def queues_of(kind: str) -> tuple[str, str]:
    """By tier. A queue of its own for each kind, so that workers that take only some get only those."""
    return f"pressroom-{kind}", f"pressroom-{kind}-background"


def rescue_after(kinds: Iterable[Kind]) -> float:
    limits = [kind.timeout for kind in kinds]
    longest = RESCUE_UNLIMITED if None in limits else max((limit for limit in limits if limit is not None), default=0.0)
    return max(RESCUE_AT_LEAST, longest + 60.0)


def _tier_of(job: Job) -> int:
    return int(bool(job.args.get("tier")))


def _oban_understands(cron: str) -> bool:
    try:
        Expression.parse(cron)
    except ValueError:
        return False
    return True


def _mark(sql: str) -> str:
    return hashlib.sha256(sql.encode()).hexdigest()[:16]
