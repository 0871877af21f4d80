"""Imported by the attacked service (PRESSROOM_IMPORTS): it needs tokens on the loopback too, and its stalls are recorded.

The longest callback since the last reset is in a file that both processes map: eight bytes for its CPU seconds, then its name.
`tests/attack/closed_service.py` reads and resets it.
"""

import asyncio
import mmap
import os
import struct
import time

from pressroom import serving
from pressroom.api import connections, streams

STALL_FILE = "ATTACK_STALL_FILE"  # names the file; without it nothing is changed or recorded
STALL_FILE_SIZE = 4096
SECONDS = struct.Struct("d")
HEARTBEAT = 1.0  # seconds after which the event stream of a revoked token ends


def close_the_loopback() -> None:
    serving.is_loopback = lambda _: False  # type: ignore[attr-defined]
    connections.is_loopback = lambda _: False  # type: ignore[attr-defined,assignment]
    streams.HEARTBEAT = HEARTBEAT


def record_stalls(path: str) -> None:
    with open(path, "r+b") as file:
        shared = mmap.mmap(file.fileno(), STALL_FILE_SIZE)
    run_callback = asyncio.Handle._run

    def run(self: asyncio.Handle) -> None:
        began = time.thread_time()
        try:
            run_callback(self)
        finally:
            used = time.thread_time() - began
            if used > SECONDS.unpack_from(shared)[0]:
                SECONDS.pack_into(shared, 0, used)
                name = repr(self).encode(errors="replace")[: STALL_FILE_SIZE - SECONDS.size]
                shared[SECONDS.size :] = name.ljust(STALL_FILE_SIZE - SECONDS.size, b"\0")

    asyncio.Handle._run = run  # type: ignore[method-assign]


if path := os.environ.get(STALL_FILE):  # in the attacked service; tests import this module too
    close_the_loopback()
    record_stalls(path)
