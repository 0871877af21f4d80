"""The values of the docs app: organisations, projects, builds, editions and their history."""

from enum import StrEnum
from typing import Any

import msgspec

MAIN = "__main"  # the slug of the edition that a project's address shows


class EditionKind(StrEnum):
    MAIN = "main"
    RELEASE = "release"
    DRAFT = "draft"
    MAJOR = "major"
    MINOR = "minor"
    ALTERNATE = "alternate"


class TrackingMode(StrEnum):
    """Which builds an edition follows."""

    GIT_REF = "git_ref"
    ALTERNATE_GIT_REF = "alternate_git_ref"
    LSST_DOC = "lsst_doc"
    EUPS_MAJOR_RELEASE = "eups_major_release"
    EUPS_WEEKLY_RELEASE = "eups_weekly_release"
    EUPS_DAILY_RELEASE = "eups_daily_release"
    SEMVER_RELEASE = "semver_release"
    SEMVER_MAJOR = "semver_major"
    SEMVER_MINOR = "semver_minor"
    MANUAL = "manual"  # moved by people only


class BuildStatus(StrEnum):
    PENDING = "pending"  # waits for its upload
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class PublishStatus(StrEnum):
    PENDING = "pending"
    PUBLISHING = "publishing"
    PUBLISHED = "published"
    FAILED = "failed"


class AutoCreate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which editions a build may create."""

    git_ref: bool = True  # of its ref
    semver: bool = True  # of the major and minor version of a release
    alternate: bool = True  # of its alternate name


class TrackingParams(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a tracking mode compares with. A mode uses some of them."""

    git_ref: str | None = None
    alternate_name: str | None = None
    major_version: int | None = None
    minor_version: int | None = None


class Org(msgspec.Struct, frozen=True, kw_only=True):
    """An organisation. Its slug is the `org_id` of its jobs and tokens."""

    slug: str
    title: str
    base_domain: str
    url_scheme: str  # "subdomain" or "path_prefix"
    root_path_prefix: str
    slug_rewrite_rules: list[dict[str, Any]]
    lifecycle_rules: list[dict[str, Any]]
    auto_create: AutoCreate
    default_edition: dict[str, Any] | None
    purgatory_retention: int  # seconds
    is_private: bool
    slots: dict[str, str]  # labels of services: publishing_store, staging_store, cdn_service
    date_created: int
    date_changed: int


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """None in a field means that the organisation's value holds."""

    id: str
    org: str
    slug: str
    title: str
    source_url: str
    git_url: str
    slug_rewrite_rules: list[dict[str, Any]] | None
    lifecycle_rules: list[dict[str, Any]] | None
    auto_create: AutoCreate | None
    purgatory_retention: int | None
    on_broken_links: str  # "warn", or "hold": editions stay where they are
    noindex: list[str]  # kinds of editions that search engines are asked to leave out
    last_number: int  # of its builds
    editions_version: int  # grows whenever an edition changes
    dashboard: str | None  # the artifact of the rendered dashboard
    dashboard_version: int  # the editions_version that it shows
    date_created: int
    date_changed: int
    date_deleted: int | None


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """One upload of a site. `number` is given when the upload is complete: it orders a project's builds without a clock."""

    uid: str
    project: str
    number: int | None
    git_ref: str
    alternate_name: str | None
    content_hash: str
    status: BuildStatus
    uploader: str
    annotations: dict[str, Any]
    artifact: str | None
    object_count: int | None
    total_size: int | None
    broken_links: int | None
    error: dict[str, Any] | None
    job_uid: str | None
    date_created: int
    date_uploaded: int | None
    date_completed: int | None
    date_deleted: int | None


class Edition(msgspec.Struct, frozen=True, kw_only=True):
    """A named place in a project that shows one of its builds."""

    id: str
    project: str
    slug: str
    title: str
    kind: EditionKind
    tracking_mode: TrackingMode
    tracking_params: TrackingParams
    lifecycle_exempt: bool
    pinned: bool  # builds do not move it
    build: str | None
    publish_status: PublishStatus | None  # None: nothing was published
    publish_seq: int  # grows with every move
    published_seq: int  # of the last move that is published outside the database too
    publish_error: str | None
    ref_missing_since: int | None
    date_created: int
    date_changed: int
    date_deleted: int | None


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An edition came to show a build. Entries are only appended; the one with the highest `seq` is the newest."""

    edition: str
    build: str
    seq: int
    trigger: str  # "build", "patch", "rollback" or "restore"
    actor: str
    job_uid: str | None
    publish_status: PublishStatus
    error: str | None
    date_created: int
