"""The small world that the machine plays in: four kinds of work, two keys, three organisations, three workers."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from functools import cache
from itertools import product
from typing import Any

from pressroom.base.fingerprint import Fingerprint, fingerprint
from pressroom.definitions import Backoff, Kind, Schedule
from pressroom.errors import Backpressure, Cancelled, SourceInvalid, Transient
from pressroom.model import Ending, OnKey, Work
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.transitions import Kinds
from pressroom.worker.judge import EncodedResult, WorkerStopping

LEASE = 15_000
WORKERS = ("w0", "w1", "w2")


def make_kinds(heard: Callable[[Ending], None]) -> dict[str, Kind]:
    """One kind for each policy, and a second that coalesces but has no hook: a stranger may end its jobs."""

    def settling(ending: Ending) -> Work[None]:
        heard(ending)
        yield from ()

    minutes = timedelta(minutes=1)
    kinds = (
        Kind("wiki", _render, on_key=OnKey.COALESCE, retention=60 * minutes, settling=settling),
        Kind("draft", _render, on_key=OnKey.COALESCE, retention=0 * minutes, max_crashes=2),
        Kind(
            "pack", _render, on_key=OnKey.LINE_UP, retention=10 * minutes, max_attempts=2, backoff=Backoff(base=0), alert=True
        ),
        Kind(
            "index",
            _render,
            on_key=OnKey.SKIP,
            retention=10 * minutes,
            max_attempts=2,
            max_crashes=1,
            settling=settling,
            alert=True,
        ),
    )
    return {kind.name: kind for kind in kinds}


def _render(job: Any, payload: Any) -> None:
    """Nobody calls it: the machine decides how an attempt ends."""


@dataclass(frozen=True)
class RenderRequest:
    """What somebody submits."""

    kind: str = "wiki"
    key: str | None = None
    tier: int = 1
    delay: int = 0
    source: str | None = None
    cache_for: int = 0
    org: str = ""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Only what is special about it: Hypothesis's traces are long enough."""
        said = (f"{one.name}={value!r}" for one in fields(self) if (value := getattr(self, one.name)) != one.default)
        printer.text(f"RenderRequest({', '.join(said)})")


# A value that stands twice is drawn twice as often. The plainest comes first, for Hypothesis to shrink to.
_KINDS = ("wiki", "wiki", "draft", "pack", "index")
_KEYS = ("a", "a", "a", "b", None)
_TIERS = (1, 0)
_DELAYS = (0, 0, 0, 0, 0, 5_000, 3_600_000)
_SOURCES = ((None, 0), ("x", 300_000), ("x", 300_000), ("y", 300_000), ("y", 0))
_ORGS = ("", "", "", "acme", "globex")

WISHES = [
    RenderRequest(kind, key, tier, delay, source, cache_for, org)
    for org, delay, (source, cache_for), tier, key, kind in product(_ORGS, _DELAYS, _SOURCES, _TIERS, _KEYS, _KINDS)
]

# What somebody else wants of a thing for which a job was submitted before.
SAME = "the same"
CHANGES = list(product(_DELAYS, (*_SOURCES, (SAME, 300_000), (SAME, 300_000), (SAME, 0)), _TIERS))

# What is submitted where a step needs a job and there is none.
USUAL = [
    RenderRequest("wiki", "a", source="x", cache_for=300_000),
    RenderRequest("draft", "a", tier=0, source="x", cache_for=300_000),
    RenderRequest("wiki", "b", tier=0),
    RenderRequest("pack"),
    RenderRequest("index", "a", tier=0),
    RenderRequest("pack", org="acme"),
]

BATCHES = [
    (RenderRequest("pack"), RenderRequest("wiki"), RenderRequest("index", tier=0), RenderRequest("draft", delay=5_000)),
    (RenderRequest("wiki", "a"), RenderRequest("wiki", "a", tier=0)),
    (RenderRequest("pack", "a"), RenderRequest("pack", "a", tier=0), RenderRequest("wiki", "a")),
    (
        RenderRequest("draft", "b", source="x", cache_for=300_000),
        RenderRequest("draft", "b", source="x", tier=0),
        RenderRequest("index", "b"),
    ),
    (RenderRequest("wiki", "a", delay=5_000), RenderRequest("index", "a"), RenderRequest("wiki", "b")),
    (
        *[RenderRequest("pack", org="acme")] * 3,
        RenderRequest("pack", org="globex"),
        RenderRequest("draft", tier=0, org="globex"),
        RenderRequest("pack"),
    ),
]

HOUR = 3_600_000
HOURLY = Schedule("hourly", "0 * * * *", "index", key="a")
AT_EACH_HOUR = RenderRequest("index", "a")

ROOMS = [FreeSlots(1, 1), FreeSlots(2, 1), FreeSlots(5, 5), FreeSlots(3, 2), FreeSlots(1, 0), FreeSlots(3, 0), FreeSlots(0, 0)]

EVERY_KIND = ("wiki", "draft", "pack", "index")
CLAIMABLE: list[tuple[str, ...]] = [
    EVERY_KIND,
    EVERY_KIND,
    ("index", "pack", "draft", "wiki"),
    ("wiki",),
    ("draft", "pack"),
]

# Names that a delivery offers: of open jobs or of all there were, counted round, and None for one that there never was.
NAMES: list[tuple[bool, tuple[int | None, ...]]] = [
    (True, (0, 1, 2, 3, 4, 5, 6, 7)),
    (True, (0, 1)),
    (True, (-1, -1, -2)),
    (True, (None, 1, 3, 5)),
    (False, (0, -3, 2, None)),
    (False, (None,)),
]

# How a handler's attempt may end; worker.judge says what it means.
RESULTS: list[EncodedResult | BaseException] = [
    EncodedResult('"fine"', ()),
    EncodedResult('"fine"', ()),
    Transient("try again"),
    Transient("try again"),
    EncodedResult('"mostly"', ("a part failed",)),
    SourceInvalid("not Markdown"),
    Backpressure("no room", retry_after=0.0),
    Backpressure("no room", retry_after=4.0),
    WorkerStopping(),
    Cancelled(),
]

JUMPS = [1.0, 5.0, 16.0, 70.0, 700.0, 4_000.0, -1.0, -20.0, -4_000.0]


@cache
def input_of(kind: str, org: str, source: str | None) -> Fingerprint | None:
    """The fingerprint as the queue makes it: organisation and kind are part of the input."""
    return None if source is None else fingerprint({"org": org, "kind": kind, "version": "1", "source": source})


def source_of(digest: str | None, kind: str, org: str) -> str | None:
    return next((source for source in ("x", "y") if (input := input_of(kind, org, source)) and input.digest == digest), None)


def without(kinds: Kinds, unknown: tuple[str, ...] | None) -> Kinds:
    """The kinds of a process that does not know all of them; or, for None, one in which every hook fails and is left out."""
    if unknown is None:
        return {name: replace(kind, settling=None) for name, kind in kinds.items()}
    return {name: kind for name, kind in kinds.items() if name not in unknown}
