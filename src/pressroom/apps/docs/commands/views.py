"""What `--json` prints: the fields of the HTTP interface, without its addresses."""

from typing import Any

import msgspec

from pressroom.apps.docs.model import Build, Edition, Org, Project
from pressroom.apps.docs.store.editions import EditionHistoryLine
from pressroom.apps.docs.store.purgatory import PurgatoryEntry
from pressroom.model import from_ms


def org_fields(org: Org) -> dict[str, Any]:
    fields = msgspec.structs.asdict(org)
    fields["default_edition_config"] = fields.pop("default_edition")
    return _with_dates(fields)


def project_fields(project: Project) -> dict[str, Any]:
    fields = msgspec.structs.asdict(project)
    for name in ("id", "last_number", "dashboard", "dashboard_version", "editions_version", "date_deleted"):
        del fields[name]
    return _with_dates(fields)


def build_fields(build: Build) -> dict[str, Any]:
    return {
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
        "job": build.job_uid,
        "date_created": from_ms(build.date_created),
        "date_uploaded": None if build.date_uploaded is None else from_ms(build.date_uploaded),
        "date_completed": None if build.date_completed is None else from_ms(build.date_completed),
    }


def edition_fields(edition: Edition, published_url: str) -> dict[str, Any]:
    return {
        "slug": edition.slug,
        "title": edition.title,
        "kind": edition.kind,
        "tracking_mode": edition.tracking_mode,
        "tracking_params": msgspec.to_builtins(edition.tracking_params),
        "lifecycle_exempt": edition.lifecycle_exempt,
        "pinned": edition.pinned,
        "build": edition.build,
        "publish_status": edition.publish_status,
        "publish_error": edition.publish_error,
        "ref_missing_since": None if edition.ref_missing_since is None else from_ms(edition.ref_missing_since),
        "published_url": published_url,
        "date_created": from_ms(edition.date_created),
        "date_updated": from_ms(edition.date_changed),
    }


def history_fields(line: EditionHistoryLine, position: int) -> dict[str, Any]:
    entry = line.entry
    return {
        "position": position,
        "seq": entry.seq,
        "build": entry.build,
        "git_ref": line.git_ref,
        "alternate_name": line.alternate_name,
        "number": line.number,
        "build_status": line.build_status,
        "build_deleted": line.build_deleted,
        "annotations": line.annotations,
        "trigger": entry.trigger,
        "actor": entry.actor,
        "job": entry.job_uid,
        "publish_status": entry.publish_status,
        "publish_error": entry.error,
        "date_created": from_ms(entry.date_created),
    }


def purgatory_fields(entry: PurgatoryEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "what": entry.what,
        "name": entry.name,
        "reason": entry.reason,
        "actor": entry.actor,
        "object_count": entry.objects,
        "total_size_bytes": entry.bytes,
        "date_entered": from_ms(entry.date_entered),
        "date_purged": from_ms(entry.purge_after),
    }


def _with_dates(fields: dict[str, Any]) -> dict[str, Any]:
    fields["date_created"] = from_ms(fields["date_created"])
    fields["date_updated"] = from_ms(fields.pop("date_changed"))
    return fields


def format_size(size: int | None) -> str:
    if size is None:
        return ""
    amount = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
