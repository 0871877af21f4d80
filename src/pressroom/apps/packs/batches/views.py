"""Batches as HTTP shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from pressroom.apps.packs.batches.store import Batch, BatchLineState
from pressroom.apps.packs.model import to_uuid
from pressroom.model import Job, Status, from_ms


class PackBatchView(msgspec.Struct, frozen=True, kw_only=True):
    """`status` is `reading` until every line is a pack, or a line that is none; `failed` if that ended early.

    `lines` is null until they were counted; the counts are of those that were taken in.
    """

    batch_id: str
    job_id: str
    status: str
    format: str
    size: int
    lines: int | None
    waiting: int
    rendering: int
    ready: int
    failed: int
    last_error: str | None
    created_by: str
    created_at: datetime
    read_at: datetime | None
    zip_url: str


class LineErrorView(msgspec.Struct, frozen=True, kw_only=True):
    """`doc_id` is null for what is wrong with the line itself."""

    doc_id: str | None
    code: str | None
    message: str


class BatchLineView(msgspec.Struct, frozen=True, kw_only=True):
    line: int
    pack_id: str | None
    title: str | None
    status: str
    errors: list[LineErrorView]


class BatchDetailView(PackBatchView, frozen=True, kw_only=True):
    results: list[BatchLineView]
    next_cursor: str | None


class BatchList(msgspec.Struct, frozen=True):
    items: list[PackBatchView]
    next_cursor: str | None


def batch_view(batch: Batch, job: Job | None, counts: dict[str, int], base_url: str) -> PackBatchView:
    return PackBatchView(**batch_fields(batch, job, counts, base_url))


def batch_detail_view(
    batch: Batch,
    job: Job | None,
    counts: dict[str, int],
    base_url: str,
    lines: Sequence[BatchLineState],
    cursor: str | None,
) -> BatchDetailView:
    results = [line_view(line) for line in lines]
    return BatchDetailView(**batch_fields(batch, job, counts, base_url), results=results, next_cursor=cursor)


def batch_fields(batch: Batch, job: Job | None, counts: dict[str, int], base_url: str) -> dict[str, Any]:
    return {
        "batch_id": batch.id,
        "job_id": to_uuid(batch.job_uid),
        "status": _status_of(batch, job, counts),
        "format": batch.format,
        "size": batch.size,
        "lines": batch.lines,
        **counts,
        "last_error": None if job is None else job.last_error,
        "created_by": batch.author,
        "created_at": from_ms(batch.date_created),
        "read_at": None if batch.date_read is None else from_ms(batch.date_read),
        "zip_url": f"{base_url}/packs/batches/{batch.id}.zip",
    }


def _status_of(batch: Batch, job: Job | None, counts: dict[str, int]) -> str:
    if job is not None and not job.status.ended:
        return "queued" if job.status is Status.QUEUED and batch.lines is None else "reading"
    if batch.date_read is None:
        return "failed"
    return "rendering" if counts["rendering"] or counts["waiting"] else "ended"


def line_view(line: BatchLineState) -> BatchLineView:
    errors = []
    if line.error is not None:
        errors.append(LineErrorView(doc_id=None, code=line.error.get("code"), message=line.error.get("message", "")))
    for skipped in line.skipped:
        missing = ", ".join(skipped.get("missing", [])[:20])
        message = f"the data lacks {missing}" if missing else "the document cannot be made as it is configured"
        errors.append(LineErrorView(doc_id=skipped["doc_id"], code=skipped["reason"], message=message))
    for render in line.renders:
        code = None if render.error is None else render.error.get("code")
        errors.append(LineErrorView(doc_id=render.doc_id, code=code, message=render.last_error or ""))
    return BatchLineView(line=line.number, pack_id=line.pack_id, title=line.title, status=line.status, errors=errors)
