"""Pressroom turns sources into documents, as durable jobs.

| step | what happens | where |
|---|---|---|
| submit | check the request, compute its fingerprint, answer from the cache, join a job in flight, coalesce with a queued one, or insert | `queue.py`, `submission/` |
| store | the row is committed before the caller is answered | `store/` |
| deliver | workers are notified that jobs are ready | `delivery/` |
| claim | take as many jobs as there are free slots, in order, under a lease; one transaction | `worker/loop.py`, `worker/turns.py`, `store/jobs/` |
| render | source bytes in, output bytes out, inside limits | `worker/run.py`, `kinds/rendering.py`, `renderers/` |
| artifact | the bytes are kept under their hash | `artifact_lifecycle/`, `artifacts/` |
| settle | decide what the result means (a pure function), then write it in one fenced transaction | `worker/judge.py`, `store/jobs/` |
| notify | waiters, event streams and webhooks | `notify/` |
"""

from typing import TYPE_CHECKING, Any

from pressroom.definitions import Backoff, Kind, Missed, Schedule, kind
from pressroom.errors import (
    Backpressure,
    Cancelled,
    EngineCrashed,
    EngineMissing,
    Expired,
    Interrupted,
    InvalidArgument,
    JobCancelled,
    JobFailed,
    NotFound,
    PressroomError,
    QueueClosed,
    QueueFull,
    Refused,
    SourceInvalid,
    StopTimeout,
    Timeout,
    TooLarge,
    Transient,
    WaitTimeout,
)
from pressroom.model import VERSION, Answer, Ending, Event, Job, OnKey, Partial, Result, Statement, Status, Submitted, Tier

if TYPE_CHECKING:
    from pressroom.pressroom import Pressroom
    from pressroom.queue import Page
    from pressroom.submission.request import Request
    from pressroom.worker.context import BlockingJob, RunningJob

__version__ = VERSION

# Imported when they are first asked for: a program that only uses `pressroom.client` has neither a database nor engines.
_LATER = {
    "BlockingJob": "pressroom.worker.context",
    "Page": "pressroom.queue",
    "Pressroom": "pressroom.pressroom",
    "Request": "pressroom.submission.request",
    "RunningJob": "pressroom.worker.context",
}

__all__ = [
    "Answer",
    "Backoff",
    "Backpressure",
    "BlockingJob",
    "Cancelled",
    "Ending",
    "EngineCrashed",
    "EngineMissing",
    "Event",
    "Expired",
    "Interrupted",
    "InvalidArgument",
    "Job",
    "JobCancelled",
    "JobFailed",
    "Kind",
    "Missed",
    "NotFound",
    "OnKey",
    "Page",
    "Partial",
    "Pressroom",
    "PressroomError",
    "QueueClosed",
    "QueueFull",
    "Refused",
    "Request",
    "Result",
    "RunningJob",
    "Schedule",
    "SourceInvalid",
    "Statement",
    "Status",
    "StopTimeout",
    "Submitted",
    "Tier",
    "Timeout",
    "TooLarge",
    "Transient",
    "WaitTimeout",
    "kind",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
