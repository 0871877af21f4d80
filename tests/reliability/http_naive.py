"""Servers that are broken on purpose, to show that the judge sees it. Each spoils the process that it is called in."""

import asyncio
import os
from typing import Any

from pressroom import failpoints
from pressroom.artifacts.disk import Disk
from pressroom.ids import new_uid
from pressroom.model import Answer, Submitted
from pressroom.queue import Queue

LATER = 0.05
_commits: set[asyncio.Task[Any]] = set()


def answer_before_the_commit() -> None:
    """The client is told an id at once, and the job is written a moment later."""
    submit = Queue.submit

    async def hasty(self: Queue, kind: str, payload: Any = None, **how: Any) -> Submitted:
        async def commit() -> None:
            await asyncio.sleep(LATER)
            await submit(self, kind, payload, **how)

        task = asyncio.create_task(commit())
        _commits.add(task)
        task.add_done_callback(_commits.discard)
        return Submitted(id=0, uid=new_uid(), kind=kind, answer=Answer.NEW, version=1)

    Queue.submit = hasty  # type: ignore[assignment, method-assign]


def write_in_place() -> None:
    """An artifact gets its final name before it has its bytes, and what has the name is taken for whole."""

    def write(self: Disk, data: bytes, key: str) -> None:
        with self._folder_of(key, make=True) as folder:
            if key in os.listdir(folder):
                return
            file = os.open(key, os.O_WRONLY | os.O_CREAT, dir_fd=folder)
            os.write(file, data[: len(data) // 2])
            failpoints.hit("blob.temp_written")
            os.write(file, data[len(data) // 2 :])
            os.close(file)

    Disk._write_and_keep = write  # type: ignore[method-assign]


def forget_the_key() -> None:
    """An Idempotency-Key is not looked at, so a client that asks again gets another job."""
    from pressroom.api import idempotency

    idempotency._key_of = lambda request: None  # type: ignore[assignment]
