"""Delivery by Redis lists, as design 002 has it: a message says which job to look at, and the store decides.

A worker moves a message into a list of its own, claims the job, and lets go of the message: from the claim on, the lease takes
care of the job. What a dead worker left in its list is put back. A Redis that is down, or was emptied, costs time: workers
look for themselves once a second, and whatever is queued while the lists are empty is announced again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from redis.asyncio import Redis as Client
from redis.exceptions import RedisError

from pressroom.config import masked
from pressroom.delivery import Notice, Offer, Taker, Waiting, messages
from pressroom.delivery.embedded import Embedded
from pressroom.model import Submitted

log = logging.getLogger("pressroom.delivery")

BLOCK = 5  # seconds that we wait in Redis for a message
BEAT = 3.0  # seconds between two signs of life
SILENT_AFTER = 15_000  # milliseconds without one, and what a worker has taken is put back
AGAIN = 0.5  # seconds before a Redis that is gone is tried again
NOT_OURS = 0.05  # seconds of rest after a batch in which every message was for workers of other kinds
CHUNK = 500

# Move up to ARGV[1] messages from one list to another, and say which.
TAKE = """
local taken = {}
for i = 1, tonumber(ARGV[1]) do
    local message = redis.call('LMOVE', KEYS[1], KEYS[2], 'LEFT', 'RIGHT')
    if not message then break end
    taken[i] = message
end
return taken
"""
# Let go of messages, each once.
LET_GO = """
for i = 1, #ARGV do redis.call('LREM', KEYS[1], 1, ARGV[i]) end
"""

type LookUp = Callable[[Sequence[int]], Awaitable[list[Notice]]]


class Redis(Embedded):
    """`queue` names the list; `{kind}` in it makes one for each kind, for fleets whose workers do not all take the same.

    `look_up` finds those of some jobs that may start now. It is asked after the commit, so that a message never comes before
    its job.
    """

    sweep = 1.0

    def __init__(self, url: str, queue: str, look_up: LookUp) -> None:
        super().__init__()
        self._place = masked(url)
        self._queue = queue
        self._look_up = look_up
        self._client = Client.from_url(url, socket_connect_timeout=5, socket_timeout=BLOCK + 10, max_connections=100)
        self._take = self._client.register_script(TAKE)
        self._let_go = self._client.register_script(LET_GO)
        self._unsaid: list[int] = []
        self._something_to_say = asyncio.Event()
        self._deaf = False
        self._speaking = asyncio.create_task(self._speak(), name="pressroom-announcing")

    def announce(self, jobs: Sequence[Submitted]) -> None:
        if not jobs:
            super().announce(jobs)
            return
        self._unsaid += [job.id for job in jobs]
        self._something_to_say.set()

    async def announce_again(self, kinds: Iterable[str], waiting: Waiting) -> None:
        """If every list is empty, whatever waits was forgotten."""
        names = {name for kind in kinds for name in self._lists(kind)}
        try:
            if not any([await self._call(self._client.llen(name)) for name in names]):
                await self._push(await waiting())
        except (RedisError, OSError) as reason:
            self._note(reason)

    async def serve(self, taker: Taker) -> None:
        names = {name: tier for kind in taker.kinds for tier, name in enumerate(self._lists(kind))}
        try:
            async with asyncio.TaskGroup() as together:
                together.create_task(super().serve(taker))
                together.create_task(self._stay_alive(taker.name, list(names)))
                for name, tier in names.items():
                    together.create_task(self._serve_list(_Line(name, tier, taker)))
        finally:
            with suppress(RedisError, OSError, TimeoutError):
                async with asyncio.timeout(2.0):
                    await self._leave(taker.name, list(names))

    async def close(self) -> None:
        self._speaking.cancel()
        await asyncio.gather(self._speaking, return_exceptions=True)
        with suppress(RedisError, OSError):
            await self._client.aclose()

    def _lists(self, kind: str) -> tuple[str, str]:
        """One list for each tier. A plain BLPOP of both, in this order, is served in order."""
        name = self._queue.replace("{kind}", kind)
        return name, f"{name}:background"

    async def _speak(self) -> None:
        while True:
            await self._something_to_say.wait()
            self._something_to_say.clear()
            ids, self._unsaid = self._unsaid, []
            try:
                for start in range(0, len(ids), CHUNK):
                    await self._push(await self._look_up(ids[start : start + CHUNK]))
            except RedisError as reason:
                self._note(reason)
                super().announce(())  # at least the workers of this process hear of it
            except Exception:
                log.exception("announcing failed; workers will find the jobs by themselves")

    async def _push(self, notices: Sequence[Notice]) -> None:
        lines: dict[str, list[bytes]] = {}
        for notice in notices:
            lines.setdefault(self._lists(notice.kind)[notice.tier > 0], []).append(messages.write(notice))
        for name, said in lines.items():
            await self._call(self._client.rpush(name, *said))

    async def _serve_list(self, line: "_Line") -> None:
        while True:
            try:
                room = line.room()
                if not room:
                    await line.taker.slot_freed()
                    continue
                first = await self._call(self._client.blmove(line.name, line.own, BLOCK, "LEFT", "RIGHT"))
                if first is not None:
                    more = await self._call(self._take(keys=[line.name, line.own], args=[line.room() - 1]))
                    await self._hand_over(line, [first, *more])
            except (RedisError, OSError) as reason:
                self._note(reason)
                await asyncio.sleep(AGAIN)

    async def _hand_over(self, line: "_Line", taken: list[bytes]) -> None:
        spent: list[bytes] = []
        foreign: list[bytes] = []
        for message in taken:
            named = messages.read(message)
            if named is None:
                spent.append(message)
            elif named.kind is not None and named.kind not in line.taker.kinds:
                foreign.append(message)
            else:
                line.taker.offer(_Offer(named.uid, line.tier, partial(self._release, line, message)))
        if foreign:
            await self._call(self._client.rpush(line.name, *foreign))
        if spent or foreign:
            await self._call(self._let_go(keys=[line.own], args=[*spent, *foreign]))
        if len(foreign) == len(taken):
            await asyncio.sleep(NOT_OURS)

    def _release(self, line: "_Line", message: bytes) -> None:
        """Many are let go of together: one call for all that a turn has answered."""
        line.spent.append(message)
        if len(line.spent) == 1:
            line.letting_go = asyncio.create_task(self._let_go_of(line))

    async def _let_go_of(self, line: "_Line") -> None:
        await asyncio.sleep(0)
        spent, line.spent = line.spent, []
        try:
            await self._call(self._let_go(keys=[line.own], args=spent))
        except (RedisError, OSError) as reason:  # the list outlives us, and is put back one day: nobody minds
            self._note(reason)

    async def _stay_alive(self, worker: str, names: Sequence[str]) -> None:
        """Show that we live, and put back what those took who do not."""
        while True:
            try:
                for name in names:
                    await self._call(self._client.set(_alive(name, worker), b"1", px=SILENT_AFTER))
                    await self._call(self._client.sadd(f"{name}:workers", worker))
                    await self.put_back(name)
            except (RedisError, OSError) as reason:
                self._note(reason)
            await asyncio.sleep(BEAT)

    async def _leave(self, worker: str, names: Sequence[str]) -> None:
        for name in names:
            await self._client.delete(_alive(name, worker))
            await self._give_back(name, worker)

    async def put_back(self, name: str) -> None:
        """Give the messages of silent workers back to their list."""
        for member in await self._call(self._client.smembers(f"{name}:workers")):
            worker = member.decode()
            if not await self._call(self._client.exists(_alive(name, worker))):
                moved = await self._give_back(name, worker)
                log.warning("worker %s went silent; %d messages that it had taken are back in %s", worker, moved, name)

    async def _give_back(self, name: str, worker: str) -> int:
        """Where they were: at the head."""
        moved = 0
        while await self._client.lmove(_own(name, worker), name, "RIGHT", "LEFT") is not None:
            moved += 1
        await self._client.srem(f"{name}:workers", worker)
        return moved

    async def _call(self, answer: Any) -> Any:
        result = await answer
        if self._deaf:
            self._deaf = False
            log.warning("Redis at %s is back", self._place)
        return result

    def _note(self, reason: Exception) -> None:
        level = logging.DEBUG if self._deaf else logging.WARNING
        log.log(level, "Redis at %s cannot be reached; workers look for jobs by themselves: %s", self._place, reason)
        self._deaf = True


class _Line:
    """One list as one worker sees it."""

    def __init__(self, name: str, tier: int, taker: Taker) -> None:
        self.name = name
        self.tier = tier
        self.taker = taker
        self.own = _own(name, taker.name)
        self.spent: list[bytes] = []
        self.letting_go: asyncio.Task[None] | None = None

    def room(self) -> int:
        return self.taker.free_slots()[self.tier]


class _Offer(Offer):
    def __init__(self, uid: str, tier: int, release: Callable[[], None]) -> None:
        super().__init__(uid, tier)
        self._release = release

    def taken(self) -> None:
        self._release()

    def refused(self, again: float | None) -> None:
        """Somebody else has it, or it is not its time: then a worker finds it when it is.

        A worker that is going refuses it for now; what it leaves in its list goes to the others.
        """
        if again != 0.0:
            self._release()


def _own(name: str, worker: str) -> str:
    return f"{name}:taken:{worker}"


def _alive(name: str, worker: str) -> str:
    return f"{name}:alive:{worker}"
