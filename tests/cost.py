"""What work costs, in a way that a busy machine does not change much."""

import time
from collections.abc import Callable
from typing import Any


def cpu_of(work: Callable[[], Any]) -> float:
    """Seconds of this thread on a processor, the best of three: where others crowd the caches, the same work takes up to three
    times as long."""
    costs = []
    for _ in range(3):
        began = time.thread_time()
        work()
        costs.append(time.thread_time() - began)
    return min(costs)
