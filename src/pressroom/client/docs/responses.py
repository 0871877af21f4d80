"""What the service tells of documentation, as values. What is left out here is in the answer, and not decoded."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom.model import Status


class RemoteBuild(msgspec.Struct, frozen=True, kw_only=True):
    """`status` is pending, processing, completed or failed. `queue_url` is the job that processes it."""

    id: str
    git_ref: str
    status: str
    content_hash: str
    self_url: str
    queue_url: str | None = None
    published_url: str | None = None
    number: int | None = None
    alternate_name: str | None = None
    uploader: str = ""
    annotations: dict[str, Any] = {}
    object_count: int | None = None
    total_size_bytes: int | None = None
    broken_links: int | None = None
    error: dict[str, Any] | None = None
    date_created: datetime
    date_uploaded: datetime | None = None
    date_completed: datetime | None = None

    def __str__(self) -> str:
        return self.id


class RemoteAnnouncedBuild(RemoteBuild, frozen=True, kw_only=True):
    upload_url: str | None = None


class RemoteEdition(msgspec.Struct, frozen=True, kw_only=True):
    """`build` is the id of what it shows."""

    slug: str
    title: str
    kind: str
    tracking_mode: str
    tracking_params: dict[str, Any] = {}
    pinned: bool
    published_url: str
    self_url: str
    build: str | None = None
    publish_status: str | None = None
    publish_error: str | None = None
    queue_url: str | None = None
    date_created: datetime
    date_updated: datetime

    def __str__(self) -> str:
        return self.slug


class RemoteHistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An edition came to show a build. `position` 1 is the newest entry."""

    position: int
    seq: int
    build: str
    git_ref: str
    build_status: str
    build_deleted: bool
    trigger: str
    actor: str
    publish_status: str
    date_created: datetime


class RemoteQueueJob(msgspec.Struct, frozen=True, kw_only=True):
    """`progress` names the editions by what became of them. `errors` has the last error, and those of all attempts."""

    id: str
    kind: str
    status: Status
    phase: str | None = None
    progress: dict[str, Any] | None = None
    errors: dict[str, Any] | None = None
    project: str | None = None
    build: str | None = None
    date_created: datetime
    date_started: datetime | None = None
    date_completed: datetime | None = None

    def __str__(self) -> str:
        return self.id


class QueueReference(msgspec.Struct, frozen=True):
    """The answer to what becomes a job."""

    queue_url: str
