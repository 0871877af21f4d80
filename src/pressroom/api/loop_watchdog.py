"""Finds what holds the event loop: a callback that does not return within 250 ms is logged with its stack, and counted.

A thread looks at the loop's thread twenty times a second. While the same call of `Handle._run` is on its stack, the same
callback runs; so callbacks cost nothing more, and what is logged is the stack of the one that holds. A hold is noticed while it
lasts, at most a twentieth of a second late.
"""

import asyncio
import contextlib
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NamedTuple

log = logging.getLogger("pressroom.loop")

LIMIT = 0.25  # seconds that a callback may hold the loop
INTERVAL = 0.05
_CALLBACK = asyncio.Handle._run.__code__


class Hold(NamedTuple):
    """One callback that held the loop. `cpu` are the seconds of processor time that its thread used meanwhile."""

    seconds: float
    cpu: float


class LoopWatchdog:
    """`began` is called when a callback has held the loop for longer than the limit, `ended` once it has returned."""

    def __init__(self, thread: int, *, began: Callable[[], None], ended: Callable[[Hold], None], limit: float = LIMIT) -> None:
        self._thread = thread
        self._began = began
        self._ended = ended
        self._limit = limit
        self._frame: FrameType | None = None
        self._since = self._cpu_then = self._last = self._cpu_last = 0.0
        self._seen = 0.0  # of the time since then; when samples come late the machine is busy, and may be all that holds
        self._is_logged = False

    def sample(self, now: float, cpu: float) -> None:
        """What runs now, at a time and with so much processor time used by the loop's thread."""
        stack = sys._current_frames().get(self._thread)
        frame = _callback_frame(stack)
        if frame is None or frame is not self._frame:
            if self._is_logged:
                hold = Hold(self._last - self._since, self._cpu_last - self._cpu_then)
                log.warning("the event loop was held for %.2f s, %.2f s of it on the processor", *hold)
                self._ended(hold)
            self._frame, self._since, self._cpu_then, self._is_logged = frame, now, cpu, False
            self._seen = 0.0
        else:
            self._seen += min(now - self._last, 2 * INTERVAL)
        if not self._is_logged and self._seen > self._limit:
            self._is_logged = True
            self._began()
            trace = "".join(traceback.format_stack(stack))
            log.warning("a callback holds the event loop for more than %.0f ms:\n%s", self._limit * 1000, trace)
        self._last, self._cpu_last = now, cpu


def _callback_frame(frame: FrameType | None) -> FrameType | None:
    """The outermost call of a callback on a stack: a loop may run inside a callback of another."""
    found = None
    while frame is not None:
        if frame.f_code is _CALLBACK:
            found = frame
        frame = frame.f_back
    return found


@contextlib.contextmanager
def watching_loop(*, began: Callable[[], None], ended: Callable[[Hold], None]) -> Iterator[None]:
    """Watch the loop of the current thread."""
    thread = threading.get_ident()
    cpu_clock = time.pthread_getcpuclockid(thread) if hasattr(time, "pthread_getcpuclockid") else None
    watchdog = LoopWatchdog(thread, began=began, ended=ended)
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(INTERVAL):
            watchdog.sample(time.monotonic(), 0.0 if cpu_clock is None else time.clock_gettime(cpu_clock))

    watcher = threading.Thread(target=watch, name="pressroom-loop-watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
