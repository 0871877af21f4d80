"""Submit jobs: answer from the cache, join, coalesce, or insert.

Each function here is a generator (see `model.Work`): it yields statements, is sent rows, and decides. It runs inside a
transaction that the caller begins and commits, so what one of them does happens whole or not at all.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from pressroom.base.fingerprint import Fingerprint
from pressroom.errors import NotFinished, NotFound, QueueFull
from pressroom.model import (
    NOT_SUPPORTED,
    Answer,
    OnKey,
    Row,
    SingleRoundTrip,
    Statement,
    Status,
    Submitted,
    Work,
)
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now, promote_next_of_key, record


class CheckedJob(msgspec.Struct, frozen=True):
    """A job that was checked and may be inserted. Times are relative milliseconds, because only the database knows what time it
    is. With `cache_for` 0 its result is not reused; "" for `org_id` is the default organisation.
    """

    uid: str
    kind: str
    tier: int
    payload: str
    on_key: OnKey
    max_attempts: int
    max_crashes: int
    retention: int
    delay: int = 0
    run_at: int | None = None
    key: str | None = None
    fingerprint: Fingerprint | None = None
    cache_for: int = 0
    org_id: str = ""
    project_id: str | None = None
    build_id: str | None = None
    subject: str | None = None
    parent: str | None = None
    retry_of: str | None = None
    trace: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to look up before it is inserted."""
        return self.key is None and self.fingerprint is None


type RoomCheck = Callable[[Sequence[CheckedJob]], Work[None]]  # raises QueueFull if these may not come in


def submit(new: CheckedJob, check_room: RoomCheck | None = None) -> Work[Submitted]:
    """Answer from the cache, join a job in flight, coalesce with a queued one, or insert, in this order."""
    moment = yield from now()
    run_at = max(moment + new.delay, new.run_at or 0)
    differs = None
    if new.fingerprint is not None:
        known = yield from _find_answer(new, new.fingerprint, moment)
        if known is not None:
            return known
        differs = yield from _explain_miss(new, new.fingerprint, moment)
    if new.key is not None and new.on_key is not OnKey.LINE_UP:
        met = yield from _join_queued(new, run_at, moment)
        if met is not None:
            return met
    if check_room is not None:
        yield from check_room((new,))
    id = yield from _insert(new, run_at, moment)
    return Submitted(id=id, uid=new.uid, kind=new.kind, answer=Answer.NEW, version=1, differs=differs)


def submit_many(jobs: Sequence[CheckedJob], check_room: RoomCheck | None = None) -> Work[list[Submitted]]:
    """As `submit` of each, in their order. Keys without an open job take a few statements for all."""
    keys = {(new.org_id, new.key) for new in jobs if new.fingerprint is None and new.key is not None and new.retry_of is None}
    if len(keys) == len(jobs) and not (yield Statement("any_open_key", {"keys": compact(list(keys))})):
        return (yield from insert_new_jobs(jobs, check_room))
    answers = []
    for new in jobs:
        answers.append((yield from submit(new, check_room)))
    return answers


def insert_new_jobs(
    jobs: Sequence[CheckedJob], check_room: RoomCheck | None = None, *, single_round_trip: bool = False
) -> Work[list[Submitted]]:
    """Many jobs without fingerprints, whose keys have no open job: a few statements serve them all, or one where there are no
    keys and the database can do it in one round trip.

    Without any job it makes the same statements, and uses up a number.
    """
    if check_room is not None:
        yield from check_room(jobs)
    count = len(jobs) or 1
    if single_round_trip:
        lines = [_job_row(None, new, (new.delay, new.run_at)) for new in jobs]
        asked = {"jobs": compact(lines), "payloads": compact([new.payload for new in jobs]), "count": count}
        done = yield SingleRoundTrip("submit_in_one_round_trip", asked)
        if done is not NOT_SUPPORTED:
            return _new_submits(jobs, done[0][0])
    moment = yield from now()
    ((last,),) = yield Statement("reserve_numbers", {"count": count})
    first = last - count + 1
    rows, payloads = [], []
    for id, new in enumerate(jobs, first):
        run_at = max(moment + new.delay, new.run_at or 0)
        rows.append(_job_row(id, new, (run_at, "time" if run_at > moment else None)))
        payloads.append((id, new.payload))
    yield Statement("insert_jobs", {"jobs": compact(rows), "now": moment})
    yield Statement("insert_payloads", {"payloads": compact(payloads)})
    yield Statement("record_submits", {"first": first, "last": last, "now": moment})
    return _new_submits(jobs, last)


def _job_row(id: int | None, new: CheckedJob, when: tuple[int, int | str | None]) -> Row:
    """A job as insert_jobs.sql and submit_in_one_round_trip.sql take it."""
    return (
        id,
        new.uid,
        new.kind,
        int(new.tier),
        *when,
        new.max_attempts,
        new.max_crashes,
        new.org_id,
        new.project_id,
        new.build_id,
        new.subject,
        new.parent,
        new.trace,
        new.retention,
        new.on_key,
        new.key,
    )


def _new_submits(jobs: Sequence[CheckedJob], last: int) -> list[Submitted]:
    numbered = enumerate(jobs, last - len(jobs) + 1)
    return [Submitted(id=id, uid=new.uid, kind=new.kind, answer=Answer.NEW, version=1) for id, new in numbered]


def _find_answer(new: CheckedJob, input: Fingerprint, moment: int) -> Work[Submitted | None]:
    asked = {"fingerprint": input.digest, "key": new.key, "org_id": new.org_id, "now": moment}
    found = yield Statement("find_cached", asked)
    if found:
        yield Statement("count_cache_hit", {"fingerprint": input.digest, "now": moment})
        return _existing_job(found[0], new, Answer.HIT)
    found = yield Statement("find_in_flight", asked)
    if not found:
        return None
    yield from _raise_tier(found[0][0], new)
    yield from record(found[0][0], "joined", {"tier": int(new.tier)}, moment)
    return _existing_job(found[0], new, Answer.JOINED)


def _existing_job(row: Row, new: CheckedJob, answer: Answer) -> Submitted:
    id, uid, version, *_ = row
    return Submitted(id=id, uid=uid, kind=new.kind, answer=answer, version=version)


def _explain_miss(new: CheckedJob, input: Fingerprint, moment: int) -> Work[list[str] | None]:
    entries = yield Statement("find_nearest_cached", {"org_id": new.org_id, "kind": new.kind, "now": moment})
    return min((input.differs_from(json.loads(fields)) for (fields,) in entries), key=len, default=None)


def _join_queued(new: CheckedJob, run_at: int, moment: int) -> Work[Submitted | None]:
    found = yield Statement("find_queued_by_key", {"org_id": new.org_id, "key": new.key, "kind": new.kind})
    if not found:
        return None
    id, uid, *_ = found[0]
    if new.on_key is OnKey.SKIP:
        yield from _raise_tier(id, new)
        return _existing_job(found[0], new, Answer.SKIPPED)
    changed = yield Statement(
        "coalesce_job",
        {
            "id": id,
            "tier": int(new.tier),
            "run_at": run_at,
            "now": moment,
            "fingerprint": new.fingerprint.digest if new.fingerprint else None,
            "subject": new.subject,
            "trace": new.trace,
        },
    )
    version = changed[0][0]
    yield Statement("replace_payload", {"id": id, "payload": new.payload})
    yield Statement("delete_input", {"id": id})
    yield from _insert_input(id, new)
    yield from record(id, "coalesced", {"version": version}, moment)
    yield from promote_next_of_key(new.org_id, new.key)
    return Submitted(id=id, uid=uid, kind=new.kind, answer=Answer.COALESCED, version=version)


def _raise_tier(id: int, new: CheckedJob) -> Work[None]:
    yield Statement("raise_tier", {"id": id, "tier": int(new.tier)})
    if new.key is not None:
        yield from promote_next_of_key(new.org_id, new.key)


def _insert(new: CheckedJob, run_at: int, moment: int) -> Work[int]:
    ((id,),) = yield Statement("reserve_numbers", {"count": 1})
    waits_for = "time" if run_at > moment else "key" if new.key is not None else None
    yield Statement(
        "insert_job",
        {
            "id": id,
            "uid": new.uid,
            "kind": new.kind,
            "tier": int(new.tier),
            "run_at": run_at,
            "waits_for": waits_for,
            "max_attempts": new.max_attempts,
            "max_crashes": new.max_crashes,
            "key": new.key,
            "on_key": new.on_key,
            "fingerprint": new.fingerprint.digest if new.fingerprint else None,
            "org_id": new.org_id,
            "project_id": new.project_id,
            "build_id": new.build_id,
            "subject": new.subject,
            "parent": new.parent,
            "retry_of": new.retry_of,
            "trace": new.trace,
            "retention": new.retention,
            "now": moment,
        },
    )
    yield Statement("insert_payload", {"id": id, "payload": new.payload})
    yield from _insert_input(id, new)
    yield Statement("insert_event", {"id": id, "now": moment, "type": "queued", "data": "{}"})
    if waits_for == "key":
        yield from promote_next_of_key(new.org_id, new.key)
    return int(id)


def _insert_input(id: int, new: CheckedJob) -> Work[None]:
    if new.fingerprint is not None:
        yield Statement("insert_input", {"id": id, "fields": compact(new.fingerprint.fields), "cache_for": new.cache_for})


def refuse_when_full(
    limit: int, new_by_org: Counter[str], *, retry_after: float, on_count: Callable[[int], None]
) -> Work[None]:
    """`new_by_org` counts new jobs by organisation. In a full queue each of these may fill its share, and no more.

    A share is the limit divided by the organisations that have jobs in the queue or are coming. Each was admitted by its share
    of that moment, so with n organisations the queue never holds more than its limit times 1 + 1/2 + ... + 1/n.
    """
    ((queued,),) = yield Statement("count_queued", {"limit": limit})
    on_count(queued)
    if queued + new_by_org.total() <= limit:
        return
    ((active,),) = yield Statement("count_queued_orgs", {"limit": limit})
    held = {}
    for org_id in new_by_org:
        ((held[org_id],),) = yield Statement("count_queued_of_org", {"org_id": org_id, "limit": limit})
    active += sum(not count for count in held.values())
    share = max(min(1, limit), limit // active)
    if any(held[org_id] + count > share for org_id, count in new_by_org.items()):
        raise QueueFull(limit, retry_after)


def retry(uid: str, make_job: Callable[[Row], CheckedJob], check_room: RoomCheck) -> Work[Submitted]:
    """Run an ended job again as a new one that names the old.

    If its kind coalesces and a job of the same key is open, that one is newer and is the answer: an old payload must not
    take its place, nor run after it.
    """
    rows = yield Statement("find_for_retry", {"uid": uid})
    if not rows:
        raise NotFound(f"there is no job_{uid}")
    if not Status(rows[0][1]).ended:
        raise NotFinished(f"job_{uid} has not ended; cancel it first, or wait for it")
    new = make_job(rows[0])
    if new.key is not None and new.on_key is OnKey.COALESCE:
        newer = yield Statement("find_newer", {"org_id": new.org_id, "key": new.key, "kind": new.kind})
        if newer:
            yield from _raise_tier(newer[0][0], new)
            return _existing_job(newer[0], new, Answer.SKIPPED)
    return (yield from submit(new, check_room))
