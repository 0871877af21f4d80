"""Work that would block the event loop, and must not be left half way."""

import asyncio
from collections.abc import Callable
from contextlib import suppress


async def in_thread[T](work: Callable[[], T]) -> T:
    """As asyncio.to_thread, but a cancelled caller waits for the thread: it still uses the file that the caller would close."""
    running = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # retrieved here, so that asyncio does not log it as never retrieved
        raise
