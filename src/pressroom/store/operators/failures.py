"""Jobs that failed, and what they have in common. A row is written with the ending; the rest reads.

When a job failed is in its own row. So of each group the newest are looked at, and of all groups no more than LOOKED_AT; where
that does not reach back to the start of the window, a count is a lower bound and says so.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from pressroom.base.failure_signature import failure_signature
from pressroom.errors import NotFound
from pressroom.model import Row, Statement, Work, from_ms, to_ms
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

COUNTED = 10_000  # failures of a group
LOOKED_AT = 10_000  # jobs of all groups together, for when they failed
LEAST = 25  # of each group, however many groups there are
GROUPS = 2_000
DEEP = 1_000  # of a group, among which those of one organisation are looked for
NEAR = 60  # numbers before a group's first failure, among which something that went well is looked for
MINUTE = 60_000  # milliseconds


class FailedJob(msgspec.Struct, frozen=True):
    """A job that just ended. Its error names its engines, where it had any."""

    id: int
    kind: str
    error: Mapping[str, Any]

    @property
    def print(self) -> str:
        return failure_signature(self.kind, self.error.get("code", ""), self.error.get("message", ""))

    @property
    def version(self) -> str | None:
        engines = self.error.get("engines")
        return format_engines(engines) if engines else None


def record(failed: Iterable[FailedJob]) -> Work[None]:
    """In the transaction that ends them."""
    rows = [(one.id, one.print, one.version) for one in failed]
    yield Statement("record_failures", {"failures": compact(rows)})


def format_engines(engines: Mapping[str, str]) -> str:
    """Engines with their versions, as one text."""
    return "; ".join(f"{name}: {version}" for name, version in engines.items())


class FailureWindow(msgspec.Struct, frozen=True):
    """How far back to look, in milliseconds, and into how many bars. None is as far as there is something."""

    length: int | None
    bars: int


class WindowBars(msgspec.Struct, frozen=True):
    """A window as it lies at a moment. `step` is how long a bar is, in milliseconds."""

    since: datetime
    until: datetime
    start: int
    step: int
    bars: int

    def bar_start(self, index: int) -> datetime:
        return from_ms(self.start + index * self.step)

    def bar_counts(self, counts: Mapping[int, int]) -> list[int]:
        """The last bar takes what ended in the very moment of the look, or ahead of it: clocks may disagree."""
        columns = [0] * self.bars
        for index, count in counts.items():
            columns[min(index, self.bars - 1)] += count
        return columns


class FailureSample(msgspec.Struct, frozen=True):
    """One job that failed."""

    id: int
    uid: str
    kind: str
    org_id: str | None
    subject: str | None
    ended: datetime
    error: dict[str, Any]
    print: str
    version: str | None


class FailureGroup(msgspec.Struct, frozen=True, kw_only=True):
    """`capped` if there are at least as many as `count`. The sample is the newest, and `first_id` the first of the window."""

    print: str
    kind: str
    count: int
    capped: bool
    last: datetime
    first_id: int
    sample_id: int
    columns: list[int]


class FailureGroups(msgspec.Struct, frozen=True):
    """`cut` if there are more groups than are looked at."""

    span: WindowBars
    items: list[FailureGroup]
    cut: bool

    @property
    def total(self) -> int:
        return sum(group.count for group in self.items)

    @property
    def capped(self) -> bool:
        return self.cut or any(group.capped for group in self.items)


class FailureOrigin(msgspec.Struct, frozen=True):
    """The first failure of a group, and the versions with which the same engines did well shortly before, if that is known."""

    first: FailureSample
    before: str | None


class VersionFailures(msgspec.Struct, frozen=True):
    version: str | None
    count: int
    last: datetime
    first_id: int


class AffectedSubject(msgspec.Struct, frozen=True):
    """A subject whose jobs failed in this way."""

    subject: str | None
    org_id: str | None
    count: int
    last: datetime


class FailureDetails(msgspec.Struct, frozen=True, kw_only=True):
    """All about one group. The counts are of the window; `newest` and `origin` are not bound by it."""

    span: WindowBars
    count: int
    capped: bool
    columns: list[int]
    versions: list[VersionFailures]
    hits: list[AffectedSubject]
    newest: list[FailureSample]
    origin: FailureOrigin | None


class TrendBar(NamedTuple):
    """A row of failure_trend.sql: the failures of one version in one bar of the chart."""

    version: str | None
    bar: int
    failures: int
    last: int  # milliseconds
    first_id: int


def list_groups(window: FailureWindow, org_id: str | None) -> Work[FailureGroups]:
    moment = yield from now()
    known = yield Statement("failure_groups", {"org_id": org_id, "deep": DEEP, "groups": GROUPS})
    start = 0 if window.length is None else moment - window.length
    recent = {print: (print, kind, sample, last) for print, kind, sample, last in known if last >= start}
    span = yield from _window_bars(window, moment, list(recent), org_id)
    if not recent:
        return FailureGroups(span, [], len(known) >= GROUPS)
    most = max(LEAST, min(COUNTED, LOOKED_AT // len(recent)))
    bars = yield from _read_bars(list(recent), span, org_id, most)
    more = [print for print, rows in bars.items() if _count_failures(rows) >= most]
    sure = (yield from _count_submitted_within(more, span)) if more and org_id is None else {}
    items = [_group(recent[print], rows, span, most, sure.get(print, 0)) for print, rows in bars.items()]
    return FailureGroups(span, items, len(known) >= GROUPS)


def _window_bars(window: FailureWindow, moment: int, prints: Sequence[str], org_id: str | None) -> Work[WindowBars]:
    start = moment - MINUTE if window.length is None else moment - window.length
    if window.length is None and prints:
        firsts = yield from _load_failures([*(yield from _first_failure_ids(prints, org_id)).values()])
        start = min([start, *(to_ms(one.ended) for one in firsts)])
    step = -((start - moment) // window.bars)
    return WindowBars(from_ms(start), from_ms(moment), start, step, window.bars)


def _read_bars(prints: Sequence[str], span: WindowBars, org_id: str | None, most: int) -> Work[dict[str, list[Row]]]:
    params = {"prints": compact(prints), "since": span.start, "step": span.step, "org_id": org_id, "most": most}
    found: dict[str, list[Row]] = {}
    for print, *bar in (yield Statement("failure_bars", params)):
        found.setdefault(print, []).append(tuple(bar))
    return found


def _count_failures(bars: Iterable[Row]) -> int:
    return sum(count for _, count, _ in bars)


def _count_submitted_within(prints: Sequence[str], span: WindowBars) -> Work[dict[str, int]]:
    """What was submitted within the window failed within it, and is counted without a look at its job."""
    ((last,),) = yield Statement("failure_last_job")
    low, high = 1, (last or 0) + 1
    while low < high:  # numbers grow with time: the first job of the window is found by halving
        middle = (low + high) // 2
        rows = yield Statement("failure_next_job", {"id": middle})
        if not rows or rows[0][1] >= span.start:
            high = middle
        else:
            low = rows[0][0] + 1
    params = {"prints": compact(prints), "above": low, "most": COUNTED}
    return dict((yield Statement("failure_counts", params)))


def _group(row: Row, bars: Sequence[Row], span: WindowBars, most: int, sure: int) -> FailureGroup:
    print, kind, sample_id, last = row
    seen = _count_failures(bars)
    return FailureGroup(
        print=print,
        kind=kind,
        count=max(seen, sure),
        capped=seen >= most,
        last=from_ms(last),
        first_id=min(first for _, _, first in bars),
        sample_id=sample_id,
        columns=span.bar_counts({bar: count for bar, count, _ in bars}),
    )


def _first_failure_ids(prints: Sequence[str], org_id: str | None) -> Work[dict[str, int]]:
    rows = yield Statement("failure_firsts", {"prints": compact(prints), "org_id": org_id, "most": DEEP})
    return {print: id for print, id in rows if id is not None}


def load_samples(
    shown: Sequence[FailureGroup], org_id: str | None
) -> Work[tuple[dict[str, FailureSample], dict[str, FailureOrigin]]]:
    """The newest job of each group, and where the group began."""
    if not shown:
        return {}, {}
    newest = yield from _load_failures([group.sample_id for group in shown])
    known = yield from _first_failure_ids([group.print for group in shown], org_id)
    firsts = yield from _load_failures([known.get(group.print, group.first_id) for group in shown])
    return {one.print: one for one in newest}, (yield from _find_origins(firsts))


def _load_failures(ids: Sequence[int]) -> Work[list[FailureSample]]:
    rows = yield Statement("failure_jobs", {"ids": compact(ids)})
    return [_failure(row) for row in rows]


def _failure(row: Row) -> FailureSample:
    id, uid, kind, org_id, subject, ended, errors, print, version = row
    error = json.loads(errors)[-1] if errors else {}
    return FailureSample(id, uid, kind, org_id or None, subject, from_ms(ended), error, print, version)


def _find_origins(firsts: Sequence[FailureSample]) -> Work[dict[str, FailureOrigin]]:
    asked = [(one.id, one.kind) for one in firsts if one.version is not None]
    rows = (yield Statement("failure_before", {"firsts": compact(asked), "near": NEAR})) if asked else []
    before: dict[int, list[str]] = {}
    for id, engines in rows:
        before.setdefault(id, []).append(format_engines(json.loads(engines)))
    return {one.print: FailureOrigin(one, _find_same_engines(one.version, before.get(one.id, ()))) for one in firsts}


def _find_same_engines(version: str | None, before: Iterable[str]) -> str | None:
    if version is None:
        return None
    wanted = parse_engines(version).keys()
    return next((one for one in before if parse_engines(one).keys() == wanted), None)


def parse_engines(version: str) -> dict[str, str]:
    """What `named` put together."""
    return {name: rest for name, _, rest in (engine.partition(": ") for engine in version.split("; "))}


def load_details(print: str, window: FailureWindow, org_id: str | None) -> Work[FailureDetails]:
    """Raises NotFound."""
    newest = yield Statement("failure_newest", {"print": print, "org_id": org_id, "limit": 20})
    if not newest:
        raise NotFound(f"there are no failures {print}; there never were, or the retention of their jobs is over")
    moment = yield from now()
    span = yield from _window_bars(window, moment, [print], org_id)
    params = {"print": print, "org_id": org_id, "since": span.start, "most": COUNTED}
    trend = [TrendBar(*row) for row in (yield Statement("failure_trend", params | {"step": span.step}))]
    subjects = yield Statement("failure_subjects", params | {"limit": 10})
    known = yield from _first_failure_ids([print], org_id)
    first: int = known[print] if print in known else newest[-1][0]
    origins = yield from _find_origins((yield from _load_failures([first])))
    count = sum(bar.failures for bar in trend)
    return FailureDetails(
        span=span,
        count=count,
        capped=count >= COUNTED,
        columns=span.bar_counts(_sum_by_index((one.bar, one.failures) for one in trend)),
        versions=_count_by_version(trend),
        hits=[AffectedSubject(subject, org or None, count, from_ms(last)) for subject, org, count, last in subjects],
        newest=[_failure(row) for row in newest],
        origin=origins.get(print),
    )


def _count_by_version(trend: Sequence[TrendBar]) -> list[VersionFailures]:
    """In the order in which they first failed."""
    by_version: dict[str | None, list[TrendBar]] = {}
    for bar in trend:
        by_version.setdefault(bar.version, []).append(bar)
    versions = [
        VersionFailures(
            version,
            sum(bar.failures for bar in bars),
            from_ms(max(bar.last for bar in bars)),
            min(bar.first_id for bar in bars),
        )
        for version, bars in by_version.items()
    ]
    return sorted(versions, key=lambda one: one.first_id)


def _sum_by_index(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    sums: dict[int, int] = {}
    for index, count in pairs:
        sums[index] = sums.get(index, 0) + count
    return sums
