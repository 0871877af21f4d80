"""The front door: submit, get, list, wait, watch, cancel, retry, stats. Everything that enters is checked here."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom import failpoints, jsontext
from pressroom.delivery import Delivery
from pressroom.errors import (
    InvalidArgument,
    JobCancelled,
    JobFailed,
    QueueClosed,
    QueueFull,
    UnknownKind,
    WaitTimeout,
)
from pressroom.fingerprint import Fingerprint, fingerprint
from pressroom.ids import new_uid, parse_uid
from pressroom.model import Answer, Event, Job, Kind, OnKey, Row, Schedule, Status, Submitted, Tier, Work, to_ms
from pressroom.notify.inside import Switchboard
from pressroom.store import Database, Transaction, jobs, look
from pressroom.store.jobs import NewJob
from pressroom.store.look import BEYOND, Filter, Stats

PAYLOAD_LIMIT = 1024 * 1024
KEY_LIMIT = 512
NAME_LIMIT = 255
PAGE_LIMIT = 500
FURTHEST = timedelta(days=3660)

type JobLike = Job | Submitted | str
type Answers = list[Submitted]  # inside Queue, `list` is a method
type Events = list[Event]


class Request(msgspec.Struct, frozen=True):
    """One job to submit, for `submit_many`. The fields are those of `Queue.submit`."""

    kind: str
    payload: Any = None
    tier: Tier | None = None
    key: str | None = None
    delay: float | timedelta = 0
    run_at: datetime | None = None
    fingerprint: Mapping[str, Any] | None = None
    org_id: str | None = None
    project_id: str | None = None
    build_id: str | None = None
    subject: str | None = None
    parent: JobLike | None = None
    trace: Mapping[str, str] | None = None
    max_attempts: int | None = None


@dataclass(frozen=True)
class Page:
    """Some jobs, newest first. `cursor` asks for the next ones; None says there are none."""

    jobs: list[Job]
    cursor: str | None


class Queue:
    """Submits jobs and tells about them. Workers are somebody else."""

    def __init__(
        self,
        database: Database,
        delivery: Delivery,
        switchboard: Switchboard,
        kinds: Mapping[str, Kind],
        *,
        max_queued: int,
        stop_running: Callable[[int], None] | None = None,
    ) -> None:
        self._database = database
        self._delivery = delivery
        self._switchboard = switchboard
        self._kinds = kinds
        self._admission = _Admission(max_queued)
        self._together = _Together(database, self._plain_unit, self._submitted_many)
        self._stop_running = stop_running
        self._accepting = True

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds that this process knows."""
        return self._kinds

    async def submit(
        self,
        kind: str,
        payload: Any = None,
        *,
        tier: Tier | None = None,
        key: str | None = None,
        delay: float | timedelta = 0,
        run_at: datetime | None = None,
        fingerprint: Mapping[str, Any] | None = None,
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

        The answer says whether it is a new job, the payload of a queued one (`coalesced`), somebody else's that renders
        the same input (`joined`), or an earlier result (`hit`).
        """
        # fmt: off
        request = Request(kind, payload, tier, key, delay, run_at, fingerprint, org_id, project_id, build_id, subject,
                          parent, trace, max_attempts)
        # fmt: on
        new = self._check(request)
        failpoints.hit("submit.validated")
        if within is not None:
            return await within.run(lambda: self._unit(new), name="submit", after=self._submitted)
        if _is_plain(new):
            return await self._together.submit(new)
        return await self._database.run(lambda: self._unit(new), name="submit", after=self._submitted)

    async def submit_many(self, requests: Iterable[Request], *, within: Transaction | None = None) -> Answers:
        """Accept many jobs in one transaction: all of them, or none."""
        checked = [self._check(request) for request in requests]
        if not checked:
            return []

        def unit() -> Work[Answers]:
            if all(map(_is_plain, checked)):
                return (yield from self._plain_unit(checked))
            answers = []
            for new in checked:
                answers.append((yield from self._unit(new)))
            return answers

        run = self._database.run if within is None else within.run
        return await run(unit, name="submit", after=self._submitted_many)

    async def get(self, job: JobLike) -> Job:
        """A job as it is now. Raises NotFound."""
        uid = _uid_of(job)
        return await self._database.read(lambda: look.get(uid))

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
        """Jobs that match, newest first, without their payloads."""
        if not 1 <= limit <= PAGE_LIMIT:
            raise InvalidArgument(f"limit is 1 to {PAGE_LIMIT}, not {limit}")
        wanted = Filter(
            status=_statuses(status),
            kind=kind,
            tier=tier,
            org_id=org_id,
            project_id=project_id,
            subject=subject,
            key=key,
            parent=None if parent is None else _uid_of(parent),
            worker=worker,
            created_after=created_after,
            created_before=created_before,
        )
        before = _read_cursor(cursor)
        found = await self._database.read(lambda: look.list_jobs(wanted, before, limit + 1))
        more = len(found) > limit
        found = found[:limit]
        return Page(found, str(found[-1].id) if more else None)

    async def stats(self) -> Stats:
        return await self._database.read(look.stats)

    async def settled(self, job: JobLike, *, timeout: float | None = None) -> Job:
        """The job once it has ended, however it ended. Raises WaitTimeout, NotFound, or QueueClosed when the queue stops."""
        uid = _uid_of(job)
        id = (await self.get(uid)).id if isinstance(job, str) else job.id
        deadline = None if timeout is None else asyncio.get_running_loop().time() + timeout
        with self._switchboard.listen(id) as news:
            while True:
                news.clear()
                current = await self.get(uid)
                if current.status.ended:
                    return current
                if self._switchboard.closed:
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
            ended = await self.settled(job, timeout=left)
            if ended.superseded_by is None:
                return _value_of(ended)
            job = ended.superseded_by

    async def watch(self, job: JobLike, *, after: int = 0) -> AsyncIterator[Event]:
        """The job's events, from its first (or from the one after `after`) to its last, as they happen."""
        current = await self.get(job)
        with self._switchboard.listen(current.id) as news:
            while True:
                news.clear()
                events = await self._database.read(partial(look.events_of, current.id, after))
                for event in events:
                    after = event.id
                    yield event
                    if event.ends:
                        return
                if events:
                    continue
                if self._switchboard.closed:
                    raise QueueClosed(f"the queue is closing; watch job_{current.uid} again after event {after}")
                await news.wait()

    async def history(self, job: JobLike) -> Sequence[Event]:
        """What has happened to the job so far."""
        current = await self.get(job)
        events: Events = []
        while more := await self._database.read(partial(look.events_of, current.id, events[-1].id if events else 0)):
            events += more
        return events

    async def events(self, *, after: int | None = None) -> AsyncIterator[Event]:
        """All jobs' events as they happen; from now on, or from the one after `after`."""
        last = await self._database.read(look.last_event) if after is None else after
        with self._switchboard.listen(None) as news:
            while not self._switchboard.closed:
                news.clear()
                events = await self._database.read(partial(look.events_after, last))
                for event in events:
                    last = event.id
                    yield event
                if not events:
                    await news.wait()

    async def cancel(self, job: JobLike, *, reason: str = "cancelled") -> Job:
        """Cancel a job. A queued one ends at once; a running one is stopped within two seconds and can end in no other way.

        A job that has ended stays as it is: the returned status tells who was first.
        """
        uid = _uid_of(job)

        def then(id: int) -> None:
            if self._stop_running is not None:
                self._stop_running(id)
            self._switchboard.tell([id])

        await self._database.run(lambda: jobs.cancel(uid, self._kinds, reason), name="cancel", after=then)
        return await self.get(uid)

    async def retry(self, job: JobLike) -> Submitted:
        """Run an ended job again: a new job with the same payload, which names the old one as `retry_of`."""
        self._refuse_when_closed()
        uid = _uid_of(job)
        return await self._database.run(
            lambda: jobs.retry(uid, self._again, self._admission.room_for_one), name="submit", after=self._submitted
        )

    async def pause(self, kind: str) -> None:
        """Let no worker claim jobs of this kind until it is resumed. What runs goes on; submits are accepted."""
        await self._database.run(lambda: jobs.pause(kind, True), name="pause")

    async def resume(self, kind: str) -> None:
        await self._database.run(lambda: jobs.pause(kind, False), name="pause")
        self._delivery.announce(())

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        """Write rows of your own and submit jobs in one transaction: `async with press.transaction() as tx`.

        While it is open nobody else writes. Keep it to a few statements; after five seconds it is rolled back.
        """
        self._refuse_when_closed()
        return self._database.transaction()

    def for_schedule(self, schedule: Schedule) -> NewJob:
        return self._check(Request(schedule.kind, schedule.payload, key=schedule.key, subject=f"schedule {schedule.name}"))

    def _unit(self, new: NewJob) -> Work[Submitted]:
        return jobs.submit(new, self._admission.room_for_one)

    def _plain_unit(self, many: Sequence[NewJob]) -> Work[Answers]:
        return jobs.submit_plain(many, lambda: self._admission.room_for(len(many)))

    def _submitted(self, job: Submitted) -> None:
        if job.answer is not Answer.HIT:
            self._delivery.announce((job,))
        if job.answer is not Answer.NEW:
            self._switchboard.tell((job.id,))

    def _submitted_many(self, submitted: Answers) -> None:
        self._delivery.announce(submitted)
        self._switchboard.tell(job.id for job in submitted)

    def _check(self, request: Request) -> NewJob:
        """A request that may be stored, or the error that says what is wrong with it."""
        self._refuse_when_closed()
        kind = self._kinds.get(request.kind)
        if kind is None:
            raise UnknownKind(str(request.kind)[:NAME_LIMIT], [*self._kinds])
        org_id = _text(request.org_id, "org_id", NAME_LIMIT) or ""
        input, cache_for = _input_of(request, kind, org_id)
        return NewJob(
            uid=new_uid(),
            kind=kind.name,
            tier=kind.tier if request.tier is None else _tier(request.tier),
            payload=jsontext.encode(request.payload, limit=PAYLOAD_LIMIT),
            on_key=kind.on_key,
            max_attempts=_attempts(request.max_attempts, kind),
            max_crashes=kind.max_crashes,
            retention=int(kind.retention.total_seconds() * 1000),
            delay=_delay(request.delay),
            run_at=None if request.run_at is None else to_ms(request.run_at),
            key=_text(request.key, "key", KEY_LIMIT),
            fingerprint=input,
            cache_for=cache_for,
            org_id=org_id,
            project_id=_text(request.project_id, "project_id", NAME_LIMIT),
            build_id=_text(request.build_id, "build_id", NAME_LIMIT),
            subject=_text(request.subject, "subject", NAME_LIMIT),
            parent=None if request.parent is None else _uid_of(request.parent),
            trace=None if request.trace is None else jsontext.encode(dict(request.trace), limit=4096, what="the trace"),
        )

    def _again(self, row: Row) -> NewJob:
        """A finished job's row as a new job. A fingerprint is not taken along: whoever retries wants it done again."""
        # fmt: off
        (_, uid, name, tier, _, _, _, _, _, _, _, _, _, max_attempts, _, _, _, _, key, _, org_id,
         project_id, build_id, subject, _, parent, *_, payload) = row
        # fmt: on
        kind = self._kinds.get(name)
        return NewJob(
            uid=new_uid(),
            kind=name,
            tier=tier,
            payload=payload,
            on_key=kind.on_key if kind else OnKey.LINE_UP,
            max_attempts=max_attempts,
            max_crashes=kind.max_crashes if kind else 3,
            retention=int((kind.retention if kind else timedelta(days=7)).total_seconds() * 1000),
            key=key,
            org_id=org_id,
            project_id=project_id,
            build_id=build_id,
            subject=subject,
            parent=parent,
            retry_of=uid,
        )

    def _refuse_when_closed(self) -> None:
        if not self._accepting:
            raise QueueClosed


def _is_plain(new: NewJob) -> bool:
    """Nothing to look up before it is inserted."""
    return new.key is None and new.fingerprint is None


class _Together:
    """Plain jobs that are submitted in the same round of the event loop go to the database as one unit of work.

    Sixty callers that submit at once then cost three statements instead of two hundred. Each still gets its own answer.
    """

    def __init__(
        self,
        database: Database,
        unit: Callable[[Sequence[NewJob]], Work[list[Submitted]]],
        after: Callable[[list[Submitted]], None],
    ) -> None:
        self._database = database
        self._unit = unit
        self._after = after
        self._waiting: list[tuple[NewJob, asyncio.Future[Submitted]]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, new: NewJob) -> Submitted:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Submitted] = loop.create_future()
        self._waiting.append((new, answer))
        if len(self._waiting) == 1:
            loop.call_soon(self._send)
        return await answer

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, []
        task = asyncio.ensure_future(self._submit_all(waiting))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _submit_all(self, waiting: list[tuple[NewJob, asyncio.Future[Submitted]]]) -> None:
        many = [new for new, _ in waiting]
        try:
            answers = await self._database.run(lambda: self._unit(many), name="submit", after=self._after)
        except QueueFull as full:
            if len(waiting) == 1:
                _refuse(waiting[0][1], full)
            for one in waiting if len(waiting) > 1 else ():  # there may be room for the first of them
                await self._submit_all([one])
        except BaseException as error:
            for _, future in waiting:
                _refuse(future, error)
        else:
            for (_, future), answer in zip(waiting, answers, strict=True):
                if not future.done():
                    future.set_result(answer)


def _refuse(future: "asyncio.Future[Submitted]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


class _Admission:
    """Refuses new jobs when the queue holds its limit, without counting the queue at every submit.

    It keeps an estimate that is never below what this process added, and counts only when that nears the limit or has
    drifted: other processes add jobs too. Runs inside the submitting transaction.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._estimate = limit
        self._unchecked = 0

    def room_for_one(self) -> Work[None]:
        return self.room_for(1)

    def room_for(self, coming: int) -> Work[None]:
        self._unchecked += coming
        if self._estimate + coming > self._limit or self._unchecked > self._limit // 100:
            yield from jobs.refuse_when_full(self._limit, coming, retry_after=1.0, counted=self._counted)
        self._estimate += coming

    def _counted(self, queued: int) -> None:
        self._estimate, self._unchecked = queued, 0


def _uid_of(job: JobLike) -> str:
    return parse_uid(job) if isinstance(job, str) else job.uid


def _value_of(job: Job) -> Any:
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


def _input_of(request: Request, kind: Kind, org_id: str) -> tuple[Fingerprint | None, int]:
    """The name of the input. A kind that caches is fingerprinted by its payload if the caller names no fields."""
    fields = request.fingerprint
    if fields is None:
        if kind.cache_for is None:
            return None, 0
        fields = {"payload": request.payload}
    try:
        named = fingerprint({"org": org_id, "kind": kind.name, "version": kind.version, **fields})
    except (TypeError, ValueError) as reason:
        raise InvalidArgument(f"a fingerprint's fields are bytes, text or JSON: {reason}") from None
    return named, 0 if kind.cache_for is None else int(kind.cache_for.total_seconds() * 1000)


def _tier(tier: Any) -> Tier:
    try:
        return Tier(tier)
    except ValueError:
        raise InvalidArgument(f"{tier!r} is not a tier; use Tier.INTERACTIVE or Tier.BACKGROUND") from None


def _attempts(asked: int | None, kind: Kind) -> int:
    attempts = kind.max_attempts if asked is None else asked
    if not 1 <= attempts <= 1000:
        raise InvalidArgument(f"max_attempts is 1 to 1000, not {attempts}")
    return attempts


def _delay(delay: float | timedelta) -> int:
    seconds = delay.total_seconds() if isinstance(delay, timedelta) else delay
    if not 0 <= seconds <= FURTHEST.total_seconds():  # also false for NaN
        raise InvalidArgument(f"a delay is 0 to {FURTHEST.total_seconds():g} seconds, not {seconds:g}")
    return int(seconds * 1000)


def _text(value: str | None, name: str, limit: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise InvalidArgument(f"{name} is text that is not empty")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} is not valid Unicode") from None
    if "\0" in value:
        raise InvalidArgument(f"{name} holds a NUL character")
    if size > limit:
        raise InvalidArgument(f"{name} has {size:,} bytes; the limit is {limit}")
    return value
