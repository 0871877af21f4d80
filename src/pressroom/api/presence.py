"""Work that is worth nothing once whoever asked for it has gone."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request

from pressroom.api.problems import HttpError


async def while_connected[T](request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work returns. If the client goes away first the work is cancelled, so that its slot and its press are free for
    others. The request's body must have been read.
    """
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_disconnect(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise HttpError(499, "gone", "whoever asked for this no longer waits for it")
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.wait({task, gone})  # what it holds is let go of before anybody hears of it


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
