"""Admission of new jobs: the limit of the queue, and submits that share a transaction."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from pressroom.errors import QueueFull
from pressroom.model import Submitted, Work
from pressroom.store import Database
from pressroom.store.jobs import submitting
from pressroom.store.jobs.submitting import CheckedJob


class SubmitBatcher:
    """Plain jobs that are submitted in the same round of the event loop go to the database as one unit of work.

    Sixty callers that submit at once then cost three statements instead of two hundred. Each still gets its own answer.
    """

    def __init__(
        self,
        database: Database,
        unit: Callable[[Sequence[CheckedJob]], Work[list[Submitted]]],
        after: Callable[[list[Submitted]], None],
    ) -> None:
        self._database = database
        self._unit = unit
        self._after = after
        self._waiting: list[tuple[CheckedJob, asyncio.Future[Submitted]]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, new: CheckedJob) -> Submitted:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Submitted] = loop.create_future()
        self._waiting.append((new, answer))
        if len(self._waiting) == 1:
            loop.call_soon(self._flush)
        return await answer

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        task = asyncio.ensure_future(self._submit_all(waiting))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _submit_all(self, waiting: list[tuple[CheckedJob, asyncio.Future[Submitted]]]) -> None:
        many = [new for new, _ in waiting]
        try:
            answers = await self._database.run(lambda: self._unit(many), name="submit", shared_lock=True, after=self._after)
        except QueueFull as full:
            if len(waiting) == 1:
                _refuse(waiting[0][1], full)
            for one in waiting if len(waiting) > 1 else ():  # there may be room for the first ones
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


class Admission:
    """Refuses new jobs when the queue holds its limit, without counting the queue at every submit.

    It keeps an estimate that is never below what this process added, and counts only when that nears the limit or has
    drifted: other processes add jobs too. An organisation that fills less than its share of a full queue is admitted all the
    same; see `jobs.refuse_when_full`. Runs inside the submitting transaction.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._estimate = limit
        self._unchecked = 0

    def check_room(self, new: Sequence[CheckedJob]) -> Work[None]:
        self._unchecked += len(new)
        if self._estimate + len(new) > self._limit or self._unchecked > self._limit // 100:
            coming = Counter(one.org_id for one in new)
            yield from submitting.refuse_when_full(self._limit, coming, retry_after=1.0, on_count=self._set_estimate)
        self._estimate += len(new)

    def _set_estimate(self, queued: int) -> None:
        self._estimate, self._unchecked = queued, 0
