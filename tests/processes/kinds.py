"""What the processes of these tests work on. Files are how a test speaks to handlers in other processes, and they to it."""

import asyncio
import os
from pathlib import Path

from pressroom import kind


def note(file: str, *words: object) -> None:
    """One line, whole, whoever else writes."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{' '.join(map(str, words))}\n".encode())
    os.close(descriptor)


@kind("press", timeout=None)
async def press(job, payload):
    """Says when it begins and ends, and stays until a file is there."""
    note(payload["log"], "+", job.uid, os.getpid())
    while not Path(payload["until"]).exists():  # noqa: ASYNC110, ASYNC240
        await asyncio.sleep(0.005)
    note(payload["log"], "-", job.uid, os.getpid())


@kind("stamp")
async def stamp(job, payload):
    note(payload["log"], "stamp", job.uid, os.getpid())


KINDS = [press, stamp]
