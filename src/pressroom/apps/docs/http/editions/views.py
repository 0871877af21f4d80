"""Editions and their history as HTTP shows them."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.model import (
    BuildStatus,
    Edition,
    EditionKind,
    Org,
    Project,
    PublishStatus,
    TrackingMode,
    TrackingParams,
)
from pressroom.apps.docs.store.editions import EditionHistoryLine
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.model import from_ms


class EditionView(msgspec.Struct, frozen=True, kw_only=True):
    """`build` is what it shows. `publish_status` is null before it shows anything."""

    self_url: str
    project_url: str
    history_url: str
    rollback_url: str
    build_url: str | None
    published_url: str
    slug: str
    title: str
    kind: EditionKind
    tracking_mode: TrackingMode
    tracking_params: TrackingParams
    lifecycle_exempt: bool
    pinned: bool
    build: str | None
    publish_status: PublishStatus | None
    publish_error: str | None
    ref_missing_since: datetime | None
    date_created: datetime
    date_updated: datetime


class MovedEditionView(EditionView, frozen=True, kw_only=True):
    """`queue_url` is the job that moves it."""

    queue_url: str


class HistoryView(msgspec.Struct, frozen=True, kw_only=True):
    """The edition came to show a build. `position` 1 is the newest entry; `seq` never changes."""

    position: int
    seq: int
    build_url: str
    build: str
    git_ref: str
    alternate_name: str | None
    number: int | None
    build_status: BuildStatus
    build_deleted: bool
    annotations: dict[str, Any]
    trigger: str
    actor: str
    queue_url: str | None
    publish_status: PublishStatus
    publish_error: str | None
    date_created: datetime


class EditionPlace(msgspec.Struct, frozen=True):
    org: Org
    project: Project
    urls: ApiUrls
    published: PublishedUrls

    def build_url(self, uid: str) -> str:
        return self.urls.build(self.org.slug, self.project.slug, uid)


def edition_view(edition: Edition, place: EditionPlace) -> EditionView:
    return EditionView(**_fields(edition, place))


def moved_edition_view(edition: Edition, place: EditionPlace, queue_url: str) -> MovedEditionView:
    return MovedEditionView(**_fields(edition, place), queue_url=queue_url)


def history_view(line: EditionHistoryLine, position: int, place: EditionPlace) -> HistoryView:
    entry = line.entry
    return HistoryView(
        position=position,
        seq=entry.seq,
        build_url=place.build_url(entry.build),
        build=entry.build,
        git_ref=line.git_ref,
        alternate_name=line.alternate_name,
        number=line.number,
        build_status=line.build_status,
        build_deleted=line.build_deleted,
        annotations=line.annotations,
        trigger=entry.trigger,
        actor=entry.actor,
        queue_url=None if entry.job_uid is None else place.urls.job(entry.job_uid),
        publish_status=entry.publish_status,
        publish_error=entry.error,
        date_created=from_ms(entry.date_created),
    )


def _fields(edition: Edition, place: EditionPlace) -> dict[str, Any]:
    org, project = place.org.slug, place.project.slug
    here = place.urls.edition(org, project, edition.slug)
    return {
        "self_url": here,
        "project_url": place.urls.project(org, project),
        "history_url": f"{here}/history",
        "rollback_url": f"{here}/rollback",
        "build_url": None if edition.build is None else place.build_url(edition.build),
        "published_url": place.published.edition(place.org, project, edition.slug),
        "slug": edition.slug,
        "title": edition.title,
        "kind": edition.kind,
        "tracking_mode": edition.tracking_mode,
        "tracking_params": edition.tracking_params,
        "lifecycle_exempt": edition.lifecycle_exempt,
        "pinned": edition.pinned,
        "build": edition.build,
        "publish_status": edition.publish_status,
        "publish_error": edition.publish_error,
        "ref_missing_since": None if edition.ref_missing_since is None else from_ms(edition.ref_missing_since),
        "date_created": from_ms(edition.date_created),
        "date_updated": from_ms(edition.date_changed),
    }
