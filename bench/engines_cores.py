"""Which cores the work may run on, and how long processes really ran there.

A press inherits the choice of whoever starts it, so one call decides for both.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def only(count: int) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(before)[:count]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def there_are(count: int) -> bool:
    return len(os.sched_getaffinity(0)) >= count


def spent(pids: Iterable[int]) -> float:
    """Seconds that these processes were on a core, whoever else wanted it."""
    return sum(time.clock_gettime(_clock_of(pid)) for pid in pids)


def _clock_of(pid: int) -> int:
    """As clock_getcpuclockid(3) makes it; Python has that for threads alone."""
    return (~pid << 3) | 2
