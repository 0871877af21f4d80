"""A worker of ours as a node of oban's."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from oban.job import Job

from pressroom.delivery import Offer, Taker
from pressroom.delivery.oban import internals
from pressroom.delivery.oban.internals import LocalDispatcher, ObanAttempt, Producer
from pressroom.errors import PressroomError

log = logging.getLogger("pressroom.delivery")

PERFORM = "pressroom.delivery.oban.workers.Perform"
REFRESH_INTERVAL = 0.5  # seconds
INTERACTIVE_FIRST_FOR = 2.0  # seconds for which background work waits for a queue of interactive work to fetch again


def queue_names_of(kind: str) -> tuple[str, str]:
    """By tier. A queue of its own for each kind, so that workers that take only some get only those."""
    return f"pressroom-{kind}", f"pressroom-{kind}-background"


class Node:
    """Fetches no more than its worker has room for, and tells oban how each job went."""

    def __init__(
        self,
        taker: Taker,
        fire_schedules: Callable[[], Awaitable[object]],
        cancel: Callable[[str], Awaitable[object]],
        list_paused_kinds: Callable[[], Awaitable[Collection[str]]],
    ) -> None:
        self.name = taker.name
        self.queues = {queue: 2 * taker.slots for kind in taker.kinds for queue in queue_names_of(kind)}
        self.producers: Mapping[str, Producer] = {}
        self._kinds = {queue: (kind, tier) for kind in taker.kinds for tier, queue in enumerate(queue_names_of(kind))}
        self._taker = taker
        self._fire = fire_schedules
        self._cancel = cancel
        self._list_paused = list_paused_kinds
        self._paused: Collection[str] = ()
        self._expected = [0, 0]  # by tier: asked for or fetched, and not offered yet
        self._in_transit: dict[int, int] = {}  # the tier of each job that was fetched and is not offered yet
        self._without_slots: set[str] = set()  # queues that wanted to fetch when no slot was free
        self._fetched_at: dict[str, float] = {}
        self._last_background = 0.0  # when slots were last reserved for background work
        self._interactive_waits: dict[str, float] = {}  # queues of interactive work that got no slot, and when
        self._cancelling: set[asyncio.Task[object]] = set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as together:
            together.create_task(self._refresh_forever())
            together.create_task(self._fetch_when_slots_free())

    @property
    def held_job_ids(self) -> list[int]:
        """The oban jobs that run on this node, or whose outcome is not acked yet."""
        return [id for producer in self.producers.values() for id in internals.held_job_ids(producer)]

    async def _refresh_forever(self) -> None:
        """Read which kinds are paused: their jobs are not fetched at all, which costs less than to refuse each again and again.

        A producer whose acks failed tries them again only when its queue gets a job, which may be never: so notify it.
        """
        while True:
            with suppress(PressroomError):
                self._paused = await self._list_paused()
            for producer in self.producers.values():
                if internals.has_pending_acks(producer):
                    producer.notify()
            await asyncio.sleep(REFRESH_INTERVAL)

    async def _fetch_when_slots_free(self) -> None:
        while True:
            await self._taker.slot_freed()
            self._notify_waiting_producers()

    def _notify_waiting_producers(self) -> None:
        """Let those producers fetch that found no free slot before, those of interactive work first."""
        queues, self._without_slots = self._without_slots, set()
        for queue in sorted(queues, key=lambda queue: self._kinds[queue][1]):
            if queue in self.producers:
                self.producers[queue].notify()

    def reserve_slots(self, queue: str, limit: int) -> int:
        """How many jobs of a queue to fetch. Their slots count as taken from now on: other queues fetch at the same time."""
        kind, tier = self._kinds[queue]
        if kind in self._paused:
            return 0
        total, background = self._taker.free_slots()
        room = total - sum(self._expected)
        if tier:
            room = 0 if self._interactive_first() else min(room, background - self._expected[1])
        if room <= 0:
            self._without_slots.add(queue)
            if not tier:
                self._interactive_waits[queue] = time.monotonic()
            return 0
        reserved = min(limit, room)
        self._expected[tier] += reserved
        if tier:
            self._last_background = time.monotonic()
        return reserved

    def _interactive_first(self) -> bool:
        """Whether interactive work found no slot and has not been fetched since. Its queue may be paused, so this has a limit.

        With one slot none is kept free for it, and notifications may be lost or late: then its queues fetch before every
        background job.
        """
        now = time.monotonic()
        if any(waits_since > now - INTERACTIVE_FIRST_FOR for waits_since in self._interactive_waits.values()):
            return True
        behind = [queue for queue in self._interactive_queues() if self._fetched_at.get(queue, -1.0) <= self._last_background]
        for queue in behind:
            self.producers[queue].notify()
        return bool(behind)

    def _interactive_queues(self) -> list[str]:
        """Queues that have to fetch first: none if one slot is always kept free for them, and none that is paused."""
        if self._taker.slots > 1:
            return []
        producers = self.producers.items()
        return [queue for queue, one in producers if self._kinds.get(queue, ("", 1))[1] == 0 and self._may_fetch(queue, one)]

    def _may_fetch(self, queue: str, producer: Producer) -> bool:
        return not internals.is_paused(producer) and self._kinds[queue][0] not in self._paused

    def note_fetched(self, queue: str, reserved: int, jobs: list[Job]) -> None:
        tier = self._kinds[queue][1]
        self._fetched_at[queue] = time.monotonic()
        if len(jobs) < reserved:
            self._interactive_waits.pop(queue, None)
        self._expected[tier] -= reserved - len(jobs)
        self._in_transit |= {job.id or 0: tier for job in jobs}
        if len(jobs) < reserved:
            self._notify_waiting_producers()

    def note_arrived(self, job: Job) -> None:
        tier = self._in_transit.pop(job.id or 0, None)
        if tier is not None:
            self._expected[tier] -= 1

    def offer(self, job: Job, uid: str, finish: Callable[[float | None], None]) -> None:
        self.note_arrived(job)
        self._taker.offer(ObanOffer(uid, int(bool(job.args.get("tier"))), finish))

    async def fire_schedules(self) -> None:
        await self._fire()

    def cancel(self, uid: str) -> None:
        task: asyncio.Task[object] = asyncio.ensure_future(self._cancel_job(uid))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel_job(self, uid: str) -> None:
        try:
            await self._cancel(uid)
        except PressroomError as reason:
            log.warning("job_%s was cancelled in oban, but not here: %s", uid, reason)


class OfferDispatcher(LocalDispatcher):
    """Offers jobs of ours to the worker; cancelling a running one with oban's tools cancels our job."""

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
        # A job that another program put into a queue of ours is never offered to the worker.
        task.add_done_callback(lambda _: self._node.note_arrived(job))
        return task

    def _offer(self, producer: Producer, job: Job, uid: str) -> "asyncio.Future[Any]":
        ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        attempt = ObanAttempt(producer, job)

        def finish(snooze: float | None) -> None:
            if not ended.done():  # the producer cancels it when it stops
                attempt.finish(snooze)
                ended.set_result(None)

        self._node.offer(job, uid, finish)
        return ended

    def cancel(self, producer: Producer, job: Job) -> None:
        super().cancel(producer, job)
        if isinstance(job.args.get("uid"), str):
            self._node.cancel(job.args["uid"])


class ObanOffer(Offer):
    """Oban hears once, at the end, and only when to call again."""

    def __init__(self, uid: str, tier: int, finish: Callable[[float | None], None]) -> None:
        super().__init__(uid, tier)
        self._finish = finish

    def refuse(self, retry_after: float | None) -> None:
        self._finish(retry_after)

    def settle(self, retry_after: float | None) -> None:
        self._finish(retry_after)
