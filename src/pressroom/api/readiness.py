"""Whether this process can take jobs now, for whoever decides where requests go."""

import asyncio
import logging
import time

from pressroom.api.service import Service
from pressroom.errors import PressroomError, QueueClosed, Timeout

log = logging.getLogger("pressroom.api")

FRESH = 1.0  # seconds for which an answer of the store is passed on: probes come from many sides and without a token
LONGEST = 5.0  # seconds; no probe waits longer
SUBMIT_FAILED = "submit_failed"


class Readiness:
    """Reads, and submits no jobs in the way in which submits are made: reading alone finds half of what may be wrong.

    One look at the store serves all who ask meanwhile and for a second after it.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._check: asyncio.Task[str | None] | None = None
        self._checked_at = 0.0
        self._cause: str | None = None

    async def cause(self) -> str | None:
        """The code of what keeps us from taking jobs, or None."""
        if self._service.closing.is_set():
            return QueueClosed.code
        if self._check is None or (self._check.done() and time.monotonic() - self._checked_at >= FRESH):
            self._check = asyncio.create_task(self._ask_the_store())
        try:
            async with asyncio.timeout(LONGEST):
                return await asyncio.shield(self._check)
        except TimeoutError:
            return Timeout.code

    async def _ask_the_store(self) -> str | None:
        cause: str | None = None
        error: Exception | None = None
        try:
            await self._service.queue.stats()
            await self._service.queue.check_submit()
        except PressroomError as refused:
            cause, error = refused.code, refused
        except Exception as unexpected:
            cause, error = SUBMIT_FAILED, unexpected
        if cause != self._cause:
            log.log(logging.ERROR if cause else logging.INFO, "readiness: %s", cause or "pass", exc_info=error)
        self._cause, self._checked_at = cause, time.monotonic()
        return cause
