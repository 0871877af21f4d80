"""One attempt: calls the handler and returns its result or its error. It never raises what the handler raised."""

import asyncio
import inspect
import math
import time
from typing import Any

from pressroom import failpoints, tracing
from pressroom.base import json_text
from pressroom.definitions import Kind
from pressroom.errors import Cancelled, Interrupted, InvalidPayload, PayloadTooLarge, SourceInvalid, Timeout
from pressroom.model import Claim, Partial, Result
from pressroom.worker.context import BlockingJob, RunningJob
from pressroom.worker.judge import EncodedResult
from pressroom.worker.threads import HandlerThreads, ThreadCall

RESULT_LIMIT = 1024 * 1024  # bytes of JSON; what is larger belongs into an artifact


class Attempt:
    """One run of a handler for one claim. It can be interrupted."""

    stop_reason: BaseException | None = None  # set once it was told to stop
    stop_by: float | None = None  # when it is abandoned if it still runs
    has_ended = False  # its job is being settled; what it still does has no effect
    task: "asyncio.Task[None] | None" = None
    _call: ThreadCall | None = None

    def __init__(self, claim: Claim, kind: Kind, job: RunningJob, threads: HandlerThreads) -> None:
        self.claim = claim
        self.kind = kind
        self.job = job
        self.started_at = time.monotonic()
        self._time_limit = math.inf if kind.timeout is None else kind.timeout
        self._threads = threads

    @property
    def deadline(self) -> float:
        """When its time limit is over, by the monotonic clock."""
        if self.job.is_time_limit_paused:
            return math.inf
        return self.started_at + self._time_limit + self.job.paused_seconds

    async def run(self) -> EncodedResult | BaseException:
        failpoints.hit("handler.started")
        try:
            with tracing.attempt_span(self.claim.kind, self.claim.uid, self.claim.attempt, self._submitter_trace()):
                value = await self._call_handler()
            if self.job.has_pending:
                await self.job.flush()
            failpoints.hit("handler.returned")
            if isinstance(self.stop_reason, Timeout):
                return self.stop_reason  # the handler caught the cancellation and returned, too late
            return _encode_result(value, self.job)
        except KeyboardInterrupt:
            raise
        except asyncio.CancelledError as cancelled:
            return self.stop_reason or RuntimeError(f"the handler cancelled itself: {cancelled}")
        except Interrupted:
            return self.stop_reason or Cancelled()
        except BaseException as error:
            return self.stop_reason or error

    def interrupt(self, reason: BaseException, grace: float) -> None:
        """Tell the handler to stop: a coroutine by cancelling its task, a thread by raising Interrupted in it."""
        if self.stop_by is not None:
            return
        self.stop_reason = reason
        self.stop_by = time.monotonic() + grace
        if self._call is not None:
            self._call.interrupt(Interrupted)
        elif self.task is not None:
            self.task.cancel()

    def _submitter_trace(self) -> dict[str, str] | None:
        """The trace context that the job was submitted with. Its row holds it as text, and most jobs have none."""
        return None if self.claim.trace is None else json_text.decode(self.claim.trace)

    async def _call_handler(self) -> Any:
        payload = json_text.decode(self.claim.payload)
        if self.kind.is_coroutine:
            return await self.kind.handler(self.job, payload)
        loop = asyncio.get_running_loop()
        job = BlockingJob(self.job, loop)
        self._call = self._threads.run(lambda: self.kind.handler(job, payload), loop)
        value = await self._call.future
        self._call = None  # the thread is done; from here on `interrupt` cancels the task
        return await value if inspect.isawaitable(value) else value


def _encode_result(value: Any, job: RunningJob) -> EncodedResult:
    errors, for_hook = job.failed_items, None
    if isinstance(value, Result):
        value, for_hook = value.value, value.for_hook
    if isinstance(value, Partial):
        value, errors = value.value, [*errors, *value.errors]
    try:
        return EncodedResult(json_text.encode(value, limit=RESULT_LIMIT, what="the result"), errors, for_hook)
    except (InvalidPayload, PayloadTooLarge) as reason:
        raise SourceInvalid(f"the handler of {job.kind} returned what cannot be kept: {reason}") from None
