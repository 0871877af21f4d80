"""What an application declares: kinds of work with their promises, and schedules."""

import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import EnumType, StrEnum
from functools import cached_property
from typing import Any

from pressroom.errors import InvalidArgument
from pressroom.model import JSON, Ending, OnKey, Tier, Work


@dataclass(frozen=True)
class Backoff:
    """How long to wait before the next attempt: base, doubled each time, capped, spread by jitter."""

    base: float = 1.0
    cap: float = 60.0
    jitter: float = 0.1

    def delay(self, failures: int, random: float) -> float:
        """`random` in [0, 1) places the delay within the jitter; 0.5 is the middle."""
        plain = min(self.cap, self.base * 2.0 ** min(failures - 1, 60))
        return max(0.0, plain * (1 + self.jitter * (2 * random - 1)))


POOLS = ("default", "render", "outbound")

SUBMIT_SCOPES = ("submitter", "operator", "admin")  # each may do all that the one before may

type Handler = Callable[[Any, Any], Any] | Callable[[Any, Any], Awaitable[Any]]
type Settling = Callable[[Ending], Work[None]]
type MessageFields = Callable[[Any], Mapping[str, JSON]]


@dataclass(frozen=True)
class Kind:
    """A kind of work: its name, the function that does it, and the promises made about it.

    `submit_scope` is the scope of token that may submit it from outside, over HTTP or from a page. None is no token at all:
    only code of this process submits it. `@kind` says "submitter" if nothing else is said.

    `pool` is where it runs, for workers that do not take every kind: "render" needs no network, "outbound" reaches other
    servers (webhooks, KV, CDN, git, Vault), "default" is the rest.

    `timeout` is the seconds that an attempt may take; None is no limit. Without `cache_for` no result is reused.

    `retry_timeouts` is whether an attempt that ran into a time limit is made again. `preempt`: a newer payload of its key stops
    an attempt that has run for a second; the stopped job ends as superseded by the newer one.

    `message_fields` makes the fields that messages of a delivery carry beside the id and the kind, from a job's payload.
    Without it a payload is not copied into the delivery.

    `uses_delivery` is whether a delivery (Redis, oban) hands out its jobs. If not, the part that brings the kind has a
    worker of its own, which looks for them in the database.

    `alert`: a job of this kind that ends as failed raises an alert in the transaction that ends it, whatever ended it. A
    person sees it on the page of alerts until they acknowledge it. A cancel raises none.

    `settling` is called in the transaction that ends a job of this kind: by a worker, a cancel, the
    rescue of a crashed worker. It yields the statements that write the application's own rows.
    """

    name: str
    handler: Handler
    tier: Tier = Tier.BACKGROUND
    max_attempts: int = 3
    backoff: Backoff = Backoff()
    timeout: float | None = 300.0
    on_key: OnKey = OnKey.COALESCE
    on_backpressure: str = "wait"
    max_crashes: int = 3
    retention: timedelta = timedelta(days=7)
    cache_for: timedelta | None = None
    version: str = "1"
    settling: Settling | None = None
    submit_scope: str | None = None
    retry_timeouts: bool = True
    preempt: bool = False
    pool: str = "default"
    message_fields: MessageFields | None = None
    uses_delivery: bool = True
    alert: bool = False

    def __post_init__(self) -> None:
        problems = [*_coerce_fields(self, tier=Tier, on_key=OnKey, retention=_as_timedelta, cache_for=_as_timedelta)]
        problems = problems or [*self._problems()]
        if problems:
            raise InvalidArgument(f"kind {self.name!r}: {'; '.join(problems)}")

    def __str__(self) -> str:
        return self.name

    def __call__(self, job: Any, payload: Any) -> Any:
        return self.handler(job, payload)

    @cached_property
    def is_coroutine(self) -> bool:
        return inspect.iscoroutinefunction(self.handler)

    def _problems(self) -> Generator[str]:
        if not self.name or len(self.name) > 100 or not self.name.replace(".", "").replace("_", "").replace("-", "").isalnum():
            yield "a name has 1 to 100 letters, digits, dots, dashes or underscores"
        if self.max_attempts < 1:
            yield "max_attempts is at least 1"
        if self.max_crashes < 1:
            yield "max_crashes is at least 1"
        if self.timeout is not None and self.timeout <= 0:
            yield "timeout is above 0 seconds, or None for no limit"
        if self.retention < timedelta(0):
            yield "retention is not negative"
        if self.preempt and self.on_key is not OnKey.COALESCE:
            yield "preempt needs on_key='coalesce'"
        if not isinstance(self.backoff, Backoff):
            yield "backoff is a Backoff, such as Backoff(base=1, cap=60)"
        if self.on_backpressure not in ("wait", "fail"):
            yield "on_backpressure is 'wait' or 'fail'"
        if self.submit_scope is not None and self.submit_scope not in SUBMIT_SCOPES:
            yield f"submit_scope is {', '.join(SUBMIT_SCOPES)}, or None for code of this process alone"
        if self.pool not in POOLS:
            yield f"pool is {', '.join(POOLS[:-1])} or {POOLS[-1]}"
        if not isinstance(self.alert, bool):
            yield "alert is True or False"
        if self.message_fields is not None and not callable(self.message_fields):
            yield "message_fields is a function of the payload"


def kind(name: str, **options: Any) -> Callable[[Handler], Kind]:
    """Turn a function into a kind of work: `@kind("shout", max_attempts=3, timeout=5)`. Options are the fields of `Kind`.

    Tokens with the scope submitter may submit it over HTTP, unless `submit_scope` says otherwise.
    """
    options.setdefault("submit_scope", "submitter")

    def register(handler: Handler) -> Kind:
        return Kind(name, handler, **options)

    return register


class Missed(StrEnum):
    """What a schedule does about ticks that passed while no process ran."""

    ONE = "one"  # fire the latest missed tick once
    SKIP = "skip"  # wait for the next
    ALL = "all"  # fire each, a hundred at most


@dataclass(frozen=True)
class Schedule:
    """Submit a job at every tick of a cron expression (five fields, UTC). A tick fires once, in however many processes.

    One that is `on_demand` begins when the application saves it (`store.jobs.schedules.save_schedule`), and not when workers
    start.
    """

    name: str
    cron: str
    kind: str
    payload: JSON = field(default_factory=dict)
    missed: Missed = Missed.ONE
    key: str | None = None
    on_demand: bool = False

    def __post_init__(self) -> None:
        if problems := [*_coerce_fields(self, missed=Missed)]:
            raise InvalidArgument(f"schedule {self.name!r}: {'; '.join(problems)}")


def _coerce_fields(value: Any, **types: Callable[[Any], Any]) -> Generator[str]:
    """Let a word stand for what it names (`on_key="skip"`) and a number for seconds. Tells what stands for nothing."""
    for name, make in types.items():
        given = getattr(value, name)
        try:
            object.__setattr__(value, name, make(given))  # frozen from here on
        except (TypeError, ValueError):
            yield f"{name} cannot be {given!r}" + (
                f"; it is one of {', '.join(map(str, make))}" if isinstance(make, EnumType) else ""
            )


def _as_timedelta(given: timedelta | float | None) -> timedelta | None:
    return given if given is None or isinstance(given, timedelta) else timedelta(seconds=given)
