"""All rows about one job, read in one transaction. The number of rows has a limit, however long its history is."""

import json
from collections.abc import Sequence
from datetime import datetime

import msgspec

from pressroom.errors import NotFound
from pressroom.model import Event, Job, OnKey, Row, Statement, Status, Work, from_ms, to_ms
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import Artifact, ArtifactFile
from pressroom.store.jobs import queries
from pressroom.store.jobs.queries import BEYOND, JobFilter
from pressroom.store.jobs.rows import event_of
from pressroom.store.operators.audit import RecordedAuditEntry, list_entries

MAX_EVENTS_PER_END = 100  # events at each end of a history
MAX_COUNTED_EVENTS = 10_000  # events in all
MAX_RELATED_JOBS = 20
MAX_FILES = 200
MAX_AUDIT_ENTRIES = 20
NO_SUCH_JOB = "No such job: the id is wrong, or it was deleted after its retention"


class RelatedJob(msgspec.Struct, frozen=True):
    """Another job, as far as it is to be named here. `status` is None for one that is gone."""

    uid: str
    status: str | None
    subject: str | None = None
    date_created: datetime | None = None


class CacheEntry(msgspec.Struct, frozen=True):
    """What the cache has for the input of the job."""

    uid: str
    hits: int
    date_created: datetime
    expires_at: datetime


class SimilarResult(msgspec.Struct, frozen=True):
    """A result that was there before, and digests of what it was made from."""

    uid: str
    fields: dict[str, str]


class JobDetails(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    job: Job
    goes_at: datetime | None  # when its retention is over
    on_key: OnKey
    max_crashes: int
    failure: str | None  # the group of its failure
    fields: dict[str, str] | None  # digests of what it is made from
    first: list[Event]
    last: list[Event]  # apart from the first
    counts: dict[str, int]  # events by type
    made: list[Artifact]
    files: list[ArtifactFile]  # of the first artifact that has several
    entry: CacheEntry | None
    neighbours: list[SimilarResult]
    line: list[RelatedJob]
    parent: RelatedJob | None
    retry_of: RelatedJob | None
    superseded_by: RelatedJob | None
    children: list[RelatedJob]
    retries: list[RelatedJob]
    deeds: list[RecordedAuditEntry]

    @property
    def hidden_count(self) -> int:
        return max(0, sum(self.counts.values()) - len(self.first) - len(self.last))

    @property
    def is_long(self) -> bool:
        """Whether there are more events than are counted."""
        return sum(self.counts.values()) >= MAX_COUNTED_EVENTS


def get_own_job(uid: str, org_id: str | None) -> Work[Job]:
    """The job, if it is one of this organisation's. Raises NotFound, in the same words whatever the reason."""
    try:
        job = yield from queries.get(uid)
    except NotFound:
        raise NotFound(NO_SUCH_JOB) from None
    if org_id is not None and (job.org_id or "") != org_id:
        raise NotFound(NO_SUCH_JOB)
    return job


def load_job_details(uid: str, org_id: str | None, *, with_deeds: bool) -> Work[JobDetails]:
    job = yield from get_own_job(uid, org_id)
    ((moment,),) = yield Statement("read_clock")
    ((_, prune_after, on_key, max_crashes, failure, fields),) = yield Statement("job_page_facts", {"id": job.id})
    first, last, counts = yield from _read_events(job)
    job_artifacts = yield from artifacts.of_job(job.uid)
    bundle = next((one for one in job_artifacts if one.files), None)
    owner = job.org_id or ""
    return JobDetails(
        at=from_ms(moment),
        job=job,
        goes_at=None if prune_after is None else from_ms(prune_after),
        on_key=OnKey(on_key),
        max_crashes=max_crashes,
        failure=failure,
        fields=None if fields is None else json.loads(fields),
        first=first,
        last=last,
        counts=counts,
        made=job_artifacts,
        files=[] if bundle is None else (yield from artifacts.files_of(bundle.uid, limit=MAX_FILES)),
        entry=(yield from _read_cache_entry(job)),
        neighbours=(yield from _read_similar_results(job)),
        line=(yield from _read_jobs_of_key(job)),
        parent=(yield from _read_related_job(job.parent, owner)),
        retry_of=(yield from _read_related_job(job.retry_of, owner)),
        superseded_by=(yield from _read_related_job(job.superseded_by, owner)),
        children=(yield from _read_children(job)),
        retries=(yield from _read_retries(job)),
        deeds=(yield from list_entries(org_id=org_id, target=str(job), limit=MAX_AUDIT_ENTRIES)) if with_deeds else [],
    )


def _read_events(job: Job) -> Work[tuple[list[Event], list[Event], dict[str, int]]]:
    first = yield from queries.events_of(job.id, 0, MAX_EVENTS_PER_END)
    last: Sequence[Row] = []
    if len(first) == MAX_EVENTS_PER_END:
        params = {"job_id": job.id, "after": first[-1].id, "limit": MAX_EVENTS_PER_END}
        last = yield Statement("job_page_last_events", params)
    counts = yield Statement("job_page_count_events", {"job_id": job.id, "limit": MAX_COUNTED_EVENTS})
    return first, [event_of(row) for row in reversed(last)], dict(counts)


def _read_cache_entry(job: Job) -> Work[CacheEntry | None]:
    if job.fingerprint is None:
        return None
    rows = yield Statement("job_page_cached", {"fingerprint": job.fingerprint})
    return next((CacheEntry(uid, hits, from_ms(created), from_ms(expires)) for uid, hits, created, expires in rows), None)


def _read_similar_results(job: Job) -> Work[list[SimilarResult]]:
    if job.fingerprint is None:
        return []
    params = {"org_id": job.org_id or "", "kind": job.kind, "created": to_ms(job.date_created), "id": job.id}
    return [SimilarResult(uid, json.loads(fields)) for uid, fields in (yield Statement("job_page_nearest", params))]


def _read_jobs_of_key(job: Job) -> Work[list[RelatedJob]]:
    """Who runs and who waits under the same key, in their order."""
    if job.key is None:
        return []
    rows = yield Statement("job_page_key_candidates", {"org_id": job.org_id or "", "key": job.key, "limit": MAX_RELATED_JOBS})
    return [RelatedJob(uid, status, subject, from_ms(created)) for uid, status, _, subject, created in rows]


def _read_related_job(uid: str | None, owner: str) -> Work[RelatedJob | None]:
    if uid is None:
        return None
    rows = yield Statement("find_job", {"uid": uid})
    is_there = bool(rows) and rows[0][5] == owner
    return RelatedJob(uid, Status(rows[0][1]) if is_there else None)


def _read_children(job: Job) -> Work[list[RelatedJob]]:
    filter = JobFilter(parent=job.uid, org_id=job.org_id or "")
    jobs = yield from queries.list_jobs(filter, BEYOND, MAX_RELATED_JOBS)
    return [RelatedJob(one.uid, one.status, one.subject or one.kind, one.date_created) for one in jobs]


def _read_retries(job: Job) -> Work[list[RelatedJob]]:
    rows = yield Statement("job_page_retries", {"uid": job.uid, "org_id": job.org_id or "", "limit": MAX_RELATED_JOBS})
    return [RelatedJob(uid, status, subject or kind, from_ms(created)) for uid, status, kind, subject, created in rows]
