"""The kind `packs.batch`: each line of an upload becomes a pack, and its documents are requested as children of the job.

A line is taken in by the transaction that makes its pack, and what was requested once is not requested again (R9): run again
after a crash, it goes on where it was.
"""

import asyncio
import hashlib
import os
import tempfile
from collections.abc import AsyncIterable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pressroom import artifact_lifecycle
from pressroom.apps.packs.batches import store
from pressroom.apps.packs.batches.lines import BatchLine, LineFormat, count_lines, read_lines
from pressroom.apps.packs.batches.store import Batch, BatchNotFound, NewLine
from pressroom.apps.packs.errors import AlreadyInProgress
from pressroom.apps.packs.model import ACTIVE, parse_id
from pressroom.apps.packs.settings import PacksSettings
from pressroom.definitions import Kind
from pressroom.errors import Backpressure, NotFound, QueueClosed, QueueFull, Refused
from pressroom.kinds.rendering import Rendering
from pressroom.model import Answer, OnKey
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import ArtifactDraft

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pressroom.apps.packs.packs import Packs
    from pressroom.queue import Queue

NAME = "packs.batch"
LINES_AT_ONCE = 20  # in one transaction, during which other writers wait
FULL_RETRY_DELAY = 0.5  # seconds before the next submit to a full queue
LINE_OVERHEAD = 64 * 1024  # bytes of a line beyond the data of its pack: escapes, the title and the like
MEDIA_TYPES: dict[LineFormat, str] = {"ndjson": "application/x-ndjson", "csv": "text/csv"}


class BatchOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The payload. `retry`: request what failed again, once all lines were taken in."""

    batch_id: str
    retry: bool = False


class PackBatches:
    def __init__(self, queue: "Queue", rendering: Rendering, packs: "Packs", settings: PacksSettings) -> None:
        self._queue = queue
        self._rendering = rendering
        self._packs = packs
        self._line_limit = settings.max_data + LINE_OVERHEAD
        self.kind = Kind(
            NAME,
            self.handle,
            max_attempts=5,
            timeout=None,
            on_key=OnKey.SKIP,
            max_crashes=10,
            retention=timedelta(days=30),
            alert=True,
        )

    async def store_upload(self, format: LineFormat, chunks: AsyncIterable[bytes]) -> ArtifactDraft:
        """The bytes, put as they come. `start` has to be called within the collector's grace."""
        return await artifact_lifecycle.store_artifact(
            self._rendering.blobs,
            self._packs.database,
            chunks,
            media_type=MEDIA_TYPES[format],
            filename=f"packs.{format}",
            name="batch",
            with_link=False,
        )

    async def start(
        self,
        org_id: str | None,
        format: LineFormat,
        draft: ArtifactDraft,
        *,
        author: str,
        user: str = "",
        trace: Mapping[str, str] | None = None,
    ) -> tuple[Batch, bool]:
        """Whether it is new: while a batch of the same upload for the same user waits, that one is the answer."""
        await self._packs.submit_purge()
        id = store.new_batch_id()
        async with self._queue.transaction() as tx:
            submitted = await self._queue.submit(
                NAME,
                msgspec.to_builtins(BatchOrder(batch_id=id)),
                key=_key_of(draft.sha256, format, user),
                org_id=org_id,
                subject=f"batch {id}",
                trace=trace,
                within=tx,
            )
            if submitted.answer is not Answer.NEW:
                return await tx.run(partial(store.find_batch_of_job, org_id or "", submitted.uid), name="packs"), False
            unit = partial(store.insert_batch, org_id or "", id, submitted.uid, format, draft, user_id=user, author=author)
            return await tx.run(unit, name="packs"), True

    async def retry(self, org_id: str | None, batch_id: str, trace: Mapping[str, str] | None = None) -> Batch:
        """Request what failed again, in a new job. Raises BatchNotFound, and AlreadyInProgress while it is being taken in."""
        batch = await self.get(org_id, batch_id)
        order = BatchOrder(batch_id=batch.id, retry=True)
        async with self._queue.transaction() as tx:
            submitted = await self._queue.submit(
                NAME,
                msgspec.to_builtins(order),
                key=_key_of(batch.sha256, batch.format, batch.user_id),
                org_id=org_id,
                subject=f"retry batch {batch.id}",
                trace=trace,
                within=tx,
            )
            if submitted.answer is not Answer.NEW:
                raise AlreadyInProgress("the batch")
            await tx.run(partial(store.set_job, batch.id, submitted.uid), name="packs")
        return await self.get(org_id, batch_id)

    async def get(self, org_id: str | None, batch_id: str) -> Batch:
        """Raises BatchNotFound."""
        try:
            id = parse_id(batch_id)
        except NotFound:
            raise BatchNotFound from None
        return await self._packs.database.read(partial(store.get_batch, org_id or "", id))

    async def handle(self, job: Any, payload: Any) -> dict[str, int]:
        order = msgspec.convert(payload, BatchOrder)
        batch = await self.get(job.org_id, order.batch_id)
        with job.release_slot():  # it submits, and the renders need a slot
            try:
                if batch.date_read is None:
                    await self._take_in(job, batch)
                if order.retry:
                    await self._request(job, batch, store.list_to_retry)
            except QueueClosed as reason:  # costs no attempt; it goes on where it was
                raise Backpressure(str(reason)) from None
        return await self._packs.database.read(partial(store.count_lines, batch.id))

    async def _take_in(self, job: Any, batch: Batch) -> None:
        await job.phase("reading the upload")
        async with self._open_upload(batch) as path:
            total = batch.lines
            if total is None:
                total = await asyncio.to_thread(count_lines, path, batch.format, self._line_limit)
                await self._packs.database.run(partial(store.set_lines, batch.id, total), name="packs")
            await job.phase("making packs", total=total)
            await self._request(job, batch, store.list_unrequested)
            done = await self._packs.database.read(partial(store.last_line, batch.id))
            lines = read_lines(path, batch.format, self._line_limit)
            taken = 0
            while some := await asyncio.to_thread(self._next_lines, lines, batch):
                taken += len(some)
                if new := [line for line in some if line.number > done]:
                    unit = partial(store.insert_lines, batch.org_id, batch.id, new)
                    await self._packs.database.run(unit, name="packs")
                    await self._request(job, batch, store.list_unrequested, after=new[0].number - 1)
                    await job.progress(taken)
        await self._packs.database.run(partial(store.set_read, batch.id), name="packs")

    def _next_lines(self, lines: Iterator[BatchLine], batch: Batch) -> list[NewLine]:
        return [self._check(line, batch) for line in islice(lines, LINES_AT_ONCE)]

    def _check(self, line: BatchLine, batch: Batch) -> NewLine:
        if line.draft is None:
            return NewLine(line.number, None, {"code": "invalid_line", "message": line.problem[:500]})
        draft = line.draft if line.draft.user else msgspec.structs.replace(line.draft, user=batch.user_id)
        try:
            return NewLine(line.number, self._packs.check(draft, batch.author))
        except Refused as error:
            return NewLine(line.number, None, {"code": error.code, "message": str(error)[:500]})

    async def _request(self, job: Any, batch: Batch, query: Callable[..., Any], after: int = 0) -> None:
        """Request the documents of the lines that a query finds, some at a time."""
        while found := await self._packs.database.read(partial(query, batch.id, after, LINES_AT_ONCE)):
            for number, pack in found:
                await self._request_line(job, batch, number, pack)
            after = found[-1][0]

    async def _request_line(self, job: Any, batch: Batch, number: int, pack: str) -> None:
        skipped: Sequence[Any] = []
        error = None
        try:
            answer = await self._render_when_there_is_room(job, batch, pack)
            skipped = [one for one in answer.skipped if one.reason not in ACTIVE]
        except Refused as refusal:
            error = {"code": refusal.code, "message": str(refusal)[:500]}
        told = msgspec.to_builtins(skipped)
        await self._packs.database.run(partial(store.set_requested, batch.id, number, told, error), name="packs")

    async def _render_when_there_is_room(self, job: Any, batch: Batch, pack: str) -> Any:
        """Waits while the queue is full: a job that started over instead would never finish."""
        while True:
            try:
                return await self._packs.render_all(batch.org_id or None, pack, requested_by=batch.author, parent=job.uid)
            except QueueFull as reason:
                await job.message("the queue is full; waiting for room")
                await asyncio.sleep(max(FULL_RETRY_DELAY, reason.retry_after))

    @asynccontextmanager
    async def _open_upload(self, batch: Batch) -> "AsyncIterator[Path]":
        """A copy on this machine, which threads can read."""
        artifact = await self._packs.database.read(partial(artifacts.get, batch.upload))
        descriptor, name = await asyncio.to_thread(tempfile.mkstemp, prefix="pressroom-batch-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                async for chunk in await self._rendering.read(artifact):
                    await asyncio.to_thread(file.write, chunk)
            yield Path(name)
        finally:
            await asyncio.to_thread(Path(name).unlink, missing_ok=True)


def _key_of(sha256: str | None, format: LineFormat, user: str) -> str:
    """The same bytes for another user, or as another format, are another batch."""
    named = hashlib.sha256(f"{format} {user}".encode(errors="replace")).hexdigest()[:16] if user else format
    return f"packs:batch/{sha256}/{named}"
