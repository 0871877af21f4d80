"""Logs one line for each attempt that ended: the job, the outcome and the duration."""

import logging

from pressroom.model import GaveUp, PartlySucceeded, Postponed, Retry, Status
from pressroom.store.jobs.endings import Settled

log = logging.getLogger(__name__)

_LEVELS = {Status.FAILED: logging.WARNING, Status.COMPLETED_WITH_ERRORS: logging.WARNING}


def log_attempt(settled: Settled, seconds: float | None) -> None:
    """A failed attempt is a warning, whether or not the job is retried. One that was postponed for lack of room is not."""
    went_wrong = isinstance(settled.outcome, Retry) or (
        isinstance(settled.outcome, Postponed) and bool(settled.outcome.dependency)
    )
    level = logging.WARNING if went_wrong else _LEVELS.get(settled.status or Status.QUEUED, logging.INFO)
    if not log.isEnabledFor(level):
        return
    claim = settled.claim
    subject = f" {claim.subject}" if claim.subject else ""
    took = "" if seconds is None else f", {seconds:.3f} s"
    log.log(
        level, "job_%s (%s%s) %s; attempt %d%s", claim.uid, claim.kind, subject, _describe_outcome(settled), claim.attempt, took
    )


def _describe_outcome(settled: Settled) -> str:
    match settled.outcome:
        case GaveUp(error) | Retry(error) | PartlySucceeded(error=error):
            code, message = error.get("code"), str(error.get("message", "")).partition("\n")[0][:300]
            status = "goes back to the queue" if settled.status is Status.QUEUED else settled.status
            return f"{status}: {code}: {message}"
        case Postponed(reason, code=code, dependency=dependency) if settled.status is Status.QUEUED:
            cause = f"{dependency}: {code}: " if dependency else ""
            return f"was postponed: {cause}{reason[:300]}"
    return "goes back to the queue" if settled.status is Status.QUEUED else str(settled.status)
