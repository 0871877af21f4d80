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

from pressroom.config import masked
from pressroom.delivery import Notice, Offer, Taker, Waiting, messages
from pressroom.delivery.embedded import Embedded
from pressroom.delivery.lists import Lists, connect
from pressroom.model import Submitted

log = logging.getLogger("pressroom.delivery")

BEAT = 3.0  # seconds between two signs of life
AGAIN = 0.5  # seconds before a Redis that is gone is tried again
CHUNK = 500  # jobs to look up and to announce at once
LEAVE_WITHIN = 2.0  # seconds for the last words of a worker, and of a process
COMPLAIN_EVERY = 60.0  # seconds, about the same trouble
NOT_OURS = 0.05, 1.0  # seconds of rest after messages for workers of other kinds only: at first, and when it goes on like that
PASSES = 50  # of a message that is for other kinds; then those may find its job by themselves
PASSED = 10_000  # messages whose passes are counted

type LookUp = Callable[[Sequence[int]], Awaitable[list[Notice]]]


class Redis(Embedded):
    """`queue` names the list; `{kind}` in it makes one for each kind, for fleets whose workers do not all take the same.

    `look_up` finds those of some jobs that may start now. It is asked after the commit, so that a message never comes before
    its job. `count_error` is called with the code of each error of Redis.
    """

    sweep = 1.0

    def __init__(
        self, url: str, queue: str, look_up: LookUp, count_error: Callable[[str], object] = lambda _code: None
    ) -> None:
        super().__init__()
        self._count_error = count_error
        self._place = masked(url).partition("?")[0]
        self._queue = queue
        self._look_up = look_up
        self._lists = Lists(connect(url, self._place), self._reached)
        self._unsaid: list[int] = []
        self._something_to_say = asyncio.Event()
        self._all_said = asyncio.Event()
        self._all_said.set()
        self._deaf = False
        self._complained: dict[str, float] = {}
        self._speaking = asyncio.create_task(self._speak(), name="pressroom-announcing")

    def announce(self, jobs: Sequence[Submitted]) -> None:
        if not jobs:
            super().announce(jobs)
            return
        self._unsaid += [job.id for job in jobs]
        self._all_said.clear()
        self._something_to_say.set()

    async def announce_again(self, kinds: Iterable[str], waiting: Waiting) -> None:
        """If a list is empty, whatever of it waits was forgotten."""
        names = {name for kind in kinds for name in self._names(kind)}
        empty = {name for name in names if await self._is_empty(name)}
        if not empty:
            return
        try:
            await self._push([notice for notice in await waiting() if self._name(notice) in empty])
        except (RedisError, OSError) as reason:
            self._note(reason)

    async def serve(self, taker: Taker) -> None:
        names = {name: tier for kind in taker.kinds for tier, name in enumerate(self._names(kind))}
        lines = [_Line(name, tier, taker) for name, tier in names.items()]
        try:
            async with asyncio.TaskGroup() as together:
                together.create_task(super().serve(taker))
                together.create_task(self._stay_alive(lines))
                for line in lines:
                    together.create_task(self._serve_line(line))
        finally:
            with suppress(RedisError, OSError):
                async with asyncio.timeout(LEAVE_WITHIN):
                    await asyncio.gather(*map(self._leave, lines))

    async def close(self) -> None:
        """What was submitted just now is announced before we go, if Redis listens."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_WITHIN):
                await self._all_said.wait()
        self._speaking.cancel()
        await asyncio.gather(self._speaking, return_exceptions=True)
        with suppress(RedisError, OSError):
            await self._lists.close()

    def _names(self, kind: str) -> tuple[str, str]:
        """One list for each tier. A plain BLPOP of both, in this order, is served in order."""
        name = self._queue.replace("{kind}", kind)
        return name, f"{name}:background"

    def _name(self, notice: Notice) -> str:
        return self._names(notice.kind)[notice.tier > 0]

    async def _speak(self) -> None:
        while True:
            await self._something_to_say.wait()
            self._something_to_say.clear()
            ids, self._unsaid = self._unsaid, []
            try:
                for start in range(0, len(ids), CHUNK):
                    await self._push(await self._look_up(ids[start : start + CHUNK]))
            except (RedisError, OSError) as reason:
                self._note(reason)
                super().announce(())  # at least the workers of this process hear of it
            except Exception:
                log.exception("announcing failed; workers will find the jobs by themselves")
            if not self._unsaid:
                self._all_said.set()

    async def _push(self, notices: Sequence[Notice]) -> None:
        by_list: dict[str, list[bytes]] = {}
        for notice in notices:
            by_list.setdefault(self._name(notice), []).append(messages.write(notice))
        for name, said in by_list.items():
            await self._lists.push(name, said)

    async def _is_empty(self, name: str) -> bool:
        try:
            return await self._lists.is_empty(name)
        except (RedisError, OSError) as reason:
            self._note(reason)
            return False

    async def _serve_line(self, line: "_Line") -> None:
        while True:
            try:
                if line.unsure:
                    await self._begin_anew(line)
                if not line.room():
                    await line.taker.slot_freed()
                    continue
                first = await self._lists.first(line.name, line.worker)
                if first is not None:
                    more = await self._lists.more(line.name, line.worker, line.room() - 1)
                    await self._hand_over(line, [first, *more])
            except (RedisError, OSError) as reason:
                line.unsure = True
                self._note(reason)
                await asyncio.sleep(AGAIN)

    async def _begin_anew(self, line: "_Line") -> None:
        """When we were cut off, a message may have been moved that we never saw. Offering the others twice does no harm."""
        await self._lists.show_life(line.name, line.worker)
        await self._lists.give_back(line.name, line.worker)
        line.unsure = False

    async def _hand_over(self, line: "_Line", taken: list[bytes]) -> None:
        unusable: list[bytes] = []
        foreign: list[bytes] = []
        for message in taken:
            named = messages.read(message)
            if named is None:
                unusable.append(message)
            elif named.kind is None or named.kind in line.taker.kinds:
                line.taker.offer(_Offer(named.uid, line.tier, self, line, message))
            elif line.is_passed_in_vain(named.uid):
                unusable.append(message)
            else:
                foreign.append(message)
        await self._lists.hand_on(line.name, line.worker, foreign)
        await self._lists.let_go(line.name, line.worker, unusable)
        await line.rest(all_foreign=len(foreign) == len(taken))

    def answered(self, line: "_Line", message: bytes, *, hand_back: bool = False) -> None:
        """Many are let go of together: one call for all that a turn has answered."""
        (line.unwanted if hand_back else line.spent).append(message)
        if len(line.unwanted) + len(line.spent) == 1:
            task = asyncio.create_task(self._tidy(line))
            line.tidying.add(task)
            task.add_done_callback(line.tidying.discard)

    async def _tidy(self, line: "_Line") -> None:
        await asyncio.sleep(0)
        spent, line.spent = line.spent, []
        unwanted, line.unwanted = line.unwanted, []
        try:
            await self._lists.let_go(line.name, line.worker, spent)
            await self._lists.hand_back(line.name, line.worker, unwanted)
        except (RedisError, OSError) as reason:
            line.unsure = True
            self._note(reason)

    async def _stay_alive(self, lines: Sequence["_Line"]) -> None:
        """Show that we live, and put back what those took who do not."""
        while True:
            for line in lines:
                try:
                    await self._lists.show_life(line.name, line.worker)
                    for worker, moved in await self._lists.look_after_others(line.name):
                        log.warning(
                            "worker %s went silent; %d messages that it had taken are back in %s", worker, moved, line.name
                        )
                except (RedisError, OSError) as reason:
                    self._note(reason)
            await asyncio.sleep(BEAT)

    async def _leave(self, line: "_Line") -> None:
        await asyncio.gather(*line.tidying)
        await self._lists.leave(line.name, line.worker)

    def _reached(self) -> None:
        if self._deaf:
            self._deaf = False
            log.warning("Redis at %s is back", self._place)

    def _note(self, reason: Exception) -> None:
        """Redis is away, or it answers that it will not: a replica that is read-only, a key that is no list."""
        refused = isinstance(reason, ResponseError)
        self._count_error("redis_refused" if refused else "redis_unreachable")
        trouble = str(reason) if refused else "away"
        now = time.monotonic()
        fresh = now - self._complained.get(trouble, -COMPLAIN_EVERY) >= COMPLAIN_EVERY
        if fresh:
            self._complained[trouble] = now
            self._deaf = self._deaf or not refused
        what = "refuses what we ask" if refused else "cannot be reached"
        text = str(reason) or type(reason).__name__
        log.log(
            logging.WARNING if fresh else logging.DEBUG,
            "Redis at %s %s; workers look for jobs by themselves: %s",
            *(self._place, what, text),
        )


class _Line:
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
        self._rest = NOT_OURS[0]

    def room(self) -> int:
        return self.taker.free_slots()[self.tier]

    def is_passed_in_vain(self, uid: str) -> bool:
        """Whether a message for workers of another kind has come round so often that there seem to be none."""
        if len(self._passed) >= PASSED:
            self._passed.clear()
        self._passed[uid] += 1
        if self._passed[uid] <= PASSES:
            return False
        del self._passed[uid]
        log.info("nobody takes job_%s from %s; a worker that knows its kind will find it in the store", uid, self.name)
        return True

    async def rest(self, *, all_foreign: bool) -> None:
        if all_foreign:
            await asyncio.sleep(self._rest)
            self._rest = min(2 * self._rest, NOT_OURS[1])
        else:
            self._rest = NOT_OURS[0]


class _Offer(Offer):
    def __init__(self, uid: str, tier: int, delivery: Redis, line: _Line, message: bytes) -> None:
        super().__init__(uid, tier)
        self._delivery = delivery
        self._line = line
        self._message = message

    def taken(self) -> None:
        self._delivery.answered(self._line, self._message)

    def refused(self, again: float | None) -> None:
        """Somebody else has it, or it is not its time: then a worker finds it when it is.

        A worker that is going refuses it for now: it is for the others.
        """
        self._delivery.answered(self._line, self._message, hand_back=again == 0.0)
