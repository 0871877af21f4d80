"""What an attempt's result means. Values in, a value out: no clock, no database, no dice."""

import logging
import traceback
from collections.abc import Sequence
from typing import Any

import msgspec

from pressroom.errors import (
    ArtifactStoreMismatch,
    Backpressure,
    Cancelled,
    EngineMissing,
    PressroomError,
    Refused,
    SourceInvalid,
    StoreUnavailable,
    Timeout,
    TooLarge,
)
from pressroom.model import (
    Backoff,
    Claim,
    GaveUp,
    Kind,
    Outcome,
    PartlySucceeded,
    Postponed,
    Released,
    Retry,
    Stopped,
    Succeeded,
)

log = logging.getLogger("pressroom.worker")

LONGEST = 366 * 86_400.0  # seconds that a kind may wait before its next attempt
STORE_AGAIN = 2.0  # seconds, more or less, before an attempt that found no store is made again
MESSAGE_LIMIT = 2_000
DETAIL_LIMIT = 8_000


class WorkerStopping(PressroomError):
    """Why a handler was stopped when its worker had to stop."""


class Preempted(PressroomError):
    """Why a handler was stopped when a newer payload of its key came."""


class Returned(msgspec.Struct, frozen=True):
    """A handler's value, as JSON, and what went wrong on the way without stopping it."""

    value: str
    errors: Sequence[str]
    aside: Any = None


def judge(claim: Claim, kind: Kind, result: Returned | BaseException, luck: float) -> Outcome:
    match result:
        case Returned(value, errors, aside) if not errors:
            return Succeeded(value, aside)
        case Returned(value, errors, aside):
            return PartlySucceeded(value, _error(claim, "partial", "; ".join(errors)), aside)
        case WorkerStopping() | Preempted():  # if the newer payload is gone by now, this one is tried again
            return Released()
        case Cancelled():
            return Stopped(str(result))
        case Backpressure() if kind.on_backpressure == "wait":
            return Postponed(str(result), result.retry_after)
        # The bucket, the disk or the database: jobs wait for it, however long it takes. After a mismatch they wait for a worker
        # with the right settings.
        case StoreUnavailable() | ArtifactStoreMismatch():
            return Postponed(str(result), STORE_AGAIN * (0.5 + luck), result.code, result.dependency)
        case SourceInvalid() | TooLarge() | EngineMissing() | Refused() | Backpressure():  # wrong today, wrong tomorrow
            return GaveUp(describe(claim, result))
        case Timeout() if not kind.retry_timeouts:
            return GaveUp(describe(claim, result))
        case _ if claim.attempt >= claim.max_attempts:
            return GaveUp(describe(claim, result))
        case _:
            return Retry(describe(claim, result), _pause(claim, kind, luck))


def _pause(claim: Claim, kind: Kind, luck: float) -> float:
    """As the kind says. One that cannot say waits as any other would: its job is not left hanging for it."""
    try:
        pause = kind.backoff.delay(claim.attempt, luck)
        if 0 <= pause <= LONGEST:
            return pause
        log.error("the backoff of %s said %r seconds; the usual time is waited", kind.name, pause)
    except Exception:
        log.exception("the backoff of %s failed; the usual time is waited", kind.name)
    return Backoff().delay(claim.attempt, luck)


def describe(claim: Claim, error: BaseException) -> dict[str, Any]:
    """An error as the job keeps it. What we did not word ourselves may hold secrets: it goes under `detail`, for operators."""
    if not isinstance(error, PressroomError):
        message = f"{type(error).__name__} in the handler of {claim.kind}; the worker's log has the details"
        return _error(claim, "handler_error", message) | {"detail": _trace(error)}
    described = _error(claim, error.code, str(error))
    if error.engines is not None:
        described["engines"] = dict(error.engines)
    if isinstance(error, SourceInvalid):
        place = {"line": error.line, "column": error.column, "excerpt": clean(error.excerpt, 500) if error.excerpt else None}
        described |= {name: value for name, value in place.items() if value is not None}
    return described


def timed_out(kind: Kind) -> Timeout:
    return Timeout(f"{kind.name} did not finish within its limit of {kind.timeout:g} s")


def _error(claim: Claim, code: str, message: str) -> dict[str, Any]:
    return {"attempt": claim.attempt, "code": code, "message": clean(message, MESSAGE_LIMIT)}


def _trace(error: BaseException) -> str:
    return clean("".join(traceback.format_exception(error)), DETAIL_LIMIT, keep_end=True)


def clean(text: str, limit: int, *, keep_end: bool = False) -> str:
    """Text that both databases can keep: valid Unicode, no NUL, of bounded length."""
    text = text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    if len(text) <= limit:
        return text
    return "…" + text[-limit:] if keep_end else text[:limit] + "…"
