"""One attempt: call the handler, come back with a value or an error, whatever happens in there."""

import asyncio
import inspect
import math
import time
from typing import Any

from pressroom import failpoints, jsontext, tracing
from pressroom.errors import Cancelled, Interrupted, InvalidPayload, PayloadTooLarge, SourceInvalid, Timeout
from pressroom.model import Claim, Kind, Made, Partial
from pressroom.worker.context import BlockingJob, RunningJob
from pressroom.worker.judge import Returned
from pressroom.worker.threads import Call, Threads

RESULT_LIMIT = 1024 * 1024  # what is larger belongs into an artifact


class Attempt:
    """A handler at work on one claim, and the means to stop it."""

    stopped: BaseException | None = None  # why we stopped it, if we did
    stop_by: float | None = None  # when it is left behind if it has not stopped
    over = False  # its job is being settled; whatever it still does is nobody's business
    task: "asyncio.Task[None] | None" = None
    _call: Call | None = None

    def __init__(self, claim: Claim, kind: Kind, job: RunningJob, threads: Threads) -> None:
        self.claim = claim
        self.kind = kind
        self.job = job
        self.begun = time.monotonic()
        self._time_limit = math.inf if kind.timeout is None else kind.timeout
        self._threads = threads

    @property
    def deadline(self) -> float:
        """When its time is over, by the monotonic clock."""
        if self.job.is_time_limit_paused:
            return math.inf
        return self.begun + self._time_limit + self.job.paused_seconds

    async def make(self) -> Returned | BaseException:
        failpoints.hit("handler.started")
        try:
            with tracing.work(self.claim.kind, self.claim.uid, self.claim.attempt, self._asked()):
                value = await self._call_handler()
            if self.job.has_pending:
                await self.job.flush()
            failpoints.hit("handler.returned")
            if isinstance(self.stopped, Timeout):
                return self.stopped  # it caught the cancellation and came back too late all the same
            return _returned(value, self.job)
        except KeyboardInterrupt:
            raise
        except asyncio.CancelledError as cancelled:
            return self.stopped or RuntimeError(f"the handler cancelled itself: {cancelled}")
        except Interrupted:
            return self.stopped or Cancelled()
        except BaseException as error:
            return self.stopped or error

    def interrupt(self, reason: BaseException, grace: float) -> None:
        """Tell the handler to stop: a coroutine by cancelling its task, a thread by raising Interrupted in it."""
        if self.stop_by is not None:
            return
        self.stopped = reason
        self.stop_by = time.monotonic() + grace
        if self._call is not None:
            self._call.interrupt(Interrupted)
        elif self.task is not None:
            self.task.cancel()

    def _asked(self) -> dict[str, str] | None:
        """The trace that asked for the job. Its row is read as text, and most jobs have none."""
        return None if self.claim.trace is None else jsontext.decode(self.claim.trace)

    async def _call_handler(self) -> Any:
        payload = jsontext.decode(self.claim.payload)
        if self.kind.is_coroutine:
            return await self.kind.handler(self.job, payload)
        loop = asyncio.get_running_loop()
        job = BlockingJob(self.job, loop)
        self._call = self._threads.run(lambda: self.kind.handler(job, payload), loop)
        value = await self._call.future
        self._call = None  # the thread is done; from here on it is the task that can be stopped
        return await value if inspect.isawaitable(value) else value


def _returned(value: Any, job: RunningJob) -> Returned:
    errors, aside = job.failed_items, None
    if isinstance(value, Made):
        value, aside = value.value, value.aside
    if isinstance(value, Partial):
        value, errors = value.value, [*errors, *value.errors]
    try:
        return Returned(jsontext.encode(value, limit=RESULT_LIMIT, what="the result"), errors, aside)
    except (InvalidPayload, PayloadTooLarge) as reason:
        raise SourceInvalid(f"the handler of {job.kind} returned what cannot be kept: {reason}") from None
