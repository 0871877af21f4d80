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
    kinds: Sequence[str], startable: Iterable[str], free_by_tier: Mapping[int, int], last_served_org: str
) -> Work[tuple[list[Candidate], Running]]:
    """The jobs that `choose` may need, by the free slots of each tier, and how many jobs of each organisation are in progress.

    `startable` are those of the kinds that may be started now. Where one organisation waits, this costs one statement. Where
    many do, only as many of them are read as there are free slots, and those with jobs in progress.
    """
    if not (names := list(startable)):
        return [], {}
    candidates: list[Candidate] = []
    shared: set[tuple[str, int]] = set()  # kinds and tiers of which several organisations have ready jobs
    tiers = [tier for tier, slots in free_by_tier.items() if slots > 0]
    asked = {"kinds": compact(names), "tiers": compact(tiers), "limit": max(free_by_tier.values())}
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
        candidates += yield from _find_of_several_orgs(
            {"kind": kind, "tier": tier, "limit": free_by_tier[tier]}, running, last_served_org
        )
    return candidates, running


def _count_running_by_org(kinds: Collection[str]) -> Work[Running]:
    return Counter(org_id for org_id, kind in (yield Statement("list_running_orgs")) if kind in kinds)


def _find_of_several_orgs(params: Mapping[str, Any], running: Running, last_served_org: str) -> Work[list[Candidate]]:
    """The first jobs of organisations that have none in progress, if there are as many as slots. Else of all organisations."""
    limit = params["limit"]
    for most in (limit, limit + len(running)):  # those that follow the one served last mostly have none in progress
        rows = yield Statement("list_ready_orgs", {**params, "after": last_served_org, "limit": most})
        orgs = [org_id for (org_id,) in rows]
        idle = [org_id for org_id in orgs if org_id not in running]
        if len(idle) >= limit or len(orgs) < most:
            break
    if len(idle) >= limit:
        orgs, limit = idle[:limit], 1
    found: list[Row] = yield Statement("find_ready_of_orgs", {**params, "orgs": compact(orgs), "limit": limit})
    return [Candidate(*row) for row in found]


def choose_jobs(
    candidates: Iterable[Candidate],
    free_by_tier: Mapping[int, int],
    running: Running,
    spare_by_kind: Running,
    last_served_org: str,
) -> list[int]:
    """The jobs to start: at most `free_by_tier` of each tier, and of tier 0 in all. `spare_by_kind` is how many jobs of each
    limited kind may start.
    """
    left = dict(spare_by_kind)
    by_tier: dict[int, list[Candidate]] = defaultdict(list)
    for one in candidates:
        by_tier[one.tier].append(one)
    chosen: list[int] = []
    for tier in sorted(by_tier):
        most = min(free_by_tier[tier], free_by_tier[0] - len(chosen))
        chosen += _choose_by_turns(by_tier[tier], most, running, left, last_served_org)
    return chosen


def _choose_by_turns(
    candidates: Iterable[Candidate], limit: int, running: Running, spare_by_kind: dict[str, int], last_served_org: str
) -> list[int]:
    lines: dict[str, list[Candidate]] = defaultdict(list)
    for one in sorted(candidates, key=lambda one: one.seq, reverse=True):
        lines[one.org_id].append(one)
    turns = [(running.get(org_id, 0), *_turn_order(org_id, last_served_org)) for org_id in lines]
    heapify(turns)
    chosen: list[int] = []
    while turns and len(chosen) < limit:
        count, wrapped, org_id = heappop(turns)
        line = lines[org_id]
        while line and spare_by_kind.get(line[-1].kind, 1) <= 0:
            line.pop()
        if line:
            one = line.pop()
            chosen.append(one.id)
            if one.kind in spare_by_kind:
                spare_by_kind[one.kind] -= 1
            heappush(turns, (count + 1, wrapped, org_id))
    return chosen


def last_org_served(claims: Iterable[Claim], last_served_org: str) -> str:
    """The organisation to go on after: of those served now, the one farthest round from the last."""
    return max((_turn_order(claim.org_id or "", last_served_org) for claim in claims), default=(False, last_served_org))[1]


def _turn_order(org_id: str, last_served_org: str) -> tuple[bool, str]:
    """Sorts organisations from the one that follows `last_served_org`, round to `last_served_org` itself."""
    return (org_id <= last_served_org, org_id)
