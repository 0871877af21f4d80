"""Whether this process can take jobs now, for load balancers."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from pressroom.api.service import Service
from pressroom.errors import PressroomError, QueueClosed, Timeout

log = logging.getLogger("pressroom.api")

FRESH = 1.0  # seconds for which an answer of the store is passed on: probes come from many sides and without a token
LONGEST = 5.0  # seconds; no probe waits longer
SUBMIT_FAILED = "submit_failed"


class SharedCheck:
    """A check that raises what is wrong. One serves all requests that come while it runs and for a second after it.

    `unexpected` is the code of an error that is not one of ours.
    """

    def __init__(self, check: Callable[[], Awaitable[None]], *, unexpected: str) -> None:
        self._run_check = check
        self._unexpected = unexpected
        self._check: asyncio.Task[str | None] | None = None
        self._checked_at = 0.0
        self._cause: str | None = None

    async def cause(self) -> str | None:
        """The code of what is wrong, or None."""
        if self._check is None or (self._check.done() and time.monotonic() - self._checked_at >= FRESH):
            self._check = asyncio.create_task(self._run())
        try:
            async with asyncio.timeout(LONGEST):
                return await asyncio.shield(self._check)
        except TimeoutError:
            return Timeout.code

    async def _run(self) -> str | None:
        cause: str | None = None
        error: Exception | None = None
        try:
            await self._run_check()
        except PressroomError as refused:
            cause, error = refused.code, refused
        except Exception as unexpected:
            cause, error = self._unexpected, unexpected
        if cause != self._cause:
            log.log(logging.ERROR if cause else logging.INFO, "readiness: %s", cause or "pass", exc_info=error)
        self._cause, self._checked_at = cause, time.monotonic()
        return cause


class Readiness:
    """Reads, and submits no jobs in the way in which submits are made: reading alone finds half of what may be wrong."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._check = SharedCheck(self._ask_the_store, unexpected=SUBMIT_FAILED)

    async def cause(self) -> str | None:
        """The code of what keeps us from taking jobs, or None."""
        return QueueClosed.code if self._service.closing.is_set() else await self._check.cause()

    async def _ask_the_store(self) -> None:
        await self._service.queue.stats()
        await self._service.queue.check_submit()
