"""What was deleted, as HTTP shows it."""

from datetime import datetime

import msgspec

from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.store.purgatory import PurgatoryEntry
from pressroom.model import from_ms


class PurgatoryView(msgspec.Struct, frozen=True, kw_only=True):
    """`what` is project, edition or build. `objects` and `bytes` are those of its files, as they were uploaded."""

    restore_url: str
    org_url: str
    id: str
    what: str
    name: str
    project: str
    reason: str
    actor: str
    objects: int
    bytes: int
    date_deleted: datetime
    purge_after: datetime


def purgatory_view(entry: PurgatoryEntry, project: str, urls: ApiUrls) -> PurgatoryView:
    """`project` is a slug."""
    return PurgatoryView(
        restore_url=f"{urls.purgatory(entry.org, entry.id)}/restore",
        org_url=urls.org(entry.org),
        id=entry.id,
        what=entry.what,
        name=entry.name,
        project=project,
        reason=entry.reason,
        actor=entry.actor,
        objects=entry.objects,
        bytes=entry.bytes,
        date_deleted=from_ms(entry.date_entered),
        purge_after=from_ms(entry.purge_after),
    )
