"""How the parts of a running Pressroom are opened, started, stopped and closed."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

from pressroom.errors import StoreBusy

log = logging.getLogger("pressroom")

START_TIMEOUT = 60.0  # seconds in which a store that is busy at a start may come free


class Lifecycle:
    """A part of a Pressroom. It overrides what it needs, and may be opened again after it was closed.

    Parts are opened and then started in their order, and stopped and then closed in the reverse order. After a start that
    failed, parts are stopped and closed that were not opened.
    """

    async def open(self) -> None:
        """The parts before it are open, and no job has been claimed yet."""

    async def start(self) -> None:
        """Every part is open."""

    async def stop(self) -> None:
        """Ends what `start` began. Every part is still open."""

    async def close(self) -> None:
        """Every part has stopped, and the parts before it are still open."""


async def start_parts(parts: Sequence[Lifecycle]) -> None:
    for part in parts:
        await part.open()
    for part in parts:
        await part.start()


async def stop_parts(parts: Sequence[Lifecycle]) -> None:
    """Stops and closes all of them, also if one raises; then its error is raised."""
    async with AsyncExitStack() as stack:
        for part in parts:
            stack.push_async_callback(part.close)
        for part in parts:
            stack.push_async_callback(part.stop)


async def retry_while_busy[T](step: Callable[[], Awaitable[T]]) -> T:
    """For steps of a start: to end with StoreBusy and to be started again would come to the same, later."""
    deadline = time.monotonic() + START_TIMEOUT
    while True:
        try:
            return await step()
        except StoreBusy as reason:
            if time.monotonic() >= deadline:
                raise
            log.warning("starting, when the store is free: %s", reason)
            await asyncio.sleep(0.1)


async def cancel_tasks(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
