"""Time limits of presses on a busy machine: the time that a press waits for a core does not count."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from pressroom.renderers.sandbox.engine_process import EngineProcess
from pressroom.renderers.sandbox.process_tree import process_tree


def seconds_waited_for_a_core(pids: Sequence[int]) -> float:
    """As Linux counts it; elsewhere 0. Of each process the thread that waited longest: threads that wait at the same time lose
    that time once.
    """
    return sum(max(_nanoseconds_waited(pid), default=0) for pid in pids) / 1e9


def _nanoseconds_waited(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError, IndexError):
                yield int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[1])


def discount(patch: pytest.MonkeyPatch) -> None:
    """Let every press of this process have its limit in time that it could use: sleeping and working count, waiting does not.

    A limit of three seconds then means the same beside thirty busy processes as on a quiet machine.
    """
    check_time = EngineProcess.check_time
    at_the_beginning: WeakKeyDictionary[EngineProcess, tuple[object, float, float]] = WeakKeyDictionary()

    def check_usable_time(press: EngineProcess, now: float) -> None:
        ticket, since = press.current_ticket
        work = (ticket, since, press.ready)
        waited = seconds_waited_for_a_core(process_tree(press.pid))
        known = at_the_beginning.get(press)
        if known is None or known[0] != work:
            known = at_the_beginning[press] = (work, waited, press.started)
        _, before, started = known
        lost = max(0.0, waited - before)
        if not press.ready:
            press.started = started + lost
        check_time(press, now - lost)

    patch.setattr(EngineProcess, "check_time", check_usable_time)
