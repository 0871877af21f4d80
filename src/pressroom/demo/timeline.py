"""Time that passes as fast as the work allows: from one appointment to the next."""

import asyncio
import heapq
import itertools
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any


class SettableClock:
    """Stands still between two appointments."""

    def __init__(self, start_ms: int) -> None:
        self._now = start_ms

    def now_ms(self) -> int:
        return self._now

    def move_to(self, moment: int) -> None:
        self._now = max(self._now, moment)


class Timeline:
    """Runs coroutines that sleep by its clock. When all sleep, the clock moves to the next time of waking."""

    def __init__(self, clock: SettableClock) -> None:
        self.clock = clock
        self.over = False
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._awake = 0
        self._all_asleep = asyncio.Event()
        self._stories: set[asyncio.Task[None]] = set()
        self._failed: BaseException | None = None

    def start_activity(self, story: Coroutine[Any, Any, None]) -> None:
        self._awake += 1
        self._stories.add(asyncio.create_task(self._run_activity(story)))

    async def sleep(self, seconds: float) -> None:
        await self.sleep_until(self.clock.now_ms() + int(seconds * 1000))

    async def sleep_until(self, moment: int) -> None:
        sleeper = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (moment, next(self._order), sleeper))
        self._count_asleep()
        await sleeper

    async def run_until(self, end: int, on_time: Callable[[int], None]) -> None:
        """Live until then. Stories that would go on are left where they are."""
        while True:
            await self._all_asleep.wait()
            if self._failed is not None:
                raise self._failed
            if not self._sleepers or self._sleepers[0][0] > end:
                break
            moment, _, sleeper = heapq.heappop(self._sleepers)
            self.clock.move_to(moment)
            on_time(moment)
            self._awake += 1
            self._all_asleep.clear()
            sleeper.set_result(None)
        self.clock.move_to(end)

    async def cancel_all(self) -> None:
        """What still runs is never told how it ended, as if its machine were elsewhere."""
        self.over = True
        for story in self._stories:
            story.cancel()
        await asyncio.gather(*self._stories, return_exceptions=True)

    async def _run_activity(self, story: Coroutine[Any, Any, None]) -> None:
        try:
            with suppress(asyncio.CancelledError):
                await story
        except BaseException as error:
            self._failed = error
        finally:
            self._count_asleep()
            if (task := asyncio.current_task()) is not None:
                self._stories.discard(task)

    def _count_asleep(self) -> None:
        self._awake -= 1
        if self._awake == 0:
            self._all_asleep.set()
