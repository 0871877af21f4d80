"""Logs one line for each attempt that ended: the job, the outcome and the duration."""

import logging

from pressroom.model import GaveUp, PartlySucceeded, Postponed, Retry, Status
from pressroom.store.jobs.endings import Settled

log = logging.getLogger(__name__)

_LEVELS = {Status.FAILED: logging.WARNING, Status.COMPLETED_WITH_ERRORS: logging.WARNING}


def log_attempt(one: Settled, seconds: float | None) -> None:
    """A failed attempt is a warning, whether or not the job is retried. One that was postponed for lack of room is not."""
    went_wrong = isinstance(one.outcome, Retry) or (isinstance(one.outcome, Postponed) and bool(one.outcome.dependency))
    level = logging.WARNING if went_wrong else _LEVELS.get(one.status or Status.QUEUED, logging.INFO)
    if not log.isEnabledFor(level):
        return
    claim = one.claim
    subject = f" {claim.subject}" if claim.subject else ""
    took = "" if seconds is None else f", {seconds:.3f} s"
    log.log(
        level, "job_%s (%s%s) %s; attempt %d%s", claim.uid, claim.kind, subject, _describe_outcome(one), claim.attempt, took
    )


def _describe_outcome(one: Settled) -> str:
    match one.outcome:
        case GaveUp(error) | Retry(error) | PartlySucceeded(error=error):
            code, message = error.get("code"), str(error.get("message", "")).partition("\n")[0][:300]
            status = "goes back to the queue" if one.status is Status.QUEUED else one.status
            return f"{status}: {code}: {message}"
        case Postponed(reason, code=code, dependency=dependency) if one.status is Status.QUEUED:
            cause = f"{dependency}: {code}: " if dependency else ""
            return f"was postponed: {cause}{reason[:300]}"
    return "goes back to the queue" if one.status is Status.QUEUED else str(one.status)
