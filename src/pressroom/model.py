"""The values that travel: a job, its states and tiers, events, and how an attempt ended."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

import msgspec

from pressroom.errors import InvalidArgument

VERSION = "0.1.0"  # pyproject.toml says the same; a test compares them

type JSON = bool | int | float | str | list[JSON] | dict[str, JSON] | None


class Tier(IntEnum):
    INTERACTIVE = 0  # a caller waits
    BACKGROUND = 1


class Status(StrEnum):
    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return not MOVES[self]


# The database refuses every other move (migrations/*/0001_jobs.sql); a test compares the two.
MOVES: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.IN_PROGRESS, Status.CANCELLED, Status.FAILED}),
    Status.IN_PROGRESS: frozenset(
        {
            Status.QUEUED,  # a retry, a release, a lost lease
            Status.COMPLETED,
            Status.COMPLETED_WITH_ERRORS,
            Status.FAILED,
            Status.CANCELLED,
        }
    ),
    Status.COMPLETED: frozenset(),  # another try is another job
    Status.COMPLETED_WITH_ERRORS: frozenset(),
    Status.FAILED: frozenset(),
    Status.CANCELLED: frozenset(),
}


class OnKey(StrEnum):
    """What a submit does while a job of the same kind and key is queued."""

    COALESCE = "coalesce"  # the newest payload takes the queued job's place
    LINE_UP = "line_up"  # queue behind it
    SKIP = "skip"  # the queued one is the answer


class Answer(StrEnum):
    """What a submit did."""

    NEW = "new"
    COALESCED = "coalesced"
    SKIPPED = "skipped"
    HIT = "hit"
    JOINED = "joined"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the jobs table, as the API shows it. `org_id` is None for the default organisation, whose rows have ""."""

    id: int
    uid: str
    kind: str
    tier: Tier
    seq: int
    run_at: datetime
    status: Status
    waits_for: str | None
    phase: str | None
    progress: dict[str, Any] | None
    errors: list[dict[str, Any]]
    last_error: str | None
    failures: int
    max_attempts: int
    crashes: int
    claim: int
    worker: str | None
    lease_until: datetime | None
    key: str | None
    fingerprint: str | None
    org_id: str | None
    project_id: str | None
    build_id: str | None
    subject: str | None
    payload: Any
    result: Any
    parent: str | None
    retry_of: str | None
    superseded_by: str | None
    version: int
    cancel_requested: bool
    delivery_ref: str | None
    trace: dict[str, str] | None
    date_created: datetime
    date_started: datetime | None
    date_completed: datetime | None

    @property
    def attempts(self) -> int:
        """Attempts that were made, with the one under way. Claims that a worker gave back or took along in a crash are none."""
        is_more = self.status in (Status.IN_PROGRESS, Status.COMPLETED, Status.COMPLETED_WITH_ERRORS)
        return min(self.max_attempts, self.failures + 1) if is_more else self.failures

    def __str__(self) -> str:
        return f"job_{self.uid}"


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a submit: which job it is, and how it came to be that one.

    `version` is the version of the payload that this submit brought. A job may end up rendering a later one;
    its own `version` then is greater, and what was submitted here was superseded.
    `differs` names the inputs that kept the nearest cache entry from being a hit.
    """

    id: int
    uid: str
    kind: str
    answer: Answer
    version: int
    differs: list[str] | None = None

    def __str__(self) -> str:
        return f"job_{self.uid}"


class Claim(msgspec.Struct, frozen=True):
    """A job that a worker holds: what it needs to run one attempt, and the token that fences its writes."""

    id: int
    uid: str
    kind: str
    tier: int
    seq: int
    token: int
    version: int
    failures: int
    max_attempts: int
    crashes: int
    key: str | None
    fingerprint: str | None
    org_id: str | None
    project_id: str | None
    build_id: str | None
    subject: str | None
    parent: str | None
    trace: str | None
    payload: str

    @property
    def attempt(self) -> int:
        return self.failures + 1


class Event(msgspec.Struct, frozen=True):
    """One line of a job's history. `id` grows over all jobs, so that a stream can be resumed after it."""

    id: int
    job_id: int
    uid: str
    at: datetime
    type: str
    data: dict[str, Any]

    @property
    def ends(self) -> bool:
        return self.type in _ENDINGS


_ENDINGS = frozenset(status.value for status in Status if status.ended)


# How one attempt ended. judge() decides; the store carries it out.


class Succeeded(msgspec.Struct, frozen=True):
    result: str  # JSON
    for_hook: Any = None  # for the settling hook


class PartlySucceeded(msgspec.Struct, frozen=True):
    result: str
    error: dict[str, Any]
    for_hook: Any = None


class GaveUp(msgspec.Struct, frozen=True):
    error: dict[str, Any]


class Retry(msgspec.Struct, frozen=True):
    error: dict[str, Any]
    wait: float


class Postponed(msgspec.Struct, frozen=True):
    """No room for it now, or a dependency cannot be used. Costs no attempt.

    `code` is the one of the error, and `dependency` what could not be used, if that was the reason.
    """

    reason: str
    wait: float
    code: str = "backpressure"
    dependency: str = ""


class Released(msgspec.Struct, frozen=True):
    """Our own stop interrupted it. Costs no attempt and keeps its place."""


class Stopped(msgspec.Struct, frozen=True):
    reason: str


type Outcome = Succeeded | PartlySucceeded | GaveUp | Retry | Postponed | Released | Stopped


@dataclass(frozen=True)
class Partial:
    """What a handler returns when its work is done but some of it went wrong: the job is completed_with_errors."""

    value: Any
    errors: list[str]


@dataclass(frozen=True)
class Result:
    """What a handler may return when its kind's settling hook needs more than the job should keep.

    `value` is the job's result. `for_hook` is passed to the hook, in the transaction that ends the job, and not stored.
    """

    value: Any
    for_hook: Any


class Statement(NamedTuple):
    """One SQL statement with its parameters, run inside the caller's transaction: the name of a .sql file, or SQL text."""

    sql: str
    params: Mapping[str, Any] | None = None


class SingleRoundTrip(Statement):
    """A statement that is all there is to a unit of work, so that it may be begun, carried out and committed in one go.

    The unit that yields one is sent `NOT_SUPPORTED` where the database cannot, and uses several statements.
    """


type Row = tuple[Any, ...]

NOT_SUPPORTED: list[Row] = []

# A unit of work is a generator: it yields statements and is sent their rows. It does no I/O of its own, so the same
# text runs in SQLite's writer thread, over an asynchronous PostgreSQL connection, and step by step in a test.
type Work[T] = Generator[Statement, list[Row], T]


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What a kind's `settling` hook is told in the transaction that ends the job."""

    id: int
    uid: str
    status: Status
    version: int
    result: Any
    error: dict[str, Any] | None
    payload: Any
    key: str | None
    org_id: str | None
    subject: str | None
    for_hook: Any = None  # what the handler returned for this hook alone


def from_ms(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def to_ms(moment: datetime) -> int:
    if moment.tzinfo is None:
        raise InvalidArgument("a time without a time zone is ambiguous; pass one with tzinfo, such as datetime.now(UTC)")
    return int(moment.timestamp() * 1000)
