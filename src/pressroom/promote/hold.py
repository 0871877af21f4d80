"""Get hold of a file that others may be using."""

import time
from collections.abc import Callable

from pressroom.errors import SourceInUse, StoreBusy
from pressroom.promote import sqlite_writers
from pressroom.promote.sqlite_source import Source
from pressroom.store.engine.schema import Schema

LOOK_AGAIN = 0.1  # seconds


def lock_source(path: str, schema: Schema, wait: float, on_wait: Callable[[str], None]) -> Source:
    """The source, locked: until it is closed no other process writes to it. Raises SourceInUse if that is not so within the
    wait.

    `on_wait` is called with the processes that are waited for.
    """
    Source(path, schema, readonly=True).close()  # what cannot be promoted need not be waited for
    deadline = time.monotonic() + wait
    told: list[str] = []
    while True:
        writers = sqlite_writers.find_writers(path)
        if not writers:
            try:
                source = Source(path, schema)
            except StoreBusy:
                writers = ["another process"]
            else:
                # One that came between the look and the lock believes that what it claimed is its own.
                writers = sqlite_writers.find_writers(path, exclude_self=True)
                if not writers:
                    return source
                source.close()
        if time.monotonic() >= deadline:
            raise SourceInUse(f"{path} is in use by {', '.join(writers)}; stop it, or let --wait SECONDS wait for its end")
        if writers != told:
            on_wait(f"waiting for {', '.join(writers)}")
            told = writers
        time.sleep(LOOK_AGAIN)
