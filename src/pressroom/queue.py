"""The queue: submit, get, list, wait, watch, cancel, retry, stats. Every request is checked here."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Any

import msgspec

from pressroom import failpoints, tracing
from pressroom.alerts import Alerts
from pressroom.backends.queue_backend import QueueBackend
from pressroom.base.fingerprint import Fingerprint
from pressroom.base.lifecycle import Lifecycle
from pressroom.definitions import Kind, Schedule
from pressroom.errors import (
    InvalidArgument,
    JobCancelled,
    JobFailed,
    PressroomError,
    QueueClosed,
    WaitTimeout,
)
from pressroom.model import Answer, Event, Job, Status, Submitted, Tier, Work
from pressroom.notify.listeners import JobListeners
from pressroom.overview import Overview
from pressroom.store import Database, Transaction
from pressroom.store.jobs import concurrency_limits, endings, queries, submit_probe, submitting, worker_records
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.store.jobs.queries import BEYOND, JobFilter
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.store.operators import queue_position, worker_coverage, worker_list
from pressroom.store.operators import stats as queue_stats
from pressroom.store.operators.queue_position import QueuePosition
from pressroom.store.operators.stats import QueueStats
from pressroom.store.operators.worker_coverage import WorkerCoverage
from pressroom.store.operators.worker_list import WorkerState
from pressroom.submission.admission import Admission, SubmitBatcher
from pressroom.submission.request import JobLike, Request, check_request, copy_for_retry, uid_of

PAGE_LIMIT = 500
MOST_SLOTS = 1_000_000

type Answers = list[Submitted]  # inside Queue, `list` is a method
type Events = list[Event]


@dataclass(frozen=True)
class Page:
    """Some jobs, newest first. `cursor` asks for the next ones; None says there are none."""

    jobs: list[Job]
    cursor: str | None


class Queue(Lifecycle):
    """Submits jobs and tells about them. Workers claim them: see `local_workers.py`.

    `kinds` may be filled until the queue is opened. `stop_running` is called with the id of a job that was cancelled.
    """

    def __init__(
        self,
        backend: QueueBackend,
        kinds: Mapping[str, Kind],
        *,
        max_queued: int,
        stop_running: Callable[[int], None] | None = None,
    ) -> None:
        self.kinds = kinds
        self.listeners = JobListeners()
        self._backend = backend
        self._max_queued = max_queued
        self._stop_running = stop_running
        self._accepting = False

    async def open(self) -> None:
        self.listeners = JobListeners()
        self._admission = Admission(self._max_queued)
        vars(self).pop("_database", None)  # of the last time that it was open
        self._batcher = SubmitBatcher(self._database, self._insert_unit, self._announce_submitted)
        self._submit_failed = False
        self._accepting = True

    def refuse_submits(self) -> None:
        self._accepting = False

    async def stop(self) -> None:
        """Tasks that wait for jobs are told that the queue closes."""
        self.listeners.close()

    def notify(self, job_ids: Iterable[int]) -> None:
        """Something happened to these jobs."""
        self.listeners.notify(job_ids)

    @cached_property
    def _database(self) -> Database:
        return self._backend.database

    @property
    def alerts(self) -> Alerts:
        """Jobs that failed for good, of kinds that raise alerts."""
        return Alerts(self._database)

    @property
    def overview(self) -> Overview:
        """What an operator asks."""
        return Overview(self._database)

    async def submit(
        self,
        kind: str | Kind,
        payload: Any = None,
        *,
        tier: Tier | None = None,
        key: str | None = None,
        delay: float | timedelta = 0,
        run_at: datetime | None = None,
        fingerprint: Mapping[str, Any] | Fingerprint | None = None,
        org_id: str | None = None,
        project_id: str | None = None,
        build_id: str | None = None,
        subject: str | None = None,
        parent: JobLike | None = None,
        trace: Mapping[str, str] | None = None,
        max_attempts: int | None = None,
        within: Transaction | None = None,
    ) -> Submitted:
        """Accept a job. When this returns it is on stable storage (with `within`: when that transaction is).

        The answer says whether it is a new job, the payload of a queued one (`coalesced`), another caller's that renders
        the same input (`joined`), or an earlier result (`hit`). `kind` is the kind itself or its name. Without `org_id`, or
        with "", the job is the default organisation's. Without `tier` and `max_attempts` they are as its kind says.
        """
        with tracing.submit_span(str(kind), trace) as traced:
            # fmt: off
            request = Request(kind, payload, tier, key, delay, run_at, fingerprint, org_id, project_id, build_id, subject,
                              parent, traced, max_attempts)
            # fmt: on
            new = self._check_request(request)
            failpoints.hit("submit.validated")
            with self._noting_failure():
                if within is not None:
                    return await within.run(self._submit_unit(new), name="submit", after=self._announce)
                if new.is_plain:
                    return await self._batcher.submit(new)
                return await self._database.run(self._submit_unit(new), name="submit", after=self._announce)

    async def submit_many(self, requests: Iterable[Request], *, within: Transaction | None = None) -> Answers:
        """Accept many jobs in one transaction: all of them, or none."""
        asked = list(requests)
        if not asked:
            return []
        with tracing.submit_span(_kinds_of(asked), None) as traced:
            return await self._submit_checked([self._check_request(_with_trace(request, traced)) for request in asked], within)

    async def _submit_checked(self, checked: Sequence[CheckedJob], within: Transaction | None) -> Answers:

        def unit() -> Work[Answers]:
            if all(new.is_plain for new in checked):
                return (yield from self._insert_unit(checked))
            return (yield from submitting.submit_many(checked, self._admission.check_room))

        run = self._database.run if within is None else within.run
        with self._noting_failure():
            return await run(unit, name="submit", after=self._announce_submitted)

    async def get(self, job: JobLike) -> Job:
        """A job as it is now. Raises NotFound."""
        uid = uid_of(job)
        return await self._database.read(lambda: queries.get(uid))

    async def list(
        self,
        *,
        status: Status | Sequence[Status] | None = None,
        kind: str | None = None,
        tier: Tier | None = None,
        org_id: str | None = None,
        project_id: str | None = None,
        subject: str | None = None,
        key: str | None = None,
        parent: JobLike | None = None,
        worker: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """Jobs that match, newest first, without their payloads.

        What is None does not choose: without `org_id` there are jobs of every organisation, with "" those of the default one.
        """
        if not 1 <= limit <= PAGE_LIMIT:
            raise InvalidArgument(f"limit is 1 to {PAGE_LIMIT}, not {limit}")
        wanted = JobFilter(
            status=_statuses(status),
            kind=kind,
            tier=tier,
            org_id=org_id,
            project_id=project_id,
            subject=subject,
            key=key,
            parent=None if parent is None else uid_of(parent),
            worker=worker,
            created_after=created_after,
            created_before=created_before,
        )
        before = _read_cursor(cursor)
        found = await self._database.read(lambda: queries.list_jobs(wanted, before, limit + 1))
        more = len(found) > limit
        found = found[:limit]
        return Page(found, str(found[-1].id) if more else None)

    async def get_queue_position(self, job: Job, *, slots: int) -> QueuePosition:
        """How many come before a queued job, and when to expect it."""
        return await self._database.read(partial(queue_position.find_queue_position, job.id, slots)) or QueuePosition(0)

    async def stats(self) -> QueueStats:
        return await self._database.read(queue_stats.stats)

    async def check_submit(self) -> None:
        """Make sure that the store takes jobs now. Raises what a submit would raise; no job is made.

        After a submit that failed unexpectedly a job is inserted as well, and rolled back: that shows whether the store or only
        that request was at fault.
        """
        self.refuse_when_closed()
        await submit_probe.submit_no_jobs(self._database)
        if self._submit_failed:
            await submit_probe.submit_and_undo(self._database)
            self._submit_failed = False

    async def wait_until_ended(self, job: JobLike, *, timeout: float | None = None) -> Job:
        """The job once it has ended, however it ended. Raises WaitTimeout, NotFound, or QueueClosed when the queue stops."""
        uid = uid_of(job)
        id = (await self.get(uid)).id if isinstance(job, str) else job.id
        deadline = None if timeout is None else asyncio.get_running_loop().time() + timeout
        with self.listeners.listen(id) as news:
            while True:
                news.clear()
                current = await self.get(uid)
                if current.status.ended:
                    return current
                if self.listeners.closed:
                    raise QueueClosed(f"the queue is closing; job_{uid} can be waited for again when it is open")
                try:
                    async with asyncio.timeout_at(deadline):
                        await news.wait()
                except TimeoutError:
                    raise WaitTimeout(uid, timeout or 0) from None

    async def wait(self, job: JobLike, *, timeout: float | None = None) -> Any:
        """The value that the job's handler returned. Raises JobFailed, JobCancelled, WaitTimeout or QueueClosed.

        A job that was superseded by a newer payload of its key is followed to that one. Giving up changes nothing.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ended = await self.wait_until_ended(job, timeout=left)
            if ended.superseded_by is None:
                return _result_of(ended)
            job = ended.superseded_by

    async def watch(self, job: JobLike, *, after: int = 0) -> AsyncGenerator[Event]:
        """The job's events, from its first (or from the one after `after`) to its last, as they happen."""
        current = await self.get(job)
        with self.listeners.listen(current.id) as news:
            while True:
                news.clear()
                events, ended = await self._database.read(partial(queries.read_job_news, current.uid, current.id, after))
                for event in events:
                    after = event.id
                    yield event
                    if event.ends:
                        return
                if events:
                    continue
                if ended:
                    return  # it was asked for what came after the ending
                if self.listeners.closed:
                    raise QueueClosed(f"the queue is closing; watch job_{current.uid} again after event {after}")
                await news.wait()

    async def history(self, job: JobLike) -> Sequence[Event]:
        """What has happened to the job so far."""
        current = await self.get(job)
        events: Events = []
        while more := await self._database.read(partial(queries.events_of, current.id, events[-1].id if events else 0)):
            events += more
        return events

    async def events(
        self,
        *,
        after: int | None = None,
        org_id: str | None = None,
        kind: str | None = None,
        key_prefix: str | None = None,
    ) -> AsyncGenerator[Event]:
        """Jobs' events as they happen; from now on, or from the one after `after`. An org, a kind or a beginning of keys leaves
        the others out. With "" for `org_id` they are those of the default organisation."""
        last = await self._database.read(queries.last_event_id) if after is None else after
        with self.listeners.listen(None) as news:
            while not self.listeners.closed:
                news.clear()
                events, seen = await self._database.read(partial(queries.list_filtered_events, last, org_id, kind, key_prefix))
                for event in events:
                    last = event.id
                    yield event
                if seen == last:
                    await news.wait()
                last = max(last, seen)

    async def cancel(self, job: JobLike, *, reason: str = "cancelled") -> Job:
        """Cancel a job. A queued one ends at once; a running one is stopped within two seconds and can end in no other way.

        A job that has ended stays as it is: the returned status tells who was first.
        """
        uid = uid_of(job)

        def notify_cancelled(id: int) -> None:
            if self._stop_running is not None:
                self._stop_running(id)
            self.listeners.notify([id])

        await self._database.run(lambda: endings.cancel(uid, self.kinds, reason), name="cancel", after=notify_cancelled)
        return await self.get(uid)

    async def retry(self, job: JobLike, *, within: Transaction | None = None) -> Submitted:
        """Run an ended job again: a new job with the same payload, which names the old one as `retry_of`.

        If its kind coalesces and a newer job of its key is open, that one is the answer (`skipped`).
        """
        self.refuse_when_closed()
        uid = uid_of(job)

        def unit() -> Work[Submitted]:
            return submitting.retry(uid, copy_for_retry, self._admission.check_room)

        run = self._database.run if within is None else within.run
        return await run(unit, name="submit", after=self._announce)

    async def pause(self, kind: str) -> None:
        """Let no worker claim jobs of this kind until it is resumed. What runs goes on; submits are accepted.

        Raises NotFound for a kind that no process ever registered.
        """
        await self._database.run(lambda: kind_rows.set_paused(kind, True), name="pause")

    async def resume(self, kind: str) -> None:
        await self._database.run(lambda: kind_rows.set_paused(kind, False), name="pause")
        self._backend.delivery.announce(())

    async def scale(self, kind: str, slots: int | None) -> None:
        """Let at most so many jobs of this kind be in progress at once, in all processes together; None is no limit.

        What runs goes on: a limit below it holds as soon as enough of them have ended. Raises NotFound for a kind that no
        process ever registered.
        """
        if slots is not None and not 1 <= slots <= MOST_SLOTS:
            raise InvalidArgument(f"slots is 1 to {MOST_SLOTS}, not {slots}; to let none of a kind start, pause it")
        await self._database.run(lambda: concurrency_limits.set_limit(kind, slots), name="scale")
        self._backend.delivery.announce(())

    async def members(self) -> Sequence[WorkerState]:
        """Every worker of the database, wherever it runs, and whether it was seen within its lease."""
        return await self._database.read(worker_list.list_worker_states)

    async def worker_coverage(self) -> WorkerCoverage:
        """How many workers run, and the kinds whose jobs have been ready for a minute and that none of them takes."""
        return await self._database.read(worker_coverage.read_coverage)

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        """Write rows of your own and submit jobs in one transaction: `async with press.transaction() as tx`.

        While it is open, other writers wait. Keep it to a few statements; after five seconds it is rolled back. On a
        database in memory readers wait too, so look at your own rows through `tx.execute`.
        """
        self.refuse_when_closed()
        return self._database.transaction()

    async def schedules(self) -> Sequence[tuple[Schedule, int]]:
        """Every schedule known to the database, with its last tick in milliseconds."""
        return await self._database.read(schedule_rows.list_schedules)

    async def workers(self) -> Sequence[tuple[worker_records.WorkerRecord, int, int]]:
        """Every worker known to the database, with when it started and when it was last seen, in milliseconds."""
        return await self._database.read(worker_records.list_workers)

    def for_schedule(self, schedule: Schedule) -> CheckedJob:
        """The job of a tick. Not refused while the queue stops: it waits for the next process that opens the queue."""
        request = Request(schedule.kind, schedule.payload, key=schedule.key, subject=f"schedule {schedule.name}")
        return check_request(request, self.kinds)

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Around a submit: keep whether the last one raised an error that is no refusal."""
        try:
            yield
        except PressroomError:
            raise
        except Exception:
            self._submit_failed = True
            raise
        self._submit_failed = False

    def _submit_unit(self, new: CheckedJob) -> Callable[[], Work[Submitted]]:
        return partial(submitting.submit, new, self._admission.check_room)

    def _insert_unit(self, many: Sequence[CheckedJob]) -> Work[Answers]:
        return submitting.insert_new_jobs(
            many, self._admission.check_room, single_round_trip=self._database.has_concurrent_writers
        )

    def _announce(self, job: Submitted) -> None:
        if job.answer is not Answer.HIT:
            self._backend.delivery.announce((job,))
        if job.answer is not Answer.NEW:
            self.listeners.notify((job.id,))

    def _announce_submitted(self, submitted: Answers) -> None:
        if announced := [job for job in submitted if job.answer is not Answer.HIT]:
            self._backend.delivery.announce(announced)
        self.listeners.notify(job.id for job in submitted if job.answer is not Answer.NEW)

    def _check_request(self, request: Request) -> CheckedJob:
        self.refuse_when_closed()
        return check_request(request, self.kinds)

    def refuse_when_closed(self) -> None:
        """Raises QueueClosed before it is open and from the beginning of a stop."""
        if not self._accepting:
            raise QueueClosed


def _kinds_of(requests: Sequence[Request]) -> str:
    """What a span of several submits is named after."""
    return ", ".join(sorted({str(request.kind) for request in requests}))


def _with_trace(request: Request, traced: Mapping[str, str] | None) -> Request:
    return request if traced is None else msgspec.structs.replace(request, trace={**traced, **(request.trace or {})})


def _result_of(job: Job) -> Any:
    match job.status:
        case Status.COMPLETED | Status.COMPLETED_WITH_ERRORS:
            return job.result
        case Status.CANCELLED:
            raise JobCancelled(job.uid, {"code": "cancelled", "message": job.last_error or "cancelled"})
        case _:
            raise JobFailed(job.uid, job.errors[-1] if job.errors else None)


def _statuses(status: Status | Sequence[Status] | None) -> list[Status]:
    if status is None:
        return []
    try:
        return [Status(status)] if isinstance(status, str) else [Status(one) for one in status]
    except ValueError as reason:
        raise InvalidArgument(f"{reason}; a status is one of: {', '.join(Status)}") from None


def _read_cursor(cursor: str | None) -> int:
    if cursor is None:
        return BEYOND
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise InvalidArgument("that is not a cursor; pass the one that the last page gave")
    return int(cursor)
