"""What operators of packs see over HTTP."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from pressroom.apps.packs.access import DocumentAccess, Overlay
from pressroom.apps.packs.admin.overlays import DocumentOverlays
from pressroom.apps.packs.admin.render_jobs import PackFigures, RenderJob
from pressroom.apps.packs.config.registry import ConfigProblem, RegistryEntry
from pressroom.apps.packs.config.versions import ConfigVersion
from pressroom.apps.packs.input_check import FieldUse
from pressroom.apps.packs.model import to_uuid
from pressroom.model import from_ms
from pressroom.web.line_diff import DiffLine


class ConfigVersionView(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    number: int
    status: str
    sha256: str
    problems: list[ConfigProblem]
    comment: str
    author: str
    created_at: datetime
    published_at: datetime | None


class ConfigTextView(ConfigVersionView, frozen=True, kw_only=True):
    body: str


class ConfigKeys(msgspec.Struct, frozen=True):
    """The newest version of each key. Another one may be published."""

    keys: list[ConfigVersionView]


class ConfigVersions(msgspec.Struct, frozen=True):
    """Newest first."""

    key: str
    published: int | None
    versions: list[ConfigVersionView]
    next_cursor: str | None


class DraftSent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`body` is a text, or the value itself of a key that is JSON."""

    body: str | list[Any] | dict[str, Any]
    comment: str = ""


class PublishedView(ConfigVersionView, frozen=True, kw_only=True):
    """`previous` is the version that was published before."""

    previous: int | None


class DiffLineView(msgspec.Struct, frozen=True):
    change: str  # gone, new, same or gap
    before: int | None
    after: int | None
    text: str


class ConfigDiff(msgspec.Struct, frozen=True, kw_only=True):
    """`lines` is null for texts that are too long to compare, and empty for equal ones."""

    key: str
    before: int
    after: int
    lines: list[DiffLineView] | None


class TemplateFields(msgspec.Struct, frozen=True, kw_only=True):
    """What a template, with those that it includes, reads: paths of the data and names of strings."""

    key: str
    number: int
    fields: list[FieldUse]
    strings: list[str]
    templates: list[str]


class RegistryDocumentView(msgspec.Struct, frozen=True, kw_only=True):
    """A document of the published registry. `title` and `access` are those for a pack without overlays of its own."""

    doc_id: str
    title: str
    description: str
    access: DocumentAccess
    entry: RegistryEntry
    overlays: list[Overlay]


class RegistryDocuments(msgspec.Struct, frozen=True):
    """`truncated`: there are more overlays than are shown; ask with `scope_id`."""

    documents: list[RegistryDocumentView]
    truncated: bool


class RenderJobView(msgspec.Struct, frozen=True, kw_only=True):
    """In the words of design 002."""

    job_id: str
    pack_id: str
    session_id: str
    doc_id: str
    version: int
    status: str
    attempts: int
    max_attempts: int
    last_error: str | None
    code: str | None
    file_id: str | None
    pages: int | None
    data_version: int
    config: dict[str, int]
    config_snapshot: str | None
    requested_by: str
    retry_of: str | None
    created_at: datetime
    settled_at: datetime | None


class RenderJobList(msgspec.Struct, frozen=True):
    items: list[RenderJobView]
    next_cursor: str | None


class RequeuedView(msgspec.Struct, frozen=True, kw_only=True):
    ok: bool
    job_id: str
    retry_of: str
    pack_id: str
    doc_id: str
    version: int


class PacksOverview(msgspec.Struct, frozen=True, kw_only=True):
    """`failed` counts documents whose newest render failed; `drafts` keys whose newest version is not published."""

    packs: int
    queued: int
    rendering: int
    failed: int
    oldest_open_at: datetime | None
    ready_last_day: int
    failed_last_day: int
    open_alerts: int
    documents: int
    drafts: int


def config_version_view(version: ConfigVersion) -> ConfigVersionView:
    return ConfigVersionView(**config_fields(version))


def config_fields(version: ConfigVersion) -> dict[str, Any]:
    published = version.date_published
    return {
        **{name: getattr(version, name) for name in ("key", "number", "status", "sha256", "problems", "comment", "author")},
        "created_at": from_ms(version.date_created),
        "published_at": None if published is None else from_ms(published),
    }


def config_diff(key: str, before: int, after: int, lines: Sequence[DiffLine] | None) -> ConfigDiff:
    shown = None if lines is None else [DiffLineView(*line) for line in lines]
    return ConfigDiff(key=key, before=before, after=after, lines=shown)


def registry_document_view(document: DocumentOverlays) -> RegistryDocumentView:
    effective = document.effective
    return RegistryDocumentView(
        doc_id=effective.doc_id,
        title=effective.title,
        description=effective.description,
        access=effective.access,
        entry=document.entry,
        overlays=list(document.overlays),
    )


def render_job_view(job: RenderJob) -> RenderJobView:
    render = job.render
    return RenderJobView(
        job_id=render.job_id,
        pack_id=render.pack,
        session_id=render.session_id,
        doc_id=render.doc_id,
        version=render.number,
        status=render.status,
        attempts=render.failed_attempts,
        max_attempts=render.max_attempts,
        last_error=render.last_error,
        code=None if render.error is None else render.error.get("code"),
        file_id=render.file_id,
        pages=render.pages,
        data_version=render.data_version,
        config=render.config,
        config_snapshot=None if render.snapshot is None else to_uuid(render.snapshot),
        requested_by=render.requested_by,
        retry_of=job.retry_of,
        created_at=from_ms(render.date_created),
        settled_at=None if render.date_settled is None else from_ms(render.date_settled),
    )


def overview_view(figures: PackFigures, *, documents: int, drafts: int) -> PacksOverview:
    fields = msgspec.structs.asdict(figures)
    oldest = fields.pop("oldest_open")
    return PacksOverview(
        **fields, oldest_open_at=None if oldest is None else from_ms(oldest), documents=documents, drafts=drafts
    )
