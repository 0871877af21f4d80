"""Organisations take turns: which of the jobs that may start are next.

Within a tier, the organisation with the fewest jobs in progress is next (of the kinds that the worker takes: those share its
slots). Between equals it is the one whose name follows the organisation served last, round and round, so that none waits for
ever where there are more organisations than slots. Within an organisation the order is (tier, seq), and so it is where there is
only one. postgres/claim_next.sql says the same in one statement.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from pressroom.model import Claim, Row, Statement, Work
from pressroom.store.jobs.rows import compact

type Running = Mapping[str, int]  # jobs in progress, by organisation


class Candidate(NamedTuple):
    """A job that may start, as find_ready.sql tells of it."""

    id: int
    tier: int
    seq: int
    org_id: str
    kind: str


def find_candidates(
    kinds: Sequence[str], startable: Iterable[str], room: Mapping[int, int], after: str
) -> Work[tuple[list[Candidate], Running]]:
    """The jobs that `choose` may need, by `room` of each tier, and how many jobs of each organisation are in progress.

    `startable` are those of the kinds that may be started now. Where one organisation waits, this costs one statement. Where
    many do, only as many of them are read as there are free slots, and those with jobs in progress.
    """
    if not (names := list(startable)):
        return [], {}
    candidates: list[Candidate] = []
    shared: set[tuple[str, int]] = set()  # kinds and tiers of which several organisations have ready jobs
    tiers = [tier for tier, slots in room.items() if slots > 0]
    asked = {"kinds": compact(names), "tiers": compact(tiers), "limit": max(room.values())}
    for *job, first_org, last_org in (yield Statement("find_ready", asked)):
        candidate = Candidate(*job)
        if first_org == last_org:
            candidates.append(candidate)
        else:
            shared.add((candidate.kind, candidate.tier))
    if not shared and len({one.org_id for one in candidates}) < 2:
        return candidates, {}
    running = yield from _count_running_by_org(kinds)
    for kind, tier in sorted(shared):
        candidates += yield from _find_of_several({"kind": kind, "tier": tier, "limit": room[tier]}, running, after)
    return candidates, running


def _count_running_by_org(kinds: Collection[str]) -> Work[Running]:
    return Counter(org_id for org_id, kind in (yield Statement("list_running_orgs")) if kind in kinds)


def _find_of_several(asked: Mapping[str, Any], running: Running, after: str) -> Work[list[Candidate]]:
    """The first jobs of organisations that have none in progress, if there are as many as slots. Else of all organisations."""
    limit = asked["limit"]
    for most in (limit, limit + len(running)):  # those that follow the one served last mostly have none in progress
        rows = yield Statement("list_ready_orgs", {**asked, "after": after, "limit": most})
        orgs = [org_id for (org_id,) in rows]
        idle = [org_id for org_id in orgs if org_id not in running]
        if len(idle) >= limit or len(orgs) < most:
            break
    if len(idle) >= limit:
        orgs, limit = idle[:limit], 1
    found: list[Row] = yield Statement("find_ready_of_orgs", {**asked, "orgs": compact(orgs), "limit": limit})
    return [Candidate(*row) for row in found]


def choose(candidates: Iterable[Candidate], room: Mapping[int, int], running: Running, spare: Running, after: str) -> list[int]:
    """The jobs to start: at most `room` of each tier, and of tier 0 in all. `spare` is how many of a limited kind may start."""
    left = dict(spare)
    by_tier: dict[int, list[Candidate]] = defaultdict(list)
    for one in candidates:
        by_tier[one.tier].append(one)
    chosen: list[int] = []
    for tier in sorted(by_tier):
        most = min(room[tier], room[0] - len(chosen))
        chosen += _take_turns(by_tier[tier], most, running, left, after)
    return chosen


def _take_turns(candidates: Iterable[Candidate], most: int, running: Running, spare: dict[str, int], after: str) -> list[int]:
    lines: dict[str, list[Candidate]] = defaultdict(list)
    for one in sorted(candidates, key=lambda one: one.seq, reverse=True):
        lines[one.org_id].append(one)
    turns = [(running.get(org_id, 0), *_place(org_id, after)) for org_id in lines]
    heapify(turns)
    chosen: list[int] = []
    while turns and len(chosen) < most:
        count, wrapped, org_id = heappop(turns)
        line = lines[org_id]
        while line and spare.get(line[-1].kind, 1) <= 0:
            line.pop()
        if line:
            one = line.pop()
            chosen.append(one.id)
            if one.kind in spare:
                spare[one.kind] -= 1
            heappush(turns, (count + 1, wrapped, org_id))
    return chosen


def served_last(claims: Iterable[Claim], after: str) -> str:
    """The organisation to go on after: of those served now, the one farthest round from the last."""
    return max((_place(claim.org_id or "", after) for claim in claims), default=(False, after))[1]


def _place(org_id: str, after: str) -> tuple[bool, str]:
    """Sorts organisations from the one that follows `after`, round to `after` itself."""
    return (org_id <= after, org_id)
