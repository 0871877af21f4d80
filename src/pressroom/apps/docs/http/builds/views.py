"""Builds, their files and their differences as HTTP shows them."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom.apps.docs.domain.comparison import ChangedFile, Comparison
from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.model import Build, BuildStatus
from pressroom.model import from_ms
from pressroom.store.artifacts.artifacts import ArtifactFile


class BuildView(msgspec.Struct, frozen=True, kw_only=True):
    """`queue_url` is the job that processes it. `published_url` shows the build itself, whatever editions show."""

    self_url: str
    project_url: str
    files_url: str
    problems_url: str
    queue_url: str | None
    published_url: str | None
    id: str
    number: int | None
    git_ref: str
    alternate_name: str | None
    content_hash: str
    status: BuildStatus
    uploader: str
    annotations: dict[str, Any]
    object_count: int | None
    total_size_bytes: int | None
    broken_links: int | None
    error: dict[str, Any] | None
    date_created: datetime
    date_uploaded: datetime | None
    date_completed: datetime | None


class AnnouncedBuildView(BuildView, frozen=True, kw_only=True):
    """`upload_url` is where the archive is to be PUT. Null: a completed build has the same content, and is the answer."""

    upload_url: str | None


class BuildDetailView(BuildView, frozen=True, kw_only=True):
    """`editions` are the slugs of those that show it."""

    editions: list[str]


class BuildChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`uploaded` is the one status that a caller may tell."""

    status: str


class BuildFileView(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    sha256: str
    media_type: str
    size: int


class ComparisonView(msgspec.Struct, frozen=True, kw_only=True):
    """Paths in order. `same` counts files that are equal."""

    self_url: str
    before: str
    after: str
    added: list[str]
    removed: list[str]
    changed: list[ChangedFile]
    same: int


class BuildPlace(msgspec.Struct, frozen=True):
    """Where a build is. `published` is where the project's builds are shown."""

    org: str
    project: str
    urls: ApiUrls
    published: str


def build_view(build: Build, place: BuildPlace) -> BuildView:
    return BuildView(**_fields(build, place))


def build_detail_view(build: Build, place: BuildPlace, editions: list[str]) -> BuildDetailView:
    return BuildDetailView(**_fields(build, place), editions=editions)


def announced_build_view(build: Build, place: BuildPlace, upload_url: str | None) -> AnnouncedBuildView:
    return AnnouncedBuildView(**_fields(build, place), upload_url=upload_url)


def file_view(file: ArtifactFile) -> BuildFileView:
    return BuildFileView(path=file.path, sha256=file.sha256, media_type=file.media_type, size=file.size)


def comparison_view(found: Comparison, before: str, after: str, self_url: str) -> ComparisonView:
    return ComparisonView(
        self_url=self_url,
        before=before,
        after=after,
        added=found.added,
        removed=found.removed,
        changed=found.changed,
        same=found.same,
    )


def _fields(build: Build, place: BuildPlace) -> dict[str, Any]:
    here = place.urls.build(place.org, place.project, build.uid)
    return {
        "self_url": here,
        "project_url": place.urls.project(place.org, place.project),
        "files_url": f"{here}/files",
        "problems_url": f"{here}/problems",
        "queue_url": None if build.job_uid is None else place.urls.job(build.job_uid),
        "published_url": f"{place.published}builds/{build.uid}/" if build.status is BuildStatus.COMPLETED else None,
        "id": build.uid,
        "number": build.number,
        "git_ref": build.git_ref,
        "alternate_name": build.alternate_name,
        "content_hash": build.content_hash,
        "status": build.status,
        "uploader": build.uploader,
        "annotations": build.annotations,
        "object_count": build.object_count,
        "total_size_bytes": build.total_size,
        "broken_links": build.broken_links,
        "error": build.error,
        "date_created": from_ms(build.date_created),
        "date_uploaded": None if build.date_uploaded is None else from_ms(build.date_uploaded),
        "date_completed": None if build.date_completed is None else from_ms(build.date_completed),
    }
