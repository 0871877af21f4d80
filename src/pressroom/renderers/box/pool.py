"""The presses of one engine: as many as there are cores, started when there is work, replaced before they wear out.

With two or more, one is kept for interactive renders, as a worker keeps a slot: a render cannot be pre-empted, so priority
alone does not bound how long an interactive one waits.
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pressroom.errors import EngineCrashed, EngineMissing, PressroomError
from pressroom.renderers import Engine, Rendered
from pressroom.renderers.box.press import Press
from pressroom.renderers.box.waiting import DIRECT, Caller, Ticket, TicketQueue

log = logging.getLogger("pressroom.renderers")

TICK = 0.05
AHEAD = 0.01  # seconds of work that a press may have waiting behind the order it is at
MOST_AHEAD = 64
TRIES = 3  # presses that may die around an order without its being to blame
CLOSE_WITHIN = 2.0
CLOSING = "the presses are closing"


class Pool:
    def __init__(self, engine: type[Engine], size: int, *, idle: float = 300.0) -> None:
        self.engine = engine
        self.presses: list[Press] = []
        self._size = size
        self._idle = idle
        self._for_background = max(1, size - 1)
        self._queue = TicketQueue()
        self._stirred = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._watch: asyncio.Task[None] | None = None
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False

    async def render(self, source: bytes, output: str, options: dict[str, Any], caller: Caller = DIRECT) -> Rendered:
        ticket = Ticket(source, output, options, asyncio.get_running_loop().create_future(), caller)
        self._queue.add(ticket)
        self._deal()
        with contextlib.ExitStack() as waiting:
            if not ticket.is_sent:
                waiting.enter_context(caller.waiting())
                ticket.on_sent = waiting.close
            return await ticket.future

    async def close(self) -> None:
        self._closed = True
        for ticket in self._queue.clear():
            self._fail(ticket, EngineCrashed(CLOSING))
        for press in list(self.presses):
            press.close()
        await asyncio.gather(*self._starting, return_exceptions=True)
        if self.presses:
            await asyncio.wait([asyncio.ensure_future(self._empty.wait())], timeout=CLOSE_WITHIN)
        for press in list(self.presses):
            press.kill(EngineCrashed(CLOSING))
        await self._empty.wait()
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)

    def _deal(self) -> None:
        """Hand waiting tickets to presses with room, interactive ones first; start another press if that was not enough."""
        for background in (False, True):
            while self._queue.has(background=background) and (press := self._press_with_room(background=background)):
                ticket = self._queue.pop(self._in_presses, background=background)
                if not ticket.future.done():
                    press.send(ticket)
        if self._queue.has(background=False):
            self._start_if_allowed(self._size)
        elif self._queue.has(background=True):
            self._start_if_allowed(self._for_background)
        if self._watch is None and self.presses:
            self._watch = asyncio.create_task(self._watch_over())
        self._stirred.set()

    def _in_presses(self) -> Counter[str]:
        return Counter(ticket.caller.org_id for press in self.presses for ticket in press.waiting.values())

    def _press_with_room(self, *, background: bool) -> Press | None:
        """The press with the least to do. What is quick is sent ahead by the dozen, what is slow waits here for any of them."""
        presses = self.presses
        if background and self._size > 1:
            taken = [press for press in presses if press.has_background]
            presses = taken if len(taken) >= self._for_background else presses
        best = None
        for press in presses:
            if not press.ready or press.retiring:
                continue
            if not press.waiting:
                return press
            room = len(press.waiting) < MOST_AHEAD and len(press.waiting) * press.pace < AHEAD
            if room and (best is None or len(press.waiting) < len(best.waiting)):
                best = press
        return best

    def _start_if_allowed(self, size: int) -> None:
        if self._closed or len([press for press in self.presses if not press.retiring]) >= size:
            return
        press = Press(self.engine, self._has_room, self._has_ended)
        self.presses.append(press)
        self._empty.clear()
        task = asyncio.create_task(self._start(press))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _start(self, press: Press) -> None:
        try:
            await press.start()
        except OSError as reason:
            press.failure = EngineCrashed(f"a press for {self.engine.name} cannot be started: {reason.strerror}")
            self._has_ended(press)
        except Exception as reason:  # an engine's own code says what a press may read, and may be wrong
            log.exception("a press for %s cannot be started", self.engine.name)
            press.failure = EngineCrashed(f"a press for {self.engine.name} cannot be started: {type(reason).__name__}")
            self._has_ended(press)

    def _has_room(self, press: Press) -> None:
        if press.rendered >= self.engine.renders:
            press.worn = True
        self._retire_worn(press)
        self._deal()

    def _retire_worn(self, press: Press) -> None:
        """A worn press works on until its replacement is warm."""
        if press.worn and not press.retiring:
            fresh = [other for other in self.presses if not other.worn and not other.retiring]
            if any(other.ready for other in fresh):
                press.retiring = True
            elif not fresh:
                self._start_if_allowed(self._size + 1)
        for old in [old for old in self.presses if old.retiring and not old.waiting]:
            old.close()

    def _has_ended(self, press: Press) -> None:
        self.presses.remove(press)
        if not self.presses:
            self._empty.set()
        if press.stderr:  # what it said in passing matters only if it came to a bad end
            log.log(
                logging.DEBUG if press.ended_in_peace else logging.WARNING,
                "%s press: %s",
                self.engine.name,
                press.stderr[-2000:].decode(errors="replace"),
            )
        for ticket in reversed(press.handed_back()):
            ticket.tries += 1
            if self._closed:  # no press will take it any more
                self._fail(ticket, EngineCrashed(CLOSING))
            elif ticket.tries >= TRIES:
                self._fail(ticket, EngineCrashed(f"{TRIES} presses for {self.engine.name} died around this source"))
            else:
                self._queue.put_back(ticket)
        if press.never_ready and not self._any_ready():
            self._fail_waiting(press)
        self._deal()

    def _fail_waiting(self, press: Press) -> None:
        """A press has died while it started, which is no order's fault. If something is missing, every waiting order fails with
        that reason. Anything else may be temporary (the machine was busy, the press was killed): each order is tried with
        another press before it fails, and what it fails with is retried.
        """
        is_missing = isinstance(press.failure, EngineMissing)
        why = f"did not start: {press.failure}" if press.failure else f"died while it started ({press.exit_description})"
        reason = press.failure if is_missing else EngineCrashed(f"the {self.engine.name} press {why}")
        assert reason is not None
        for ticket in self._queue.clear():
            ticket.tries += 1
            if is_missing or ticket.tries >= TRIES:
                self._fail(ticket, reason)
            else:
                self._queue.add(ticket)

    def _any_ready(self) -> bool:
        return any(press.ready for press in self.presses)

    @staticmethod
    def _fail(ticket: Ticket, reason: PressroomError) -> None:
        if not ticket.future.done():
            ticket.future.set_exception(type(reason)(*reason.args))

    async def _watch_over(self) -> None:
        """Time and memory, looked at while there is work. Without work for long enough the presses go home."""
        ticks = 0
        while True:
            busy = list(self._at_work())
            if not busy and not await self._stir():
                for press in self.presses:
                    press.close()
                if not self.presses:
                    self._watch = None
                    return
            now = time.monotonic()
            for press in busy:
                press.check_time(now)
                if ticks % 5 == 0:
                    press.check_memory()
            ticks += 1
            await asyncio.sleep(TICK)

    def _at_work(self) -> Iterator[Press]:
        return (press for press in self.presses if press.pid and (press.waiting or not press.ready))

    async def _stir(self) -> bool:
        """Wait for work; False if none came for as long as an idle press is kept."""
        self._stirred.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stirred.wait(), self._idle)
            return True
        return False
