"""A worker of ours as a node of oban's."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from oban import Snooze
from oban._executor import Executor
from oban._producer import LocalDispatcher, Producer
from oban.job import Job

from pressroom.delivery import Offer, Taker
from pressroom.errors import PressroomError

log = logging.getLogger("pressroom.delivery")

PERFORM = "pressroom.delivery.oban.workers.Perform"
LOOK_AROUND = 0.5  # seconds
FIRST_FOR = 2.0  # seconds for which background work waits for a queue of interactive work to look again


def queues_of(kind: str) -> tuple[str, str]:
    """By tier. A queue of its own for each kind, so that workers that take only some get only those."""
    return f"pressroom-{kind}", f"pressroom-{kind}-background"


class Node:
    """Fetches no more than its worker has room for, and tells oban how each job went."""

    def __init__(
        self,
        taker: Taker,
        fire: Callable[[], Awaitable[object]],
        cancel: Callable[[str], Awaitable[object]],
        paused: Callable[[], Awaitable[Collection[str]]],
    ) -> None:
        self.name = taker.name
        self.queues = {queue: 2 * taker.slots for kind in taker.kinds for queue in queues_of(kind)}
        self.producers: Mapping[str, Producer] = {}
        self._kinds = {queue: (kind, tier) for kind in taker.kinds for tier, queue in enumerate(queues_of(kind))}
        self._taker = taker
        self._fire = fire
        self._cancel = cancel
        self._list_paused = paused
        self._paused: Collection[str] = ()
        self._expected = [0, 0]  # by tier: asked for or fetched, and not offered yet
        self._on_the_way: dict[int, int] = {}  # what was fetched, with its tier
        self._turned_away: set[str] = set()
        self._looked: dict[str, float] = {}  # when each queue was fetched from
        self._last_background = 0.0  # when background work was last given room
        self._first: dict[str, float] = {}  # queues of interactive work that found no room, and when
        self._cancelling: set[asyncio.Task[object]] = set()

    async def tend(self) -> None:
        async with asyncio.TaskGroup() as together:
            together.create_task(self._look_around())
            together.create_task(self._call_back())

    @property
    def held(self) -> list[int]:
        """The oban jobs that this node has, or has an answer for."""
        producers = list(self.producers.values())
        answered = [ack.id for producer in producers for ack in producer._pending_acks if ack.id is not None]
        return [id for producer in producers for id in producer._running_jobs] + answered

    async def _look_around(self) -> None:
        """Jobs of a kind that is paused are not fetched at all: to refuse each of them again and again would be work.

        A producer whose acks the database did not take tries again when something comes into its queue. That may be never.
        """
        while True:
            with suppress(PressroomError):
                self._paused = await self._list_paused()
            for producer in self.producers.values():
                if producer._pending_acks:
                    producer.notify()
            await asyncio.sleep(LOOK_AROUND)

    async def _call_back(self) -> None:
        while True:
            await self._taker.slot_freed()
            self._let_look()

    def _let_look(self) -> None:
        """Let those producers look again that came when there was no room, those of interactive work first."""
        turned_away, self._turned_away = self._turned_away, set()
        for queue in sorted(turned_away, key=lambda queue: self._kinds[queue][1]):
            if queue in self.producers:
                self.producers[queue].notify()

    def ask(self, queue: str, most: int) -> int:
        """How many jobs of a queue to fetch. They are counted from now on, for other queues are fetched from meanwhile."""
        kind, tier = self._kinds[queue]
        if kind in self._paused:
            return 0
        total, background = self._taker.free_slots()
        room = total - sum(self._expected)
        if tier:
            room = 0 if self._somebody_comes_first() else min(room, background - self._expected[1])
        if room <= 0:
            self._turned_away.add(queue)
            if not tier:
                self._first[queue] = time.monotonic()
            return 0
        asked = min(most, room)
        self._expected[tier] += asked
        if tier:
            self._last_background = time.monotonic()
        return asked

    def _somebody_comes_first(self) -> bool:
        """Whether interactive work was turned away and has not been fetched since. Its queue may be paused: not for ever.

        With one slot none is kept free for it, and news may be lost or late: then its queues look before every background job.
        """
        now = time.monotonic()
        if any(turned_away_at > now - FIRST_FOR for turned_away_at in self._first.values()):
            return True
        behind = [queue for queue in self._interactive() if self._looked.get(queue, -1.0) <= self._last_background]
        for queue in behind:
            self.producers[queue].notify()
        return bool(behind)

    def _interactive(self) -> list[str]:
        """Queues that have to look first: none if there is always a slot for them, and none that may not look."""
        if self._taker.slots > 1:
            return []
        producers = self.producers.items()
        return [queue for queue, one in producers if self._kinds.get(queue, ("", 1))[1] == 0 and self._may_look(queue, one)]

    def _may_look(self, queue: str, producer: Producer) -> bool:
        return not producer._paused and self._kinds[queue][0] not in self._paused

    def came(self, queue: str, asked: int, jobs: list[Job]) -> None:
        tier = self._kinds[queue][1]
        self._looked[queue] = time.monotonic()
        if len(jobs) < asked:
            self._first.pop(queue, None)
        self._expected[tier] -= asked - len(jobs)
        self._on_the_way |= {job.id or 0: tier for job in jobs}
        if len(jobs) < asked:
            self._let_look()

    def arrived(self, job: Job) -> None:
        tier = self._on_the_way.pop(job.id or 0, None)
        if tier is not None:
            self._expected[tier] -= 1

    def offer(self, job: Job, uid: str, answer: Callable[[float | None], None]) -> None:
        self.arrived(job)
        self._taker.offer(_Offer(uid, int(bool(job.args.get("tier"))), answer))

    async def fire(self) -> None:
        await self._fire()

    def cancel(self, uid: str) -> None:
        task: asyncio.Task[object] = asyncio.ensure_future(self._cancel_one(uid))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel_one(self, uid: str) -> None:
        try:
            await self._cancel(uid)
        except PressroomError as reason:
            log.warning("job_%s was cancelled in oban, but not here: %s", uid, reason)


class Dispatcher(LocalDispatcher):
    """Whoever cancels a running job with oban's tools cancels ours."""

    def __init__(self, node: Node) -> None:
        self._node = node

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        return None

    def dispatch(self, producer: Producer, job: Job) -> "asyncio.Future[Any]":  # type: ignore[override]
        uid = job.args.get("uid")
        if job.worker == PERFORM and isinstance(uid, str):
            return self._offer(producer, job, uid)
        task = super().dispatch(producer, job)
        # Somebody else's job in a queue of ours never comes to us.
        task.add_done_callback(lambda _: self._node.arrived(job))
        return task

    def _offer(self, producer: Producer, job: Job, uid: str) -> "asyncio.Future[Any]":
        """What oban's executor does, without a task that would do nothing but wait for an answer: hundreds wait at once."""
        over: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        executor = Executor(job=job, safe=True)
        executor._report_started()

        def answer(again: float | None) -> None:
            if over.done():  # given up, for we had to stop
                return
            said: Any = None if again is None else Snooze(again)  # type: ignore[arg-type]  # our ack takes parts of a second
            executor.result = said
            executor._record_stopped()
            executor._report_stopped()
            producer._pending_acks.append(executor.action)
            over.set_result(None)

        self._node.offer(job, uid, answer)
        return over

    def cancel(self, producer: Producer, job: Job) -> None:
        super().cancel(producer, job)
        if isinstance(job.args.get("uid"), str):
            self._node.cancel(job.args["uid"])


class _Offer(Offer):
    """Oban hears once, at the end, and only when to call again."""

    def __init__(self, uid: str, tier: int, answer: Callable[[float | None], None]) -> None:
        super().__init__(uid, tier)
        self._answer = answer

    def refused(self, again: float | None) -> None:
        self._answer(again)

    def settled(self, again: float | None) -> None:
        self._answer(again)
