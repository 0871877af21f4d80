"""Cancel the work of a request when its client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request

from pressroom.api.problems import HttpError


async def cancel_on_disconnect[T](request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return what the work returns. If the client disconnects first, cancel it, so that its slot and its engine process are
    free.

    The request's body must have been read.
    """
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_disconnect(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise HttpError(499, "gone", "the client has disconnected")
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.wait({task, gone})  # until the slot and the engine process are free


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
