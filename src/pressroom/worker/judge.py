"""What an attempt's result means. Values in, a value out: no clock, no database, no random numbers."""

import logging
import traceback
from collections.abc import Sequence
from typing import Any

import msgspec

from pressroom.definitions import Backoff, Kind
from pressroom.errors import (
    ArtifactStoreMismatch,
    Backpressure,
    Cancelled,
    EngineMissing,
    PressroomError,
    Refused,
    RenderRefused,
    SourceInvalid,
    StoreUnavailable,
    Timeout,
    TooLarge,
)
from pressroom.model import Claim, GaveUp, Outcome, PartlySucceeded, Postponed, Released, Retry, Stopped, Succeeded

log = logging.getLogger("pressroom.worker")

MAX_RETRY_DELAY = 366 * 86_400.0  # seconds that a kind may wait before its next attempt
STORE_RETRY_DELAY = 2.0  # seconds, give or take half, before the next attempt when a store was unavailable
MESSAGE_LIMIT = 2_000
DETAIL_LIMIT = 8_000


class WorkerStopping(PressroomError):
    """Why a handler was stopped when its worker had to stop."""


class Preempted(PressroomError):
    """Why a handler was stopped when a newer payload of its key came."""


class EncodedResult(msgspec.Struct, frozen=True):
    """A handler's value as JSON, the errors of parts that failed, and what its settling hook gets."""

    value: str
    errors: Sequence[str]
    for_hook: Any = None


def judge(claim: Claim, kind: Kind, result: EncodedResult | BaseException, random: float) -> Outcome:
    match result:
        case EncodedResult(value, errors, for_hook) if not errors:
            return Succeeded(value, for_hook)
        case EncodedResult(value, errors, for_hook):
            return PartlySucceeded(value, _error_fields(claim, "partial", "; ".join(errors)), for_hook)
        case WorkerStopping() | Preempted():  # if the newer payload is gone by now, this one is tried again
            return Released()
        case Cancelled():
            return Stopped(str(result))
        case Backpressure() if kind.on_backpressure == "wait":
            return Postponed(str(result), result.retry_after)
        # The bucket, the disk or the database is unavailable: the job waits, however long that takes. After a mismatch it waits
        # for a worker with the right settings.
        case StoreUnavailable() | ArtifactStoreMismatch():
            return Postponed(str(result), STORE_RETRY_DELAY * (0.5 + random), result.code, result.dependency)
        case SourceInvalid() | TooLarge() | EngineMissing() | Refused() | Backpressure():  # a retry would end the same
            return GaveUp(describe_error(claim, result))
        case Timeout() if not kind.retry_timeouts:
            return GaveUp(describe_error(claim, result))
        case _ if claim.attempt >= claim.max_attempts:
            return GaveUp(describe_error(claim, result))
        case _:
            return Retry(describe_error(claim, result), _retry_delay(claim, kind, random))


def _retry_delay(claim: Claim, kind: Kind, random: float) -> float:
    """By the backoff of the kind, or by the default one if that fails."""
    try:
        delay = kind.backoff.delay(claim.attempt, random)
        if 0 <= delay <= MAX_RETRY_DELAY:
            return delay
        log.error("the backoff of %s returned %r seconds; the default is used", kind.name, delay)
    except Exception:
        log.exception("the backoff of %s failed; the default is used", kind.name)
    return Backoff().delay(claim.attempt, random)


def describe_error(claim: Claim, error: BaseException) -> dict[str, Any]:
    """An error as the job keeps it. Text of other libraries may hold secrets: it goes under `detail`, for operators."""
    if not isinstance(error, PressroomError):
        message = f"{type(error).__name__} in the handler of {claim.kind}; the worker's log has the details"
        return _error_fields(claim, "handler_error", message) | {"detail": _format_traceback(error)}
    described = _error_fields(claim, error.code, str(error))
    if error.engines is not None:
        described["engines"] = dict(error.engines)
    if error.detail is not None:
        described["detail"] = storable_text(error.detail, DETAIL_LIMIT)
    if isinstance(error, SourceInvalid | RenderRefused):
        excerpt = error.excerpt if isinstance(error, SourceInvalid) else None
        place = {
            "line": error.line,
            "column": error.column,
            "excerpt": storable_text(excerpt, 500) if excerpt else None,
        }
        described |= {name: value for name, value in place.items() if value is not None}
    return described


def timeout_error(kind: Kind) -> Timeout:
    return Timeout(f"{kind.name} did not finish within its limit of {kind.timeout:g} s")


def _error_fields(claim: Claim, code: str, message: str) -> dict[str, Any]:
    return {"attempt": claim.attempt, "code": code, "message": storable_text(message, MESSAGE_LIMIT)}


def _format_traceback(error: BaseException) -> str:
    return storable_text("".join(traceback.format_exception(error)), DETAIL_LIMIT, keep_end=True)


def storable_text(text: str, limit: int, *, keep_end: bool = False) -> str:
    """Text that both databases can keep: valid Unicode, no NUL, of bounded length."""
    text = text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    if len(text) <= limit:
        return text
    return "…" + text[-limit:] if keep_end else text[:limit] + "…"
