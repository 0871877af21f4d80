"""Imported by a service under test: a kind whose handler uses 400 ms of CPU on the event loop."""

import time
from typing import Any

from pressroom import kind


@kind("stall")
async def stall(job: Any, payload: Any) -> None:
    until = time.thread_time() + 0.4
    while time.thread_time() < until:
        pass
