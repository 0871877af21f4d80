"""A unit of work on its way to a database, and how whoever asked hears of it."""

import asyncio
import concurrent.futures
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pressroom.model import Work

log = logging.getLogger("pressroom.store")

GROUP_LIMIT = 512  # beyond this a commit is shared so widely that waiting for more gains nothing


@dataclass(slots=True, eq=False)
class Request:
    """A unit of work on its way through a lane, and who hears of it."""

    unit: Callable[[], Work[Any]]
    name: str
    durable: bool
    after: Callable[[Any], None] | None
    loop: asyncio.AbstractEventLoop | None
    future: "asyncio.Future[Any] | concurrent.futures.Future[Any]"
    beside: bool = False
    result: Any = None
    error: BaseException | None = None

    def answer(self) -> None:
        if self.error is None and self.after is not None:
            try:
                self.after(self.result)
            except Exception:
                log.exception("telling what came of %s failed; it is committed all the same", self.name)
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


def answer(group: list[Request]) -> None:
    """Tell everybody of a group with one wake-up per event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[Request]] = {}
    for request in group:
        if request.loop is None:
            request.answer()
        else:
            loops.setdefault(request.loop, []).append(request)
    for loop, requests in loops.items():
        with suppress(RuntimeError):  # the loop was closed while its work was under way: nobody is left to tell
            loop.call_soon_threadsafe(_answer_all, requests)


def _answer_all(requests: list[Request]) -> None:
    for request in requests:
        request.answer()
