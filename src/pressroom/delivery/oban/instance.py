"""An oban of ours: without those of its parts that see to everybody's jobs, and with a start that can fail."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from oban import Oban
from oban._scheduler import Expression, ScheduledEntry, Scheduler

from pressroom.delivery.oban import workers

log = logging.getLogger("pressroom.delivery")

NAME = "pressroom"  # oban's name for the nodes that elect a leader among themselves
FINISH_WITHIN = 2.0  # seconds that an answer of ours may take to reach oban; whatever ran has ended before
STOP_WITHIN = 8.0  # seconds; a database that does not answer must not keep anybody


class Instance(Oban):
    """Other obans may live in the same tables and in the same process. Oban's lifeline and pruner would rescue and delete
    their jobs as it suits ours, and its scheduler inserts whatever any module of the process has registered."""

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
        self._scheduler = Ticks(crons, leader=self._leader, notifier=self._notifier, query=self._query)
        self._ours = frozenset(queues)

    async def start(self) -> Self:
        """One part after the other: oban begins all at once, and when one fails the others go on without anybody."""
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
        # A notifier that was about to connect again does so whether it was stopped or not.
        setattr(self._notifier, "_connect", _give_up)  # noqa: B010

    async def _start_queue_local(self, **params: Any) -> None:
        """Whoever starts a queue of theirs everywhere does not mean us: we have not got what runs in it."""
        if params.get("queue") in self._ours:
            await super()._start_queue_local(**params)


class Ticks(Scheduler):
    """Oban's scheduler, for our schedules only. However many are due at a minute, one tick is enough."""

    def __init__(self, crons: Sequence[str], **parts: Any) -> None:
        super().__init__(**parts)
        self._entries = [ScheduledEntry(Expression.parse(cron), workers.Tick) for cron in crons]

    async def _evaluate(self, target: datetime) -> None:
        due = [entry for entry in self._entries if self._is_now(entry, target)]
        if due:
            await self._query.insert_jobs([self._build_job(due[0], target.isoformat())])


def understands(cron: str) -> bool:
    try:
        Expression.parse(cron)
    except ValueError:
        return False
    return True


async def _give_up() -> None:
    raise asyncio.CancelledError
