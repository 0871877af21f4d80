"""A unit of work on its way to a database, and the future that gets its result."""

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
class WorkRequest:
    """`after` is called with the result as soon as it is committed, before the future is resolved."""

    unit: Callable[[], Work[Any]]
    name: str
    durable: bool
    after: Callable[[Any], None] | None
    loop: asyncio.AbstractEventLoop | None
    future: "asyncio.Future[Any] | concurrent.futures.Future[Any]"
    shared_lock: bool = False
    result: Any = None
    error: BaseException | None = None

    def resolve(self) -> None:
        if self.error is None and self.after is not None:
            try:
                self.after(self.result)
            except Exception:
                log.exception("the callback after %s failed; the unit is committed all the same", self.name)
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


def resolve_group(group: list[WorkRequest]) -> None:
    """One wake-up per event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[WorkRequest]] = {}
    for request in group:
        if request.loop is None:
            request.resolve()
        else:
            loops.setdefault(request.loop, []).append(request)
    for loop, requests in loops.items():
        with suppress(RuntimeError):  # the loop was closed while its work was under way: no caller is left
            loop.call_soon_threadsafe(_resolve_all, requests)


def _resolve_all(requests: list[WorkRequest]) -> None:
    for request in requests:
        request.resolve()
