"""Which jobs match a filter. However many there are, a look is short: it goes through an index, and no further than it says."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from pressroom.model import Job, Row, Statement, Status, Tier, Work, from_ms, to_ms
from pressroom.store.jobs.queries import BEYOND
from pressroom.store.jobs.rows import compact, job_of
from pressroom.store.jobs.transitions import now

COUNTED = 10_000  # jobs; of more we say that they are more
NEWEST = 40_000  # jobs that one look goes through, newest first
SCATTERED = 20_000  # if they do not lie beside each other
PAGE = 50
NEW = 99  # jobs that came while a page was open; more need no number
# Jobs are numbered in the order in which they come, by a clock that may be set and in transactions that may last.
SLACK = timedelta(minutes=1)

_WITH_AN_INDEX = frozenset(Status) - {Status.COMPLETED}


class SearchFilter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which jobs. What is left out does not filter. `org_id` "" are those without an organisation."""

    uids: tuple[str, ...] = ()
    status: tuple[Status, ...] = ()
    kind: str | None = None
    tier: Tier | None = None
    org_id: str | None = None
    subject: str | None = None
    key: str | None = None
    parent: str | None = None
    worker: str | None = None
    failure: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class SearchResult(NamedTuple):
    """Ids, newest first. The next call continues below `next_before`; None if nothing is left."""

    ids: list[int]
    next_before: int | None


class JobListing(NamedTuple):
    """A page of jobs. `cursor` asks for the next. `searched_back_to` is when the oldest of those came that were looked at, if
    there are older ones that may match. `new_count` is how many were added while the list was shown, and `newest` the newest
    of all.
    """

    jobs: list[Job]
    outputs: dict[str, str]
    counted: int
    is_all: bool
    cursor: int | None
    searched_back_to: datetime | None
    newest: int
    new_count: int


def search_job_ids(
    wanted: SearchFilter, *, before: int = BEYOND, above: int = 0, limit: int = COUNTED + 1
) -> Work[SearchResult]:
    """Ids of jobs that match, below `before` and not below `above`."""
    if wanted.until is not None:
        before = min(before, (yield from _first_id_since(wanted.until + SLACK)))
    if wanted.since is not None:
        above = max(above, (yield from _first_id_since(wanted.since - SLACK)))
    values = _filter_params(wanted) | {"before": before, "above": above, "limit": limit}
    found: list[int] = []
    known = 0  # from this id on nothing is missing
    for statement, more in _search_statements(wanted):
        rows = yield Statement(statement, values | more)
        ids = sorted((id for id, matches in rows if matches), reverse=True)
        unseen = [id + 1 for id, matches in rows if not matches]
        known = max([known, ids[-1]] if len(ids) == limit else [known, *unseen])
        found += ids
    found = sorted((id for id in found if id >= known), reverse=True)
    if len(found) >= limit:
        return SearchResult(found[:limit], found[limit - 1])
    return SearchResult(found, known or None)


def list_page(wanted: SearchFilter, *, cursor: int | None, seen: int | None) -> Work[JobListing]:
    """With `seen`, jobs that came after that one are counted and not shown."""
    ((newest,),) = yield Statement("newest_job")
    top = (newest if seen is None else seen) + 1
    counted = yield from search_job_ids(wanted, before=top)
    found = counted if cursor is None else (yield from search_job_ids(wanted, before=min(cursor, top), limit=PAGE + 1))
    page = found.ids[:PAGE]
    is_cut = len(found.ids) > PAGE
    came = [] if seen is None else (yield from search_job_ids(wanted, above=top, limit=NEW + 1)).ids
    jobs = yield from load_jobs(page)
    return JobListing(
        jobs=jobs,
        outputs=(yield from list_output_types(jobs)),
        counted=min(len(counted.ids), COUNTED),
        is_all=counted.next_before is None,
        cursor=page[-1] if is_cut else found.next_before,
        searched_back_to=None if is_cut or found.next_before is None else (yield from _submit_time(found.next_before)),
        newest=newest if seen is None else seen,
        new_count=len(came),
    )


def newest_job_and_time() -> Work[tuple[int, int]]:
    """The newest job, and the time."""
    ((newest,),) = yield Statement("newest_job")
    return int(newest), (yield from now())


def load_jobs(ids: Sequence[int]) -> Work[list[Job]]:
    """Some jobs, newest first, without their payloads."""
    return [job_of(row) for row in (yield Statement("show_jobs", {"ids": compact(ids)}))] if ids else []


def load_bulk_rows(ids: Sequence[int]) -> Work[list[Row]]:
    """What decides about a bulk action: see look_at_jobs.sql."""
    return (yield Statement("list_jobs_for_bulk", {"ids": compact(ids)})) if ids else []


def list_output_types(jobs: Iterable[Job]) -> Work[dict[str, str]]:
    """What type the artifact of each job is, by the job's uid. One that has expired is none."""
    named = {job.uid: job.result["artifact"] for job in jobs if isinstance(job.result, dict) and "artifact" in job.result}
    named = {uid: artifact for uid, artifact in named.items() if isinstance(artifact, str)}
    if not named:
        return {}
    moment = yield from now()
    types: dict[str, str] = dict((yield Statement("list_outputs", {"uids": compact(list(named.values())), "now": moment})))
    return {uid: types[artifact] for uid, artifact in named.items() if artifact in types}


def _search_statements(wanted: SearchFilter) -> list[tuple[str, dict[str, Any]]]:
    """The statements whose indexes leave the least to read; what they find is put together."""
    some = {"most": SCATTERED}
    if wanted.uids:
        return [("search_named_jobs", {"uids": compact(wanted.uids)})]
    if wanted.key is not None:
        return [("search_jobs_by_key", some)]
    if wanted.parent is not None:
        return [("search_jobs_by_parent", some)]
    if wanted.failure is not None:
        return [("search_jobs_by_failure", some)]
    if wanted.status and _WITH_AN_INDEX.issuperset(wanted.status):
        return [_statement_for_status(status) for status in dict.fromkeys(wanted.status)]
    if wanted.org_id:
        return [("search_jobs_by_org", some)]
    return [("search_jobs", {"most": NEWEST})]


def _statement_for_status(status: Status) -> tuple[str, dict[str, Any]]:
    match status:
        case Status.QUEUED:
            return "search_queued_jobs", {"most": SCATTERED}
        case Status.IN_PROGRESS:
            return "search_running_jobs", {"most": SCATTERED}
        case _:
            return "search_troubled_jobs", {"most": SCATTERED, "status": status}


def _filter_params(wanted: SearchFilter) -> dict[str, Any]:
    return {
        "statuses": f",{','.join(wanted.status)}," if wanted.status else None,
        "kind": wanted.kind,
        "tier": wanted.tier,
        "org_id": wanted.org_id,
        "subject": wanted.subject,
        "key": wanted.key,
        "parent": wanted.parent,
        "worker": wanted.worker,
        "failure": wanted.failure,
        "since": None if wanted.since is None else to_ms(wanted.since),
        "until": None if wanted.until is None else to_ms(wanted.until),
    }


def _first_id_since(moment: datetime) -> Work[int]:
    """The id of the first job from that time on, found by halving: times have no index, and ids grow with them."""
    ((newest,),) = yield Statement("newest_job")
    low, high, sought = 0, newest + 1, to_ms(moment)
    while low < high:
        middle = (low + high) // 2
        rows = yield Statement("first_job_from", {"id": middle})
        if not rows or rows[0][1] >= sought:
            high = middle
        else:
            low = rows[0][0] + 1
    return low


def _submit_time(id: int) -> Work[datetime | None]:
    rows = yield Statement("first_job_from", {"id": id})
    return from_ms(rows[0][1]) if rows else None
