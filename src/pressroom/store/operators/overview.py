"""What an operator asks of a queue: what waits, what runs, what conflicts, what fails, who is busy, what is slow.

Each is a read through an index of open jobs, or of those that ended lately, and counts no further than COUNTED.
The structures are those that the service sends and that `--json` prints.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from pressroom.model import Row, Statement, Tier, Work, from_ms
from pressroom.store.jobs.queries import BEYOND
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

COUNTED = 100_000  # jobs; more would take longer than a look may
READY = 10_000  # of a kind that was not among them
AN_HOUR = 3_600_000  # milliseconds
NAMED = 20  # items of a job and a state
CONFLICTING = 500  # jobs, each with one item

type TierName = Literal["interactive", "background"]


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """`ready` only wait for a worker; the others for their time or their key. `oldest` is when the oldest was submitted, and
    `age` how many seconds ago. `ready_since` is when the first of the ready ones could have started."""

    kind: str
    tier: TierName
    queued: int
    ready: int
    oldest: datetime
    age: float
    ready_since: datetime | None


class BacklogReport(msgspec.Struct, frozen=True, kw_only=True):
    """`capped` if as many wait as are counted at most: then `queued` and `ready` are at least that many."""

    at: datetime
    items: list[Waiting]
    queued: int
    capped: bool
    paused: list[str]


class ItemFailure(msgspec.Struct, frozen=True):
    slug: str
    error: str | None


class ItemStates(msgspec.Struct, frozen=True, kw_only=True):
    """Named parts by state: how many, with the first of those that are in progress and of those that failed."""

    noun: str
    total: int
    completed: int
    failed: int
    in_progress: int
    names: list[str]
    failures: list[ItemFailure]


class Active(msgspec.Struct, frozen=True, kw_only=True):
    """What a job in progress does. `seconds` is for how long it has, this time."""

    id: str
    kind: str
    tier: TierName
    org_id: str | None
    project_id: str | None
    subject: str | None
    key: str | None
    worker: str | None
    attempt: int
    cancel_requested: bool
    date_started: datetime
    seconds: float
    phase: str | None
    message: str | None
    done: int | None
    total: int | None
    items: ItemStates | None


class ActiveList(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    items: list[Active]
    next_cursor: str | None


class Contender(msgspec.Struct, frozen=True):
    id: str
    state: Literal["in_progress", "completed", "failed"]


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """An item that two or more jobs in progress name, and how far each is with it. `noun` is what the items are called."""

    noun: str
    item: str
    org_id: str | None
    jobs: list[Contender]


class Conflicts(ActiveList, frozen=True, kw_only=True):
    """The jobs of a project that are in a phase of named items, and the items that more than one of them names."""

    conflicts: list[Conflict]
    capped: bool


class EndingCounts(msgspec.Struct, frozen=True, kw_only=True):
    ended: int
    completed: int
    completed_with_errors: int
    failed: int
    cancelled: int


class KindErrors(EndingCounts, frozen=True, kw_only=True):
    kind: str
    errors: int
    rate: float


class ErrorRate(msgspec.Struct, frozen=True, kw_only=True):
    """`errors` are failed and completed_with_errors, and `rate` is their share of all that were not cancelled.

    `capped` if as many ended within the hour as are counted at most: then `since` is less than an hour ago.
    """

    at: datetime
    since: datetime
    capped: bool
    ended: int
    errors: int
    rate: float
    items: list[KindErrors]


class OrgThroughput(EndingCounts, frozen=True, kw_only=True):
    org_id: str | None
    per_minute: float


class Throughput(msgspec.Struct, frozen=True, kw_only=True):
    """The busiest organisations first. `per_minute` is of completed jobs, and `orgs` how many organisations there are."""

    at: datetime
    since: datetime
    capped: bool
    orgs: int
    items: list[OrgThroughput]


class OverviewFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs in progress. What is left out does not filter."""

    org_id: str | None = None
    kind: str | None = None
    project_id: str | None = None
    phase: str | None = None
    has_items: bool = False  # in a phase that is called as its items are, and names some
    item: str | None = None  # with `has_items`: this one, in progress
    over: int = 0  # milliseconds since they started
    after: tuple[int, int] = (-1, -1)  # start and id of the last one of the page before


def backlog(org_id: str | None) -> Work[BacklogReport]:
    moment = yield from now()
    rows = yield Statement("count_waiting", {"org_id": org_id, "most": COUNTED})
    capped = sum(queued for _, _, queued, *_ in rows) >= COUNTED
    if capped:
        rows += yield from _count_unseen_kinds(org_id, {(kind, tier) for kind, tier, *_ in rows})
    paused = yield Statement("list_paused")
    lines = [_waiting(row, moment) for row in rows]
    return BacklogReport(
        at=from_ms(moment),
        items=lines,
        queued=sum(line.queued for line in lines),
        capped=capped,
        paused=sorted(name for (name,) in paused),
    )


def _count_unseen_kinds(org_id: str | None, seen: set[tuple[str, int]]) -> Work[list[Row]]:
    """Kinds of which none is among the oldest that were counted."""
    ready = yield Statement("count_ready", {"org_id": org_id, "most": READY})
    return [(kind, tier, count, count, *first) for kind, tier, count, *first in ready if count and (kind, tier) not in seen]


def _waiting(row: Row, moment: int) -> Waiting:
    kind, tier, queued, ready, oldest, ready_since = row
    return Waiting(
        kind=kind,
        tier=_tier_name(tier),
        queued=queued,
        ready=ready,
        oldest=from_ms(oldest),
        age=_seconds(moment - oldest),
        ready_since=None if ready_since is None else from_ms(ready_since),
    )


def active(chosen: OverviewFilter, limit: int) -> Work[ActiveList]:
    """Jobs in progress, those that have run longest first."""
    moment = yield from now()
    started, id = chosen.after
    params = {
        "org_id": chosen.org_id,
        "kind": chosen.kind,
        "project_id": chosen.project_id,
        "phase": chosen.phase,
        "has_items": int(chosen.has_items),
        "item": chosen.item,
        "started_before": moment - chosen.over if chosen.over else BEYOND,
        "after_start": started,
        "after_id": id,
        "limit": limit + 1,
    }
    rows = yield Statement("list_running", params)
    page = rows[:limit]
    items = yield from _items_by_job([id for id, *_ in page])
    return ActiveList(
        at=from_ms(moment),
        items=[_active(row, items, moment) for row in page],
        next_cursor=_make_cursor(page[-1]) if len(rows) > limit else None,
    )


def _make_cursor(row: Row) -> str:
    id, *_, started = row
    return f"{started}-{id}"


def _items_by_job(ids: list[int]) -> Work[dict[int, list[Row]]]:
    rows = (yield Statement("list_items", {"ids": compact(ids), "names": NAMED})) if ids else []
    by_job: dict[int, list[Row]] = {}
    for id, *item in rows:
        by_job.setdefault(id, []).append(tuple(item))
    return by_job


def _active(row: Row, items: dict[int, list[Row]], moment: int) -> Active:
    # fmt: off
    (id, uid, kind, tier, org_id, project_id, subject, key, worker, phase, progress, failures, cancel_requested, started) = row
    # fmt: on
    shown: dict[str, Any] = {} if progress is None else msgspec.json.decode(progress)
    return Active(
        id=f"job_{uid}",
        kind=kind,
        tier=_tier_name(tier),
        org_id=org_id or None,
        project_id=project_id,
        subject=subject,
        key=key,
        worker=worker,
        attempt=failures + 1,
        cancel_requested=bool(cancel_requested),
        date_started=from_ms(started),
        seconds=_seconds(moment - started),
        phase=phase,
        message=shown.get("message"),
        done=shown.get("done"),
        total=shown.get("total"),
        items=_item_states(shown["items"], items.get(id, [])) if "items" in shown else None,
    )


def _item_states(noun: str, items: list[Row]) -> ItemStates:
    mine = [item for item in items if item[0] == noun]  # those of an earlier phase of the same attempt are kept as well
    count = {state: total for _, state, _, _, total in mine}
    return ItemStates(
        noun=noun,
        total=sum(count.values()),
        completed=count.get("completed", 0),
        failed=count.get("failed", 0),
        in_progress=count.get("in_progress", 0),
        names=[name for _, state, name, _, _ in mine if state == "in_progress"],
        failures=[ItemFailure(name, error) for _, state, name, error, _ in mine if state == "failed"],
    )


def conflicts(chosen: OverviewFilter, limit: int) -> Work[Conflicts]:
    """Which jobs of a project work on named items, and the items that more than one of them names."""
    page = yield from active(chosen, limit)
    params = {
        "org_id": chosen.org_id,
        "project_id": chosen.project_id,
        "phase": chosen.phase,
        "item": chosen.item,
        "limit": CONFLICTING + 1,
    }
    rows = yield Statement("find_conflicts", params)
    named: dict[tuple[str, str, str], list[Contender]] = {}
    for org_id, noun, item, uid, state in rows[:CONFLICTING]:
        named.setdefault((org_id, noun, item), []).append(Contender(f"job_{uid}", state))
    return Conflicts(
        at=page.at,
        items=page.items,
        next_cursor=page.next_cursor,
        conflicts=[
            Conflict(noun=noun, item=item, org_id=org_id or None, jobs=jobs) for (org_id, noun, item), jobs in named.items()
        ],
        capped=len(rows) > CONFLICTING,
    )


def error_rate(org_id: str | None) -> Work[ErrorRate]:
    moment = yield from now()
    rows = yield Statement("count_endings_by_kind", {"since": moment - AN_HOUR, "org_id": org_id, "most": COUNTED})
    lines = [_kind_errors(kind, _ending_counts(counts)) for kind, *counts, _ in rows]
    total = {name: sum(getattr(line, name) for line in lines) for name in _ENDINGS}
    capped = total["ended"] >= COUNTED
    return ErrorRate(
        at=from_ms(moment),
        since=from_ms(min(first for *_, first in rows) if capped else moment - AN_HOUR),
        capped=capped,
        ended=total["ended"],
        errors=_count_errors(total),
        rate=_error_rate(total),
        items=lines,
    )


def _kind_errors(kind: str, counts: dict[str, int]) -> KindErrors:
    return KindErrors(kind=kind, errors=_count_errors(counts), rate=_error_rate(counts), **counts)


def throughput(org_id: str | None, limit: int) -> Work[Throughput]:
    moment = yield from now()
    params = {"since": moment - AN_HOUR, "org_id": org_id, "most": COUNTED, "limit": limit}
    rows = yield Statement("count_endings_by_org", params)
    *_, orgs, counted, first = rows[0] if rows else (0, 0, moment)
    capped = counted >= COUNTED
    since = first if capped else moment - AN_HOUR
    minutes = max(moment - since, 1) / 60_000
    return Throughput(
        at=from_ms(moment),
        since=from_ms(since),
        capped=capped,
        orgs=orgs,
        items=[_org_throughput(org, _ending_counts(counts), minutes) for org, *counts, _, _, _ in rows],
    )


_ENDINGS = ("ended", "completed", "completed_with_errors", "failed", "cancelled")


def _org_throughput(org_id: str, counts: dict[str, int], minutes: float) -> OrgThroughput:
    return OrgThroughput(org_id=org_id or None, per_minute=round(counts["completed"] / minutes, 3), **counts)


def _ending_counts(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(_ENDINGS, counts, strict=True))


def _count_errors(counts: dict[str, int]) -> int:
    return counts["failed"] + counts["completed_with_errors"]


def _error_rate(counts: dict[str, int]) -> float:
    judged = counts["ended"] - counts["cancelled"]  # a cancel says nothing about how well a kind works
    return round(_count_errors(counts) / judged, 4) if judged else 0.0


def _tier_name(tier: int) -> TierName:
    return "interactive" if tier == Tier.INTERACTIVE else "background"


def _seconds(milliseconds: int) -> float:
    """Not below 0: the clocks of two processes may differ."""
    return max(0, milliseconds) / 1000
