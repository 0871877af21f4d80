"""Everything private of oban that we use. A new version of oban is checked against this module and `tests/delivery/oban`."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from oban import Oban, Snooze
from oban._executor import AckAction, Executor
from oban._extensions import get_ext, put_ext
from oban._producer import LocalDispatcher, Producer, _get_jobs
from oban._query import Query, _ack_jobs
from oban._scheduler import Expression, ScheduledEntry, Scheduler
from oban.job import Job

from pressroom.delivery.oban import workers

__all__ = ["AckAction", "Instance", "LocalDispatcher", "Producer", "Query"]

log = logging.getLogger("pressroom.delivery")

NAME = "pressroom"  # oban's name for the nodes that elect a leader among themselves
FINISH_WITHIN = 2.0  # seconds that an ack may take to reach oban; the jobs themselves have ended before
STOP_WITHIN = 8.0  # seconds, so that a database that does not answer cannot block the stop

_EXTENSIONS: dict[str, Callable[..., Any]] = {"query.ack_jobs": _ack_jobs, "producer.get_jobs": _get_jobs}


class Instance(Oban):
    """Other instances of oban may use the same tables and the same process. Oban's lifeline and pruner would rescue and
    delete their jobs by our settings, and its scheduler inserts the crons of every module of the process."""

    def __init__(
        self, *, pool: Any, schema: str, node: str, queues: dict[str, Any], dispatcher: Any, crons: Sequence[str]
    ) -> None:
        super().__init__(
            pool=pool,
            prefix=schema,
            name=NAME,
            node=node,
            queues=queues,
            dispatcher=dispatcher,
            leadership=True,
            shutdown_grace_period=FINISH_WITHIN,
        )
        self._scheduler = TickScheduler(crons, leader=self._leader, notifier=self._notifier, query=self._query)
        self._ours = frozenset(queues)

    @property
    def producers(self) -> Mapping[str, Producer]:
        """By queue."""
        producers: Mapping[str, Producer] = self._producers
        return producers

    async def start(self) -> Self:
        """One part after the other: oban starts all at once, and when one fails it does not stop the others."""
        try:
            await self._verify_structure()
            for part in (self._notifier, self._leader, self._stager, self._refresher, self._scheduler):
                await part.start()
            for producer in self._producers.values():
                await producer.start()
            self._signal_token = await self._notifier.listen("signal", self._on_signal, wait=False)
        except BaseException:
            await self.stop()
            raise
        return self

    async def stop(self) -> None:
        parts = [*self._producers.values(), self._leader, self._stager, self._refresher, self._scheduler]
        try:
            async with asyncio.timeout(STOP_WITHIN):
                outcomes = await asyncio.gather(*(part.stop() for part in parts), return_exceptions=True)
                await self._notifier.stop()
        except TimeoutError:
            log.warning("oban did not stop within %.0f s; what it has not heard is seen to later", STOP_WITHIN)
        else:
            for reason in outcomes:
                if isinstance(reason, BaseException):
                    log.warning("a part of oban did not stop as it should: %r", reason)
        # A notifier that was about to reconnect does so even after it was stopped.
        setattr(self._notifier, "_connect", _cancel_connect)  # noqa: B010

    async def _start_queue_local(self, **params: Any) -> None:
        """A signal that starts a queue on every node is for other applications, unless the queue is ours."""
        if params.get("queue") in self._ours:
            await super()._start_queue_local(**params)


class TickScheduler(Scheduler):
    """Oban's scheduler, for our schedules only. However many are due at a minute, one tick is enough."""

    def __init__(self, crons: Sequence[str], **parts: Any) -> None:
        super().__init__(**parts)
        self._entries = [ScheduledEntry(Expression.parse(cron), workers.Tick) for cron in crons]

    async def _evaluate(self, target: datetime) -> None:
        due = [entry for entry in self._entries if self._is_now(entry, target)]
        if due:
            await self._query.insert_jobs([self._build_job(due[0], target.isoformat())])


class ObanAttempt:
    """What oban's executor does for one job, without a task that would only wait for the outcome: hundreds wait at once."""

    def __init__(self, producer: Producer, job: Job) -> None:
        self._producer = producer
        self._executor = Executor(job=job, safe=True)
        self._executor._report_started()

    def finish(self, snooze: float | None) -> None:
        """The attempt is over; `snooze` is in how many seconds oban is to call again, or None for never."""
        executor = self._executor
        result: Any = None if snooze is None else Snooze(snooze)  # type: ignore[arg-type]  # our ack takes parts of a second
        executor.result = result
        executor._record_stopped()
        executor._report_stopped()
        self._producer._pending_acks.append(executor.action)


def can_parse_cron(cron: str) -> bool:
    try:
        Expression.parse(cron)
    except ValueError:
        return False
    return True


def swap_extension(name: str, extension: Callable[..., Any]) -> Callable[..., Any]:
    """Set one of oban's extension points for the whole process, and return what was there before."""
    previous = get_ext(name, _EXTENSIONS[name])
    put_ext(name, extension)
    return previous


def schema_of(query: Query) -> str:
    return str(query._prefix)


def node_name(producer: Producer) -> str:
    return str(producer._node)


def queue_name(producer: Producer) -> str:
    return str(producer._queue)


def is_paused(producer: Producer) -> bool:
    return bool(producer._paused)


def has_pending_acks(producer: Producer) -> bool:
    return bool(producer._pending_acks)


def free_slots(producer: Producer) -> int:
    return int(producer._limit - len(producer._running_jobs))


def held_job_ids(producer: Producer) -> list[int]:
    """The oban jobs that run here, or whose outcome is not acked yet."""
    return [*producer._running_jobs, *(ack.id for ack in producer._pending_acks if ack.id is not None)]


async def fetch_jobs(producer: Producer, demand: int) -> list[Job]:
    query, queue, node, uuid = producer._query, producer._queue, producer._node, producer._uuid
    return await query.fetch_jobs(demand=demand, queue=queue, node=node, uuid=uuid)


async def _cancel_connect() -> None:
    raise asyncio.CancelledError
