"""What the workers of a process have counted since it started: the numbers behind the metrics."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pressroom.errors import PressroomError
from pressroom.model import Postponed, Retry, Status
from pressroom.store.jobs.endings import Settled

# Upper bounds in seconds: a cached lookup takes milliseconds, a PDF of a long document minutes.
DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)

UNEXPECTED = "unexpected"  # the code of an error that is not one of ours


class SlotUsage(NamedTuple):
    total: int
    busy: int


class DurationHistogram:
    """`counts` has one number for each bucket, and one more for what took longer than the last."""

    def __init__(self) -> None:
        self.counts = [0] * (len(DURATION_BUCKETS) + 1)
        self.total_seconds = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(DURATION_BUCKETS, seconds)] += 1
        self.total_seconds += seconds


class WorkerCounters:
    """One for all workers of a process. The keys are kinds, outcomes, error codes and dependencies, of which there are few.

    The event loop writes and reads them, except for the errors: the heartbeat fails in a thread of its own.
    """

    def __init__(self) -> None:
        self.claimed: Counter[str] = Counter()  # jobs, by kind
        self.claim_statements = 0
        self.settled: Counter[tuple[str, str]] = Counter()  # attempts, by kind and outcome
        self.postponed: Counter[tuple[str, str, str]] = Counter()  # attempts, by kind, error code and dependency
        self.lost_leases: Counter[str] = Counter()  # attempts, by kind
        self.durations: dict[str, DurationHistogram] = {}  # of attempts, by kind
        self._errors: Counter[tuple[str, str]] = Counter()
        self._errors_lock = threading.Lock()

    def add_kinds(self, kinds: Iterable[str]) -> None:
        """Start them at zero: a monitoring system sees no increase in a figure whose first value is already 1."""
        for kind in kinds:
            self.claimed[kind] += 0
            self.lost_leases[kind] += 0
            self.durations.setdefault(kind, DurationHistogram())

    def count_attempt(self, kind: str, seconds: float) -> None:
        self.durations[kind].observe(seconds)

    def count_settled(self, settled: Settled) -> None:
        """An attempt whose result was written, or refused because its claim was lost."""
        kind = settled.claim.kind
        if settled.status is None:
            self.lost_leases[kind] += 1
            return
        outcome = _outcome_label(settled)
        self.settled[kind, outcome] += 1
        if outcome == "postponed" and isinstance(settled.outcome, Postponed):
            self.postponed[kind, settled.outcome.code, settled.outcome.dependency] += 1

    def count_error(self, dependency: str, reason: BaseException | str) -> None:
        """`dependency` is database, artifacts, redis, oban or secret_key; `reason` an error or its code. Callable from any
        thread."""
        code = reason if isinstance(reason, str) else reason.code if isinstance(reason, PressroomError) else UNEXPECTED
        with self._errors_lock:
            self._errors[dependency, code] += 1

    def count_database_error(self, reason: BaseException) -> None:
        self.count_error("database", reason)

    def errors(self) -> Mapping[tuple[str, str], int]:
        """By dependency and code."""
        with self._errors_lock:
            return dict(self._errors)


def _outcome_label(settled: Settled) -> str:
    """The status that the job has now, or why it is queued again."""
    if settled.status is not Status.QUEUED:
        return str(settled.status)
    match settled.outcome:
        case Retry():
            return "retried"
        case Postponed():
            return "postponed"
        case _:
            return "released"
