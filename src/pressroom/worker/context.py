"""What a handler is given as `job`: facts about the job, and the methods that report progress and write rows."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from types import MappingProxyType
from typing import Any

from pressroom.errors import Cancelled, InvalidArgument, PressroomError
from pressroom.model import JSON, Claim, Tier, Work
from pressroom.store import Database
from pressroom.store.jobs import progress
from pressroom.store.jobs.progress import ItemMove

log = logging.getLogger("pressroom.worker")

# Seconds between two writes of progress: people watch it, and a loop over a million rows may call step() each time.
WRITE_INTERVAL = 0.1


def _keep_slot(_: Claim) -> AbstractContextManager[None]:
    return nullcontext()


class RunningJob:
    """One attempt at a job, as its handler sees it. All that it writes is refused once the claim is lost."""

    # Class attributes: thousands of jobs begin each second, and most handlers use few of these.
    _progress: Mapping[str, Any] = MappingProxyType({})
    _item_noun = ""
    _saved_at = 0.0
    _pending: asyncio.Task[None] | None = None
    failed_items: Sequence[str] = ()
    cancelled = False
    paused_seconds = 0.0  # that do not count against the time limit
    _pauses = 0
    _paused_at = 0.0

    def __init__(
        self,
        claim: Claim,
        database: Database,
        notify: Callable[[list[int]], None],
        release_slot: Callable[[Claim], AbstractContextManager[None]] = _keep_slot,
    ) -> None:
        self._claim = claim
        self._database = database
        self._notify = notify
        self._release_slot = release_slot

    def release_slot(self) -> AbstractContextManager[None]:
        """For a handler that waits for another job: `with job.release_slot(): await queue.wait(other)`.

        Meanwhile its slot is free for other jobs: if all slots were held by handlers that wait, no other job would ever run.
        """
        return self._release_slot(self._claim)

    @contextmanager
    def pause_time_limit(self) -> Iterator[None]:
        """The time limit does not run meanwhile: for waits that end by themselves and are not the job's own work."""
        if not self._pauses:
            self._paused_at = time.monotonic()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self.paused_seconds += time.monotonic() - self._paused_at

    @property
    def is_time_limit_paused(self) -> bool:
        return self._pauses > 0

    @property
    def id(self) -> int:
        return self._claim.id

    @property
    def uid(self) -> str:
        return self._claim.uid

    @property
    def tier(self) -> Tier:
        return Tier(self._claim.tier)

    @property
    def kind(self) -> str:
        return self._claim.kind

    @property
    def attempt(self) -> int:
        """1 for the first."""
        return self._claim.attempt

    @property
    def version(self) -> int:
        """Which payload this is: raised each time a newer one took a queued job's place."""
        return self._claim.version

    @property
    def key(self) -> str | None:
        return self._claim.key

    @property
    def org_id(self) -> str | None:
        return self._claim.org_id or None

    @property
    def subject(self) -> str | None:
        return self._claim.subject

    async def phase(self, name: str, *, total: int | None = None, message: str | None = None) -> None:
        """Begin a phase. Progress starts anew."""
        self._progress = _without_none(done=0 if total is not None else None, total=total, message=message)
        fields = dict(self._progress)
        await self._write(lambda: progress.begin_phase(self.id, self._claim.token, name, fields))

    async def progress(self, done: int, *, total: int | None = None, message: str | None = None) -> None:
        """Report how much of the phase is done. It never decreases and never exceeds the total."""
        total = total if total is not None else self._progress.get("total")
        done = max(done, self._progress.get("done", 0))
        done = min(done, total) if total is not None else done
        self._progress = {**self._progress, **_without_none(done=done, total=total, message=message)}
        await self._save_progress_if_due()

    async def step(self, count: int = 1, *, message: str | None = None) -> None:
        """`count` more are done."""
        await self.progress(self._progress.get("done", 0) + count, message=message)

    async def message(self, text: str) -> None:
        self._progress = {**self._progress, "message": text}
        await self._save_progress_if_due()

    async def add_details(self, **fields: JSON) -> None:
        """Add fields to the progress of the phase, such as what was left out and why."""
        self._progress = {**self._progress, **fields}
        await self._save_progress_if_due()

    async def items(
        self,
        noun: str,
        names: list[str],
        *,
        phase: str | None = None,
        message: str | None = None,
        details: Mapping[str, JSON] | None = None,
    ) -> None:
        """Begin a phase of named parts, all in progress: `await job.items("editions", ["main", "v2"])`. `details` are further
        fields of its progress."""
        if len(set(names)) != len(names):
            raise InvalidArgument(f"two of the {noun} have the same name")
        more = {**_without_none(message=message), **(details or {})}
        self._item_noun, self._progress = noun, {"items": noun, **more}
        await self._write(lambda: progress.begin_items(self.id, self._claim.token, phase or noun, noun, names, more))

    async def item_completed(self, name: str) -> None:
        noun = self._item_noun
        await self._write(lambda: progress.move_item(self.id, self._claim.token, noun, name, "completed", None))

    async def item_failed(self, name: str, error: str) -> None:
        noun = self._item_noun
        self._note_failed_item(name, error)
        await self._write(lambda: progress.move_item(self.id, self._claim.token, noun, name, "failed", error))

    @asynccontextmanager
    async def item(self, name: str) -> AsyncIterator[None]:
        """Work on one item: completed if the block ends, failed if it raises. The exception is raised again."""
        try:
            yield
        except BaseException as error:
            await asyncio.shield(self.item_failed(name, public_error(name, error)))
            raise
        await self.item_completed(name)

    async def write[T](
        self, unit: Callable[[], Work[T]], *, item_completed: str | None = None, item_failed: tuple[str, str] | None = None
    ) -> T:
        """Run a unit of work of the application in one transaction that also checks the claim. Returns the unit's value.

            def save() -> Work[int]:
                rows = yield Statement("UPDATE edition SET build = :build WHERE name = :name RETURNING id", {...})
                return rows[0][0]

            await job.write(save, item_completed="stable")

        `item_completed`, or `item_failed` with a name and an error, moves an item of the phase in the same transaction. Raises
        ClaimLost if the job was given to another worker or has ended, and Cancelled if it was cancelled; then, and if the
        unit raises, nothing is written. `unit` may be called again if the transaction had to be repeated.
        """
        if not callable(unit):
            raise InvalidArgument("write takes a function that returns a unit of work: write(save), not write(save())")
        if item_completed is not None and item_failed is not None:
            raise InvalidArgument("an item is completed or failed, not both")
        self._stop_if_cancelled()
        item = self._item_move(item_completed, item_failed)

        def notify_item_moved(_: T) -> None:
            if item is not None:
                self._notify([self.id])

        try:
            # Not with a shared lock: the unit may touch any row of the application.
            value = await self._database.run(
                lambda: progress.write_with_claim(self.id, self._claim.token, unit(), item),
                name="write",
                after=notify_item_moved,
            )
        except Cancelled:
            self.cancelled = True
            raise
        if item_failed is not None:
            self._note_failed_item(*item_failed)
        return value

    def _item_move(self, completed: str | None, failed: tuple[str, str] | None) -> ItemMove | None:
        if completed is not None:
            return ItemMove(self._item_noun, completed, "completed", None)
        return None if failed is None else ItemMove(self._item_noun, failed[0], "failed", failed[1])

    def _note_failed_item(self, name: str, error: str) -> None:
        self.failed_items = [*self.failed_items, f"{name}: {error}"]

    @property
    def has_pending(self) -> bool:
        return self._pending is not None

    async def flush(self) -> None:
        """Write the progress that was not due yet. The worker does so when the handler returns."""
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None
            await self._save_progress()

    async def _save_progress_if_due(self) -> None:
        self._stop_if_cancelled()
        if self._pending is not None:
            return
        early = WRITE_INTERVAL - (time.monotonic() - self._saved_at)
        if early <= 0:
            await self._save_progress()
        else:
            self._pending = asyncio.ensure_future(self._save_progress_after(early))

    async def _save_progress_after(self, delay: float) -> None:
        await asyncio.sleep(delay)
        self._pending = None
        with suppress(PressroomError):  # the next call of the handler raises for a lost claim or a cancel
            await self._save_progress()

    async def _save_progress(self) -> None:
        fields = dict(self._progress)
        self._saved_at = time.monotonic()
        await self._write(lambda: progress.save_progress(self.id, self._claim.token, fields))

    async def _write(self, unit: Callable[[], Work[bool]]) -> None:
        self._stop_if_cancelled()
        if await self._database.run(
            unit, name="progress", durable=False, shared_lock=True, after=lambda _: self._notify([self.id])
        ):
            self.cancelled = True
            self._stop_if_cancelled()

    def _stop_if_cancelled(self) -> None:
        if self.cancelled:
            raise Cancelled


class BlockingJob:
    """The same for a handler that is a plain function in a thread: each call returns when it is written.

    A plain function may hand back a coroutine, as a decorator around one does. That runs on the event loop, where waiting
    would stop everything: there each call returns something to await.
    """

    def __init__(self, job: RunningJob, loop: asyncio.AbstractEventLoop) -> None:
        self._job = job
        self._loop = loop
        self.id, self.uid, self.kind = job.id, job.uid, job.kind
        self.attempt, self.version, self.tier, self.key = job.attempt, job.version, job.tier, job.key
        self.org_id, self.subject = job.org_id, job.subject

    @property
    def cancelled(self) -> bool:
        """Whether to stop. A long loop may look at it; `phase`, `step` and the others raise Cancelled by themselves."""
        return self._job.cancelled

    def phase(self, name: str, *, total: int | None = None, message: str | None = None) -> Any:
        return self._run_on_loop(self._job.phase(name, total=total, message=message))

    def progress(self, done: int, *, total: int | None = None, message: str | None = None) -> Any:
        return self._run_on_loop(self._job.progress(done, total=total, message=message))

    def step(self, count: int = 1, *, message: str | None = None) -> Any:
        return self._run_on_loop(self._job.step(count, message=message))

    def message(self, text: str) -> Any:
        return self._run_on_loop(self._job.message(text))

    def add_details(self, **fields: JSON) -> Any:
        return self._run_on_loop(self._job.add_details(**fields))

    def items(
        self,
        noun: str,
        names: list[str],
        *,
        phase: str | None = None,
        message: str | None = None,
        details: Mapping[str, JSON] | None = None,
    ) -> Any:
        return self._run_on_loop(self._job.items(noun, names, phase=phase, message=message, details=details))

    def item_completed(self, name: str) -> Any:
        return self._run_on_loop(self._job.item_completed(name))

    def item_failed(self, name: str, error: str) -> Any:
        return self._run_on_loop(self._job.item_failed(name, error))

    def write[T](
        self, unit: Callable[[], Work[T]], *, item_completed: str | None = None, item_failed: tuple[str, str] | None = None
    ) -> Any:
        return self._run_on_loop(self._job.write(unit, item_completed=item_completed, item_failed=item_failed))

    def item(self, name: str) -> Any:
        return self._job.item(name) if self._is_on_loop() else self._item(name)

    @contextmanager
    def _item(self, name: str) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.item_failed(name, public_error(name, error))
            raise
        self.item_completed(name)

    def _run_on_loop(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        if self._is_on_loop():
            return coroutine
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _is_on_loop(self) -> bool:
        return asyncio._get_running_loop() is self._loop


def public_error(name: str, error: BaseException) -> str:
    """Our own errors are worded for callers. Others may hold secrets: the log has them, the caller gets their class."""
    if isinstance(error, PressroomError):
        return str(error)
    log.error("item %s failed", name, exc_info=error)
    return type(error).__name__


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
