"""Delivery by Redis lists, as design 002 has it: a message says which job to look at, and the store decides.

A worker moves a message into a list of its own, claims the job, and lets go of the message: from the claim on, the lease takes
care of the job. What a dead worker left in its list is put back. A Redis that is down, or was emptied, costs time: workers
look for themselves once a second, and whatever is queued while its list is empty is announced again.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

from redis.exceptions import RedisError, ResponseError

from pressroom.config import mask_password
from pressroom.delivery import JobNotice, Offer, Taker, Waiting, messages
from pressroom.delivery.embedded import Embedded
from pressroom.delivery.lists import MessageLists, make_client
from pressroom.model import Submitted

log = logging.getLogger("pressroom.delivery")

HEARTBEAT_INTERVAL = 3.0  # seconds
RECONNECT_INTERVAL = 0.5  # seconds before a Redis that is gone is tried again
CHUNK = 500  # jobs to look up and to announce at once
LEAVE_WITHIN = 2.0  # seconds to announce and to give messages back before a process or worker stops
WARN_INTERVAL = 60.0  # seconds between two warnings of the same problem
FOREIGN_BACKOFF = (
    0.05,
    1.0,
)  # seconds of rest after messages for workers of other kinds only: at first, and when it goes on like that
MAX_PASSES = 50  # of a message that is for other kinds; then those may find its job by themselves
MAX_PASSES_COUNTED = 10_000  # messages whose passes are counted

type LookUp = Callable[[Sequence[int]], Awaitable[list[JobNotice]]]


class Redis(Embedded):
    """`queue` names the list; `{kind}` in it makes one for each kind, for fleets whose workers do not all take the same.

    `look_up` finds those of some jobs that may start now. It is asked after the commit, so that a message never comes before
    its job. `count_error` is called with the code of each error of Redis.
    """

    min_poll_interval = 1.0

    def __init__(
        self, url: str, queue: str, look_up: LookUp, count_error: Callable[[str], object] = lambda _code: None
    ) -> None:
        super().__init__()
        self._count_error = count_error
        self._place = mask_password(url).partition("?")[0]
        self._queue = queue
        self._look_up = look_up
        self._lists = MessageLists(make_client(url, self._place), self._note_reachable)
        self._unannounced: list[int] = []
        self._announcements_due = asyncio.Event()
        self._all_announced = asyncio.Event()
        self._all_announced.set()
        self._unreachable = False
        self._warned_at: dict[str, float] = {}
        self._announcer = asyncio.create_task(self._announce_forever(), name="pressroom-announcing")

    def announce(self, jobs: Sequence[Submitted]) -> None:
        if not jobs:
            super().announce(jobs)
            return
        self._unannounced += [job.id for job in jobs]
        self._all_announced.clear()
        self._announcements_due.set()

    async def announce_again(self, kinds: Iterable[str], waiting: Waiting) -> None:
        """If a list is empty, whatever of it waits was forgotten."""
        names = {name for kind in kinds for name in self._list_names(kind)}
        empty = {name for name in names if await self._is_empty(name)}
        if not empty:
            return
        try:
            await self._push([notice for notice in await waiting() if self._list_name(notice) in empty])
        except (RedisError, OSError) as reason:
            self._record_error(reason)

    async def serve(self, taker: Taker) -> None:
        names = {name: tier for kind in taker.kinds for tier, name in enumerate(self._list_names(kind))}
        consumers = [_ListConsumer(name, tier, taker) for name, tier in names.items()]
        try:
            async with asyncio.TaskGroup() as together:
                together.create_task(super().serve(taker))
                together.create_task(self._heartbeat_forever(consumers))
                for consumer in consumers:
                    together.create_task(self._consume_forever(consumer))
        finally:
            with suppress(RedisError, OSError):
                async with asyncio.timeout(LEAVE_WITHIN):
                    await asyncio.gather(*map(self._unregister_consumer, consumers))

    async def close(self) -> None:
        """What was submitted just now is announced before we go, if Redis listens."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_WITHIN):
                await self._all_announced.wait()
        self._announcer.cancel()
        await asyncio.gather(self._announcer, return_exceptions=True)
        with suppress(RedisError, OSError):
            await self._lists.close()

    def _list_names(self, kind: str) -> tuple[str, str]:
        """One list for each tier. A plain BLPOP of both, in this order, is served in order."""
        name = self._queue.replace("{kind}", kind)
        return name, f"{name}:background"

    def _list_name(self, notice: JobNotice) -> str:
        return self._list_names(notice.kind)[notice.tier > 0]

    async def _announce_forever(self) -> None:
        while True:
            await self._announcements_due.wait()
            self._announcements_due.clear()
            ids, self._unannounced = self._unannounced, []
            try:
                for start in range(0, len(ids), CHUNK):
                    await self._push(await self._look_up(ids[start : start + CHUNK]))
            except (RedisError, OSError) as reason:
                self._record_error(reason)
                super().announce(())  # at least the workers of this process hear of it
            except Exception:
                log.exception("announcing failed; workers will find the jobs by themselves")
            if not self._unannounced:
                self._all_announced.set()

    async def _push(self, notices: Sequence[JobNotice]) -> None:
        by_list: dict[str, list[bytes]] = {}
        for notice in notices:
            by_list.setdefault(self._list_name(notice), []).append(messages.encode(notice))
        for name, said in by_list.items():
            await self._lists.push(name, said)

    async def _is_empty(self, name: str) -> bool:
        try:
            return await self._lists.is_empty(name)
        except (RedisError, OSError) as reason:
            self._record_error(reason)
            return False

    async def _consume_forever(self, consumer: "_ListConsumer") -> None:
        while True:
            try:
                if consumer.unsure:
                    await self._return_unseen_messages(consumer)
                if not consumer.free_slots():
                    await consumer.taker.slot_freed()
                    continue
                first = await self._lists.take_first(consumer.name, consumer.worker)
                if first is not None:
                    more = await self._lists.take_more(consumer.name, consumer.worker, consumer.free_slots() - 1)
                    await self._offer_messages(consumer, [first, *more])
            except (RedisError, OSError) as reason:
                consumer.unsure = True
                self._record_error(reason)
                await asyncio.sleep(RECONNECT_INTERVAL)

    async def _return_unseen_messages(self, consumer: "_ListConsumer") -> None:
        """When we were cut off, a message may have been moved that we never saw. Offering the others twice does no harm."""
        await self._lists.heartbeat(consumer.name, consumer.worker)
        await self._lists.return_all_taken(consumer.name, consumer.worker)
        consumer.unsure = False

    async def _offer_messages(self, consumer: "_ListConsumer", taken: list[bytes]) -> None:
        unusable: list[bytes] = []
        foreign: list[bytes] = []
        for message in taken:
            named = messages.parse(message)
            if named is None:
                unusable.append(message)
            elif named.kind is None or named.kind in consumer.taker.kinds:
                consumer.taker.offer(RedisOffer(named.uid, consumer.tier, self, consumer, message))
            elif consumer.is_unclaimed(named.uid):
                unusable.append(message)
            else:
                foreign.append(message)
        await self._lists.return_to_tail(consumer.name, consumer.worker, foreign)
        await self._lists.remove(consumer.name, consumer.worker, unusable)
        await consumer.wait_if_all_foreign(all_foreign=len(foreign) == len(taken))

    def release_message(self, consumer: "_ListConsumer", message: bytes, *, to_head: bool = False) -> None:
        """Many are let go of together: one call for all that a turn has answered."""
        (consumer.unwanted if to_head else consumer.spent).append(message)
        if len(consumer.unwanted) + len(consumer.spent) == 1:
            task = asyncio.create_task(self._return_released(consumer))
            consumer.tidying.add(task)
            task.add_done_callback(consumer.tidying.discard)

    async def _return_released(self, consumer: "_ListConsumer") -> None:
        await asyncio.sleep(0)
        spent, consumer.spent = consumer.spent, []
        unwanted, consumer.unwanted = consumer.unwanted, []
        try:
            await self._lists.remove(consumer.name, consumer.worker, spent)
            await self._lists.return_to_head(consumer.name, consumer.worker, unwanted)
        except (RedisError, OSError) as reason:
            consumer.unsure = True
            self._record_error(reason)

    async def _heartbeat_forever(self, consumers: Sequence["_ListConsumer"]) -> None:
        """Show that we live, and put back what those took who do not."""
        while True:
            for consumer in consumers:
                try:
                    await self._lists.heartbeat(consumer.name, consumer.worker)
                    for worker, moved in await self._lists.return_silent_messages_if_due(consumer.name):
                        log.warning(
                            "worker %s went silent; %d messages that it had taken are back in %s", worker, moved, consumer.name
                        )
                except (RedisError, OSError) as reason:
                    self._record_error(reason)
            await asyncio.sleep(HEARTBEAT_INTERVAL)

    async def _unregister_consumer(self, consumer: "_ListConsumer") -> None:
        await asyncio.gather(*consumer.tidying)
        await self._lists.unregister_worker(consumer.name, consumer.worker)

    def _note_reachable(self) -> None:
        if self._unreachable:
            self._unreachable = False
            log.warning("Redis at %s is back", self._place)

    def _record_error(self, reason: Exception) -> None:
        """Redis is away, or it answers that it will not: a replica that is read-only, a key that is no list."""
        refused = isinstance(reason, ResponseError)
        self._count_error("redis_refused" if refused else "redis_unreachable")
        problem = str(reason) if refused else "away"
        now = time.monotonic()
        fresh = now - self._warned_at.get(problem, -WARN_INTERVAL) >= WARN_INTERVAL
        if fresh:
            self._warned_at[problem] = now
            self._unreachable = self._unreachable or not refused
        what = "refuses what we ask" if refused else "cannot be reached"
        text = str(reason) or type(reason).__name__
        log.log(
            logging.WARNING if fresh else logging.DEBUG,
            "Redis at %s %s; workers look for jobs by themselves: %s",
            *(self._place, what, text),
        )


class _ListConsumer:
    """One list as one worker sees it."""

    def __init__(self, name: str, tier: int, taker: Taker) -> None:
        self.name = name
        self.tier = tier
        self.taker = taker
        self.worker = taker.name
        self.unsure = True  # whether our own list holds what we believe
        self.spent: list[bytes] = []
        self.unwanted: list[bytes] = []
        self.tidying: set[asyncio.Task[None]] = set()
        self._passed: Counter[str] = Counter()
        self._rest = FOREIGN_BACKOFF[0]

    def free_slots(self) -> int:
        return self.taker.free_slots()[self.tier]

    def is_unclaimed(self, uid: str) -> bool:
        """Whether a message for workers of another kind has come round so often that there seem to be none."""
        if len(self._passed) >= MAX_PASSES_COUNTED:
            self._passed.clear()
        self._passed[uid] += 1
        if self._passed[uid] <= MAX_PASSES:
            return False
        del self._passed[uid]
        log.info("no worker takes job_%s from %s; one that knows its kind will find it in the store", uid, self.name)
        return True

    async def wait_if_all_foreign(self, *, all_foreign: bool) -> None:
        if all_foreign:
            await asyncio.sleep(self._rest)
            self._rest = min(2 * self._rest, FOREIGN_BACKOFF[1])
        else:
            self._rest = FOREIGN_BACKOFF[0]


class RedisOffer(Offer):
    def __init__(self, uid: str, tier: int, delivery: Redis, consumer: _ListConsumer, message: bytes) -> None:
        super().__init__(uid, tier)
        self._delivery = delivery
        self._consumer = consumer
        self._message = message

    def accept(self) -> None:
        self._delivery.release_message(self._consumer, self._message)

    def refuse(self, retry_after: float | None) -> None:
        """Another worker has it, or it is not due: then a worker finds it when it is.

        A worker that is going refuses it for now: it is for the others.
        """
        self._delivery.release_message(self._consumer, self._message, to_head=retry_after == 0.0)
