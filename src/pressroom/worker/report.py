"""One line in the log for each attempt that ended: which job, how, and how long it took."""

import logging

from pressroom.model import GaveUp, PartlySucceeded, Postponed, Retry, Status
from pressroom.store.jobs.endings import Settled

log = logging.getLogger(__name__)

_LEVELS = {Status.FAILED: logging.WARNING, Status.COMPLETED_WITH_ERRORS: logging.WARNING}


def log_ending(one: Settled, seconds: float | None) -> None:
    """An attempt that goes wrong is a warning, whether or not the job is tried again. One that found no room is not."""
    went_wrong = isinstance(one.outcome, Retry) or (isinstance(one.outcome, Postponed) and bool(one.outcome.dependency))
    level = logging.WARNING if went_wrong else _LEVELS.get(one.status or Status.QUEUED, logging.INFO)
    if not log.isEnabledFor(level):
        return
    claim = one.claim
    subject = f" {claim.subject}" if claim.subject else ""
    took = "" if seconds is None else f", {seconds:.3f} s"
    log.log(level, "job_%s (%s%s) %s; attempt %d%s", claim.uid, claim.kind, subject, _words(one), claim.attempt, took)


def _words(one: Settled) -> str:
    match one.outcome:
        case GaveUp(error) | Retry(error) | PartlySucceeded(error=error):
            code, message = error.get("code"), str(error.get("message", "")).partition("\n")[0][:300]
            status = "goes back to the queue" if one.status is Status.QUEUED else one.status
            return f"{status}: {code}: {message}"
        case Postponed(reason, code=code, dependency=dependency) if one.status is Status.QUEUED:
            cause = f"{dependency}: {code}: " if dependency else ""
            return f"was postponed: {cause}{reason[:300]}"
    return "goes back to the queue" if one.status is Status.QUEUED else str(one.status)
