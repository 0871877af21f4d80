"""Packs and their documents as HTTP shows them, in the words of design 002."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from pressroom.api.views import JobView
from pressroom.apps.packs.access import DocumentAccess
from pressroom.apps.packs.model import Pack, PackDraft, PackRender, to_uuid
from pressroom.apps.packs.planning import ListedDocument, RenderAnswer, SkippedDocument
from pressroom.apps.packs.settings import PacksSettings
from pressroom.apps.packs.store import DataVersion, PackSummary, UserFile
from pressroom.model import Job, Status, from_ms

_WORDS = {
    Status.QUEUED: "queued",
    Status.IN_PROGRESS: "rendering",
    Status.COMPLETED: "ready",
    Status.COMPLETED_WITH_ERRORS: "ready",
    Status.FAILED: "failed",
    Status.CANCELLED: "failed",
}


class PackView(msgspec.Struct, frozen=True, kw_only=True):
    pack_id: str
    session_id: str
    user: str
    title: str
    lang: str
    data_version: int
    has_link: bool
    link_expires_at: datetime | None
    documents_url: str
    created_at: datetime
    changed_at: datetime


class PackDetailView(PackView, frozen=True, kw_only=True):
    data: dict[str, Any]
    data_versions: list["DataVersionView"]


class PackListItem(PackView, frozen=True, kw_only=True):
    """`states` counts the documents that were ever requested, by the status of their newest render."""

    states: dict[str, int]


class PackList(msgspec.Struct, frozen=True):
    items: list[PackListItem]
    next_cursor: str | None


class UserFileView(msgspec.Struct, frozen=True):
    file_id: str
    pack_id: str
    doc_id: str
    version: int
    pages: int | None
    size: int
    created_at: datetime


class UserFilesView(msgspec.Struct, frozen=True):
    files: list[UserFileView]


class UserDocumentsView(msgspec.Struct, frozen=True):
    packs: list["DocumentsView"]


class DataVersionView(msgspec.Struct, frozen=True):
    number: int
    sha256: str
    author: str
    created_at: datetime


class DataSent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    data: dict[str, Any]


class LinkView(msgspec.Struct, frozen=True):
    """The link is shown this once."""

    link: str
    library_url: str
    expires_at: datetime | None


class RequestedJobView(msgspec.Struct, frozen=True):
    doc_id: str
    job_id: str
    version: int


class PackRenderView(msgspec.Struct, frozen=True, kw_only=True):
    ok: bool
    pack_id: str
    jobs_created: int
    jobs_skipped: int
    jobs: list[RequestedJobView]
    skipped: list[SkippedDocument]
    config_snapshot: str | None


class DocumentRenderView(msgspec.Struct, frozen=True, kw_only=True):
    ok: bool
    pack_id: str
    doc_id: str
    job_id: str
    version: int


class GoodFileView(msgspec.Struct, frozen=True):
    version: int
    file_id: str | None
    pages: int | None
    created_at: datetime


class DocumentView(msgspec.Struct, frozen=True, kw_only=True):
    """`file_id` is that of the newest render, if it is ready; `good` is the newest ready one, whatever came after it."""

    doc_id: str
    title: str
    description: str
    status: str
    file_id: str | None
    attempts: int
    max_attempts: int | None
    last_error: str | None
    next_attempt_at: datetime | None
    version: int | None
    pages: int | None
    outdated: bool
    job_id: str | None
    good: GoodFileView | None
    access: DocumentAccess


class DocumentsView(msgspec.Struct, frozen=True):
    pack_id: str
    documents: list[DocumentView]


class RenderView(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a document."""

    version: int
    status: str
    job_id: str
    file_id: str | None
    pages: int | None
    size: int | None
    sha256: str | None
    attempts: int
    max_attempts: int
    last_error: str | None
    code: str | None
    data_version: int
    config: dict[str, int]
    config_snapshot: str | None
    requested_by: str
    created_at: datetime
    settled_at: datetime | None


class RendersView(msgspec.Struct, frozen=True):
    pack_id: str
    doc_id: str
    versions: list[RenderView]


class FileLink(msgspec.Struct, frozen=True):
    url: str
    expires_in_sec: int


class PackJobView(msgspec.Struct, frozen=True, kw_only=True):
    """A job in the words of design 002."""

    job_id: str
    pack_id: str | None
    session_id: str | None
    doc_id: str | None
    status: str
    attempts: int
    max_attempts: int
    last_error: str | None
    file_id: str | None
    created_at: datetime
    updated_at: datetime
    job: JobView


def pack_view(pack: Pack, base_url: str) -> PackView:
    return PackView(**_pack_fields(pack, base_url))


def pack_detail_view(pack: Pack, base_url: str, data: dict[str, Any], versions: list[DataVersion]) -> PackDetailView:
    shown = [DataVersionView(one.number, one.sha256, one.author, from_ms(one.date_created)) for one in versions]
    return PackDetailView(**_pack_fields(pack, base_url), data=data, data_versions=shown)


def pack_list(found: Sequence[PackSummary], cursor: str | None, base_url: str) -> PackList:
    return PackList([PackListItem(**_pack_fields(one.pack, base_url), states=one.states) for one in found], cursor)


def user_file_view(file: UserFile) -> UserFileView:
    return UserFileView(
        file.file_id, file.pack_id, file.doc_id, file.version, file.pages, file.size, from_ms(file.date_settled)
    )


def _pack_fields(pack: Pack, base_url: str) -> dict[str, Any]:
    return {
        "pack_id": pack.id,
        "session_id": pack.session_id,
        "user": pack.user_id,
        "title": pack.title,
        "lang": pack.lang,
        "data_version": pack.data_version,
        "has_link": pack.link_digest is not None,
        "link_expires_at": None if pack.link_expires_at is None else from_ms(pack.link_expires_at),
        "documents_url": f"{base_url}/packs/{pack.id}/documents",
        "created_at": from_ms(pack.date_created),
        "changed_at": from_ms(pack.date_changed),
    }


def render_answer_view(answer: RenderAnswer) -> PackRenderView:
    jobs = [RequestedJobView(one.doc_id, to_uuid(one.job_uid), one.number) for one in answer.jobs]
    return PackRenderView(
        ok=True,
        pack_id=answer.pack.id,
        jobs_created=len(jobs),
        jobs_skipped=len(answer.skipped),
        jobs=jobs,
        skipped=answer.skipped,
        config_snapshot=None if answer.snapshot is None else to_uuid(answer.snapshot),
    )


def document_view(listed: ListedDocument, settings: PacksSettings, *, for_holder: bool = False) -> DocumentView:
    """A holder of the pack's link is told no errors: they name templates and fields of the data."""
    document, latest = listed.document, listed.renders.latest if listed.renders else None
    good = listed.renders.good if listed.renders else None
    never = "queued" if settings.compat else "not_requested"
    waits = latest is not None and latest.status == "queued" and latest.failed_attempts
    return DocumentView(
        doc_id=document.doc_id,
        title=document.title,
        description=document.description,
        status=latest.status if latest else never,
        file_id=latest.file_id if latest else None,
        attempts=latest.failed_attempts if latest else 0,
        max_attempts=latest.max_attempts if latest else None,
        last_error=latest.last_error if latest and not for_holder else None,
        next_attempt_at=from_ms(latest.job_run_at) if latest and waits and latest.job_run_at is not None else None,
        version=latest.number if latest else None,
        pages=latest.pages if latest else None,
        outdated=listed.outdated,
        job_id=latest.job_id if latest else None,
        good=None if good is None else _good_view(good),
        access=document.access,
    )


def _good_view(render: PackRender) -> GoodFileView:
    return GoodFileView(render.number, render.file_id, render.pages, from_ms(render.date_settled or render.date_created))


def render_view(render: PackRender, *, for_holder: bool = False) -> RenderView:
    """A holder of the pack's link is told neither errors nor what it was made from, nor for whom."""
    code = None if render.error is None else render.error.get("code")
    snapshot = None if render.snapshot is None else to_uuid(render.snapshot)
    return RenderView(
        version=render.number,
        status=render.status,
        job_id=render.job_id,
        file_id=render.file_id,
        pages=render.pages,
        size=render.size,
        sha256=render.sha256,
        attempts=render.failed_attempts,
        max_attempts=render.max_attempts,
        last_error=None if for_holder else render.last_error,
        code=None if for_holder else code,
        data_version=render.data_version,
        config={} if for_holder else render.config,
        config_snapshot=None if for_holder else snapshot,
        requested_by="" if for_holder else render.requested_by,
        created_at=from_ms(render.date_created),
        settled_at=None if render.date_settled is None else from_ms(render.date_settled),
    )


async def format_job(job: Job, shown: JobView) -> PackJobView:
    payload = job.payload if isinstance(job.payload, Mapping) else {}
    result = job.result if isinstance(job.result, Mapping) else {}
    return PackJobView(
        job_id=to_uuid(job.uid),
        pack_id=payload.get("pack_id"),
        session_id=payload.get("session_id"),
        doc_id=payload.get("doc_id"),
        status=_WORDS[job.status],
        attempts=job.failures,
        max_attempts=job.max_attempts,
        last_error=job.last_error,
        file_id=to_uuid(result["artifact"]) if "artifact" in result else None,
        created_at=job.date_created,
        updated_at=job.date_completed or job.date_started or job.date_created,
        job=shown,
    )


EXAMPLE_DRAFT = PackDraft(
    data={"person": {"name": "Anna Example"}, "start": "2027-01-01"},
    title="Anna Example",
    session_id="s-81",
    user="u-17",
    lang="de",
)
