"""The kind `desk.bulk`: many selected jobs are cancelled or retried, and each that is not is told why.

The choice is frozen: a filter, the newest job there was and the time it was when it was made. What comes or ends later is left
alone. After a crash it begins anew, and what it has done already shows: a cancelled job has ended, and one that was tried again
has another that names it.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from itertools import batched
from typing import Any, Literal, NamedTuple

import msgspec

from pressroom.definitions import Kind
from pressroom.errors import Backpressure, InvalidPayload, NotFound, QueueClosed, QueueFull
from pressroom.model import Answer, Ending, OnKey, Status, Submitted, Work
from pressroom.queue import Queue
from pressroom.store import Database, Transaction
from pressroom.store.operators import search
from pressroom.store.operators.audit import AuditEntry, record
from pressroom.store.operators.search import SearchFilter
from pressroom.submission.scope import OPERATOR, may_repeat

NAME = "desk.bulk"
# The organisation of bulk work that may touch those of all: no caller of one organisation sees it, submits it or retries it.
EVERYWHERE = "*"
FOUND_AT_ONCE = 500
DONE_AT_ONCE = 20  # in one transaction, during which other writers wait
KEPT = timedelta(days=30)

type Action = Literal["retry", "cancel"]


class BulkOrder(msgspec.Struct, frozen=True, kw_only=True):
    """`up_to` is the newest job, and `as_of` the time in milliseconds, when it was decided; `counted` is how many matched.

    `scope` is that of who decided it: a retry leaves out kinds that need more.
    """

    action: Action
    wanted: SearchFilter
    up_to: int
    as_of: int
    counted: int | None = None
    who: str = ""
    scope: str = OPERATOR


class BulkJobRow(NamedTuple):
    """A row of look_at_jobs.sql. `retried_by` is the id of the newest job that tries this one again."""

    id: int
    uid: str
    kind: str
    status: str
    date_completed: int | None
    last_error: str | None
    retried_by: int | None


def skip_reason(action: Action, row: BulkJobRow, as_of: int, may_retry: Callable[[str], bool]) -> str | None:
    """Why a job is left alone; None if it is not. `may_retry` is asked about its kind."""
    ended = Status(row.status).ended
    if row.kind == NAME:
        return "bulk work itself"
    if action == "cancel":
        return "already ended" if ended else None
    if not may_retry(row.kind):
        return "its kind needs another scope"
    if not ended:
        return "not ended yet"
    if row.date_completed is not None and row.date_completed > as_of:
        return "ended only after this was decided"
    if row.retried_by is not None:
        return "already retried"
    return None


class Bulk:
    """`open` hands it the database and the queue that it works on."""

    def __init__(self) -> None:
        self.kind = Kind(
            NAME,
            self.handle,
            max_attempts=5,
            timeout=None,
            on_key=OnKey.LINE_UP,  # one at a time: two would try the same job again
            max_crashes=10,
            retention=KEPT,
            settling=_settle,
        )

    def open(self, database: Database, queue: Queue) -> None:
        self._database = database
        self._queue = queue

    async def handle(self, job: Any, payload: Any) -> Any:
        run = _BulkRun(self._database, self._queue, job, _parse_order(payload))
        try:
            return await run.run()
        except (QueueFull, QueueClosed) as reason:  # it costs no attempt: it begins anew when there is room
            raise Backpressure(str(reason)) from None


async def submit_bulk_job(queue: Queue, order: BulkOrder, *, org_id: str | None, within: Transaction) -> Submitted:
    """`org_id` is whose jobs it may touch: None is all organisations'."""
    many = "jobs" if order.counted is None else "1 job" if order.counted == 1 else f"{order.counted:,} jobs"
    return await queue.submit(
        NAME,
        msgspec.to_builtins(order),
        key=NAME,
        org_id=EVERYWHERE if org_id is None else org_id or None,
        subject=f"{order.action} {many}",
        within=within,
    )


class _BulkRun:
    def __init__(self, database: Database, queue: Queue, job: Any, order: BulkOrder) -> None:
        self._database = database
        self._queue = queue
        self._job = job
        self._order = order
        self._done = 0
        self._skipped: Counter[str] = Counter()
        self._may_retry = may_repeat(queue.kinds, order.scope)
        self._reason = f"cancelled by {order.who or 'an operator'} with job_{job.uid}"

    async def run(self) -> Any:
        order = self._order
        began_before = (await self._queue.get(self._job.uid)).claim > 1
        wanted = self._search_filter(began_before)
        await self._job.phase(f"{order.action} jobs", total=order.counted)
        before: int | None = order.up_to + 1
        while before is not None:
            found = await self._database.read(partial(search.search_job_ids, wanted, before=before, limit=FOUND_AT_ONCE))
            for some in batched(found.ids, DONE_AT_ONCE):
                await (self._retry(some, began_before) if order.action == "retry" else self._cancel(some))
                await self._job.progress(self._done + self._skipped.total())
            before = found.next_before
        return {"retry": {"requeued": self._done}, "cancel": {"cancelled": self._done}}[order.action] | {
            "skipped": self._skipped.total(),
            "why": dict(self._skipped),
        }

    def _search_filter(self, began_before: bool) -> SearchFilter:
        """Whatever was written into the payload, the organisation is that of the job. What it cancelled itself still counts."""
        order, org_id = self._order, self._job.org_id or ""
        wanted = order.wanted if org_id == EVERYWHERE else msgspec.structs.replace(order.wanted, org_id=org_id)
        if began_before and order.action == "cancel" and wanted.status:
            return msgspec.structs.replace(wanted, status=tuple(dict.fromkeys((*wanted.status, Status.CANCELLED))))
        return wanted

    async def _retry(self, ids: Sequence[int], began_before: bool) -> None:
        async with self._queue.transaction() as transaction:
            for seen in _read_rows(await transaction.run(partial(search.load_bulk_rows, ids), name="bulk")):
                if began_before and seen.retried_by is not None and seen.retried_by > self._job.id:
                    self._done += 1
                elif reason := self._skip_reason(seen):
                    self._skipped[reason] += 1
                elif (await self._queue.retry(seen.uid, within=transaction)).answer is Answer.SKIPPED:
                    self._skipped["a newer job of its key is open"] += 1
                else:
                    self._done += 1

    async def _cancel(self, ids: Sequence[int]) -> None:
        rows = [*_read_rows(await self._database.read(partial(search.load_bulk_rows, ids)))]
        for seen in rows:
            if seen.status == Status.CANCELLED and seen.last_error == self._reason:
                self._done += 1
            elif self._has_wanted_status(seen) and (reason := self._skip_reason(seen)):
                self._skipped[reason] += 1
        await asyncio.gather(*(self._cancel_one(seen.uid) for seen in rows if not self._skip_reason(seen)))

    async def _cancel_one(self, uid: str) -> None:
        try:
            job = await self._queue.cancel(uid, reason=self._reason)
        except NotFound:
            self._skipped["gone"] += 1
            return
        if job.status is Status.CANCELLED or job.cancel_requested:
            self._done += 1
        else:
            self._skipped["already ended"] += 1

    def _skip_reason(self, row: BulkJobRow) -> str | None:
        return skip_reason(self._order.action, row, self._order.as_of, self._may_retry)

    def _has_wanted_status(self, row: BulkJobRow) -> bool:
        asked = self._order.wanted.status
        return not asked or row.status in asked


def _read_rows(rows: Sequence[tuple[Any, ...]]) -> Iterator[BulkJobRow]:
    return (BulkJobRow(*row) for row in rows)


def _parse_order(payload: Any) -> BulkOrder:
    try:
        return msgspec.convert(payload, BulkOrder)
    except msgspec.ValidationError as reason:
        raise InvalidPayload(f"this is no bulk work: {reason}") from None


def _settle(ending: Ending) -> Work[None]:
    """What became of it, beside the note of who began it."""
    action = ending.payload.get("action") if isinstance(ending.payload, dict) else None
    became = {"status": ending.status, **(ending.result if isinstance(ending.result, dict) else {})}
    named = f"job_{ending.uid}"
    yield from record(
        AuditEntry(who=named, org_id=ending.org_id, action=f"bulk.{action or 'unknown'}.ended", target=named, after=became)
    )
