"""Batches and their lines in the database: units of work."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from pressroom.apps.packs import store as packs
from pressroom.apps.packs.batches.lines import LineFormat
from pressroom.apps.packs.model import PackRender, to_uuid
from pressroom.apps.packs.store import NewPack
from pressroom.errors import NotFound
from pressroom.ids import new_uid
from pressroom.model import Row, Statement, Work
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import ArtifactDraft
from pressroom.store.artifacts.blobs import BlobName
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

LINE_STATUSES = ("waiting", "rendering", "ready", "failed")


class BatchNotFound(NotFound):
    """The same words for a malformed id, an unknown one, and another organisation's."""

    def __init__(self) -> None:
        super().__init__("there is no such batch")


class Batch(msgspec.Struct, frozen=True):
    """`lines` is None until they were counted, `date_read` until the last one was taken in."""

    id: str
    org_id: str
    job_uid: str
    format: LineFormat
    upload: str
    sha256: str
    size: int
    user_id: str
    author: str
    lines: int | None
    date_created: int
    date_read: int | None


class NewLine(msgspec.Struct, frozen=True):
    """A line with the pack that it makes, or with why it makes none."""

    number: int
    pack: NewPack | None
    error: dict[str, str] | None = None


class BatchLineState(msgspec.Struct, frozen=True):
    """`renders` are the newest of each document that failed; other lines have none here."""

    number: int
    pack_id: str | None
    title: str | None
    status: str
    error: dict[str, str] | None
    skipped: list[dict[str, Any]]
    renders: list[PackRender]


class BatchFile(msgspec.Struct, frozen=True):
    number: int
    title: str
    doc_id: str
    blob: BlobName
    size: int


def insert_batch(
    org_id: str, id: str, job_uid: str, format: LineFormat, draft: ArtifactDraft, *, user_id: str, author: str
) -> Work[Batch]:
    """In the transaction that submits its job."""
    moment = yield from now()
    yield from artifacts.record(draft, org_id=org_id or None, holder=upload_holder(id))
    fields = {"job_uid": job_uid, "format": format, "upload": draft.uid, "sha256": draft.sha256, "size": draft.size}
    place = {"id": id, "org_id": org_id, "user_id": user_id, "author": author, "now": moment}
    yield Statement("packs.insert_batch", place | fields)
    return (yield from get_batch(org_id, id))


def new_batch_id() -> str:
    return to_uuid(new_uid())


def upload_holder(id: str) -> str:
    return f"packs:batch:{id}"


def get_batch(org_id: str, id: str) -> Work[Batch]:
    """Raises BatchNotFound."""
    return _batch_of((yield Statement("packs.find_batch", {"id": id, "org_id": org_id})))


def find_batch_of_job(org_id: str, job_uid: str) -> Work[Batch]:
    return _batch_of((yield Statement("packs.find_batch_of_job", {"job_uid": job_uid, "org_id": org_id})))


def _batch_of(rows: Sequence[Row]) -> Batch:
    if not rows:
        raise BatchNotFound
    return Batch(*rows[0])


def list_batches(org_id: str, *, before: str, limit: int) -> Work[list[Batch]]:
    """Newest first."""
    rows = yield Statement("packs.list_batches", {"org_id": org_id, "before": before or packs.AFTER_ALL, "limit": limit})
    return [Batch(*row) for row in rows]


def set_job(id: str, job_uid: str) -> Work[None]:
    yield Statement("packs.set_batch_job", {"id": id, "job_uid": job_uid})


def set_lines(id: str, lines: int) -> Work[None]:
    yield Statement("packs.set_batch_lines", {"id": id, "lines": lines})


def set_read(id: str) -> Work[None]:
    moment = yield from now()
    yield Statement("packs.set_batch_read", {"id": id, "now": moment})


def insert_lines(org_id: str, id: str, lines: Sequence[NewLine]) -> Work[None]:
    """The packs of these lines, in one transaction with the lines: no line makes two."""
    for line in lines:
        pack = None
        if line.pack is not None:
            pack = (yield from packs.insert_pack(org_id, line.pack)).id
        error = None if line.error is None else compact(line.error)
        yield Statement("packs.insert_batch_line", {"batch": id, "number": line.number, "pack": pack, "error": error})


def last_line(id: str) -> Work[int]:
    """The number of the newest line that was taken in; 0 if none was."""
    ((number,),) = yield Statement("packs.find_last_batch_line", {"batch": id})
    return int(number)


def list_unrequested(id: str, after: int, limit: int) -> Work[list[tuple[int, str]]]:
    """Lines with their packs whose documents were not requested yet."""
    rows = yield Statement("packs.list_unrequested_lines", {"batch": id, "after": after, "limit": limit})
    return [(row[0], row[1]) for row in rows]


def list_to_retry(id: str, after: int, limit: int) -> Work[list[tuple[int, str]]]:
    """Failed lines that have packs."""
    rows = yield Statement("packs.list_lines_to_retry", {"batch": id, "after": after, "limit": limit})
    return [(row[0], row[1]) for row in rows]


def set_requested(id: str, number: int, skipped: list[dict[str, Any]], error: dict[str, str] | None) -> Work[None]:
    moment = yield from now()
    texts = {"skipped": compact(skipped), "error": None if error is None else compact(error)}
    yield Statement("packs.set_line_requested", {"batch": id, "number": number, "now": moment, **texts})


def count_lines(id: str) -> Work[dict[str, int]]:
    """Of those that were taken in, by status."""
    counts = {status: int(count) for status, count in (yield Statement("packs.count_batch_lines", {"batch": id}))}
    return {status: counts.get(status, 0) for status in LINE_STATUSES}


def read_progress(id: str, *, status: str, after: int, limit: int) -> Work[tuple[dict[str, int], list[BatchLineState]]]:
    """Counts and lines of one moment: counts that say that all is done never stand beside a line that is not."""
    counts = yield from count_lines(id)
    return counts, (yield from list_lines(id, status=status, after=after, limit=limit))


def list_lines(id: str, *, status: str = "", after: int = 0, limit: int = 100) -> Work[list[BatchLineState]]:
    place = {"batch": id, "status": status, "after": after, "limit": limit}
    found = []
    for number, pack, title, state, error, skipped in (yield Statement("packs.list_batch_lines", place)):
        failed: list[PackRender] = []
        if state == "failed" and pack is not None:
            newest = yield from packs.list_document_renders(pack)
            failed = [one.latest for one in newest.values() if one.latest.status == "failed"]
        told = None if error is None else json.loads(error)
        found.append(BatchLineState(number, pack, title, state, told, json.loads(skipped), failed))
    return found


def list_files(id: str, *, after: int, limit: int) -> Work[tuple[list[BatchFile], int | None]]:
    """The newest ready file of each document of the next lines, and the last of those lines; None if there are none."""
    place = {"batch": id, "after": after, "limit": limit}
    ((last,),) = yield Statement("packs.find_line_after", place)
    rows = yield Statement("packs.list_files_of_batch", place)
    return [BatchFile(row[0], row[1], row[2], BlobName(row[3], row[4]), row[5]) for row in rows], last


def any_purgeable_batch(older_than: int) -> Work[bool]:
    moment = yield from now()
    return bool((yield Statement("packs.list_old_batches", {"before": moment - older_than, "limit": 1})))


def purge_batches(older_than: int, limit: int) -> Work[int]:
    """Delete batches that were made more than `older_than` milliseconds ago, and release their uploads. Their packs stay."""
    moment = yield from now()
    rows = yield Statement("packs.list_old_batches", {"before": moment - older_than, "limit": limit})
    for (id,) in rows:
        yield from artifacts.release(upload_holder(id))
        yield Statement("packs.delete_batch", {"id": id})
    return len(rows)
