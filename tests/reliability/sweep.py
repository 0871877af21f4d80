"""Killed at the n-th system call, for every n. Run under strace, which does the killing; test_syscall_sweep.py starts it.

strace counts the calls of each thread and strikes at one fixed count. So that one strace, and one slow start of Python,
can serve hundreds of points, every victim is forked and first makes so many idle calls that the n-th real one is struck.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from pressroom import Pressroom
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.clock import SystemClock
from pressroom.model import Work
from pressroom.store.engine.sqlite import SQLite
from pressroom.store.engine.writer import WriterThread
from tests.reliability.client import Client
from tests.reliability.journal import Journal
from tests.reliability.victims import start
from tests.reliability.workload import Handlers

COUNT = 2_000  # the call at which strace strikes: more than any thread of the stories makes
IDLE: dict[str, Callable[[int], Any]] = {
    "pwrite64": lambda file: os.pwrite(file, b"", 0),
    "fdatasync": os.fdatasync,
    "ftruncate": lambda file: os.ftruncate(file, 0),
}


def main(folder: Path, story: str, syscall: str, first: int, step: int, last: int) -> None:
    """Strike at every `step`-th call. Without a last one: until a victim lives to tell, for then there are no more calls."""
    for nth in range(first, (last or COUNT) + 1, step):
        place = folder / f"{story}-{syscall}-{nth:03}"
        place.mkdir()
        if story != "open":
            shutil.copy(folder / "template.db", place / "press.db")
        journal = Journal(place / "journal.jsonl")
        idle = partial(be_idle, syscall, COUNT - nth)
        victim = start(partial(STORIES[story], f"sqlite:///{place / 'press.db'}", journal, idle), place / "log")
        victim.wait()
        journal.close()
        print(place.name, victim.ended, flush=True)
        if victim.ended == 0 and not last:
            return


def be_idle(syscall: str, count: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for _ in range(count):
        with suppress(OSError):  # nothing can be synced there; it counts all the same
            IDLE[syscall](nowhere)
    os.close(nowhere)


async def open_new(url: str, journal: Journal, idle: Callable[[], None], stopping: asyncio.Event) -> None:
    """The making of a database, in one thread from the first page to the last checkpoint."""
    idle()
    await SQLite(url.removeprefix("sqlite:///"), SystemClock(), BUILT_IN_SCHEMA).close()


async def write(url: str, journal: Journal, idle: Callable[[], None], stopping: asyncio.Event) -> None:
    """All that the writer thread does."""
    write_in_groups = WriterThread._write_in_groups

    def idle_first(self: WriterThread) -> None:
        idle()
        write_in_groups(self)

    WriterThread._write_in_groups = idle_first  # type: ignore[method-assign]
    await work(url, journal)


async def close(url: str, journal: Journal, idle: Callable[[], None], stopping: asyncio.Event) -> None:
    """The main thread writes nothing until it closes the database, which moves everything from the log to the file."""
    idle()
    await work(url, journal)


async def submit(url: str, journal: Journal, idle: Callable[[], None], stopping: asyncio.Event) -> None:
    """Submits alone, one after the other: what a process writes when it starts was written before."""

    def idle_in_the_writer() -> Work[None]:
        idle()
        yield from ()

    async with Pressroom(url, kinds=Handlers(journal).kinds(), workers=None) as press:
        await press.rendering.database.run(idle_in_the_writer, name="idle")
        client = Client(press, journal)
        for _ in range(4):
            await client.submit("note")
        client.leave()


async def work(url: str, journal: Journal) -> None:
    """Submits of every sort, a held transaction, a retry, a cancel; and every job is settled."""
    async with Pressroom(url, kinds=Handlers(journal).kinds(), workers=2) as press:
        client = Client(press, journal)
        receipts = [
            await client.submit("page", key="page:1", fails=1),
            await client.submit("page", key="page:1"),
            await client.submit("note", letter=True),
            await client.submit("poster", fingerprint={"text": 1}),
        ]
        unwanted = await client.submit("note", delay=30)
        if unwanted is not None:
            await client.cancel(unwanted.uid)
        await asyncio.gather(*(client.wait(receipt, timeout=3) for receipt in receipts if receipt is not None))
        client.leave()


STORIES = {"open": open_new, "write": write, "close": close, "submit": submit}

if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
