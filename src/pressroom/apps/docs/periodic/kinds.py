"""What the periodic kinds have in common: one retry a minute later, and then the next tick of the schedule (Q34)."""

from collections.abc import Sequence
from datetime import timedelta

from pressroom.app import Core
from pressroom.definitions import Backoff, Handler, Kind
from pressroom.errors import PressroomError, Transient
from pressroom.model import OnKey

ATTEMPTS = 2
RETRY_AFTER = 60.0  # seconds
TIMEOUT = 3600.0  # seconds
ORGS_AT_ONCE = 8


def periodic_kind(name: str, handler: Handler, core: Core, *, pool: str = "default") -> Kind:
    """Submitted with the key `name`: one is queued at a time, however long a run takes."""
    return Kind(
        name,
        handler,
        max_attempts=ATTEMPTS,
        backoff=Backoff(base=RETRY_AFTER, cap=RETRY_AFTER),
        timeout=TIMEOUT,
        on_key=OnKey.SKIP,
        retention=timedelta(seconds=core.app_settings.job_retention),
        pool=pool,
    )


def raise_if_all_failed(results: Sequence[object]) -> None:
    """Of organisations that were worked on side by side: where some failed the job ends with errors, and where all did, its
    attempt has failed. A cancel or a lost claim ends it in any case."""
    failed = [result for result in results if isinstance(result, BaseException)]
    for failure in failed:
        if not isinstance(failure, Exception):
            raise failure
    if failed and len(failed) == len(results):
        first = failed[0]
        message = str(first) if isinstance(first, PressroomError) else type(first).__name__
        raise Transient(f"all {len(failed)} organisations failed; the first: {message}") from first
