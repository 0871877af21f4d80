"""Rows of the docs app into values, and values into parameters."""

import json
from typing import Any

import msgspec

from pressroom.apps.docs.model import (
    AutoCreate,
    Build,
    BuildStatus,
    Edition,
    EditionKind,
    Org,
    Project,
    PublishStatus,
    TrackingMode,
    TrackingParams,
)
from pressroom.model import Row


def org_of_row(row: Row) -> Org:
    # fmt: off
    (slug, title, base_domain, url_scheme, root_path_prefix, rewrite_rules, lifecycle_rules, auto_create, default_edition,
     purgatory_retention, is_private, slots, created, changed) = row
    # fmt: on
    return Org(
        slug=slug,
        title=title,
        base_domain=base_domain,
        url_scheme=url_scheme,
        root_path_prefix=root_path_prefix,
        slug_rewrite_rules=json.loads(rewrite_rules),
        lifecycle_rules=json.loads(lifecycle_rules),
        auto_create=_auto_create_of(auto_create),
        default_edition=_loads(default_edition),
        purgatory_retention=purgatory_retention,
        is_private=bool(is_private),
        slots=json.loads(slots),
        date_created=created,
        date_changed=changed,
    )


def project_of_row(row: Row) -> Project:
    # fmt: off
    (id, org, slug, title, source_url, git_url, rewrite_rules, lifecycle_rules, auto_create, purgatory_retention,
     on_broken_links, noindex, last_number, editions_version, dashboard, dashboard_version, created, changed, deleted) = row
    # fmt: on
    return Project(
        id=id,
        org=org,
        slug=slug,
        title=title,
        source_url=source_url,
        git_url=git_url,
        slug_rewrite_rules=_loads(rewrite_rules),
        lifecycle_rules=_loads(lifecycle_rules),
        auto_create=None if auto_create is None else _auto_create_of(auto_create),
        purgatory_retention=purgatory_retention,
        on_broken_links=on_broken_links,
        noindex=json.loads(noindex),
        last_number=last_number,
        editions_version=editions_version,
        dashboard=dashboard,
        dashboard_version=dashboard_version,
        date_created=created,
        date_changed=changed,
        date_deleted=deleted,
    )


def build_of_row(row: Row) -> Build:
    # fmt: off
    (uid, project, number, git_ref, alternate_name, content_hash, status, uploader, annotations, artifact, object_count,
     total_size, broken_links, error, job_uid, created, uploaded, completed, deleted) = row
    # fmt: on
    return Build(
        uid=uid,
        project=project,
        number=number,
        git_ref=git_ref,
        alternate_name=alternate_name,
        content_hash=content_hash,
        status=BuildStatus(status),
        uploader=uploader,
        annotations=json.loads(annotations),
        artifact=artifact,
        object_count=object_count,
        total_size=total_size,
        broken_links=broken_links,
        error=_loads(error),
        job_uid=job_uid,
        date_created=created,
        date_uploaded=uploaded,
        date_completed=completed,
        date_deleted=deleted,
    )


def edition_of_row(row: Row) -> Edition:
    # fmt: off
    (id, project, slug, title, kind, tracking_mode, tracking_params, lifecycle_exempt, pinned, build, publish_status,
     publish_seq, published_seq, publish_error, ref_missing_since, created, changed, deleted) = row
    # fmt: on
    return Edition(
        id=id,
        project=project,
        slug=slug,
        title=title,
        kind=EditionKind(kind),
        tracking_mode=TrackingMode(tracking_mode),
        tracking_params=msgspec.json.decode(tracking_params, type=TrackingParams),
        lifecycle_exempt=bool(lifecycle_exempt),
        pinned=bool(pinned),
        build=build,
        publish_status=None if publish_status is None else PublishStatus(publish_status),
        publish_seq=publish_seq,
        published_seq=published_seq,
        publish_error=publish_error,
        ref_missing_since=ref_missing_since,
        date_created=created,
        date_changed=changed,
        date_deleted=deleted,
    )


def encoded(value: Any) -> str | None:
    """A value for a column that holds JSON; None stays NULL."""
    return None if value is None else msgspec.json.encode(value).decode()


def _auto_create_of(text: str) -> AutoCreate:
    return msgspec.json.decode(text, type=AutoCreate)


def _loads(text: str | None) -> Any:
    return None if text is None else json.loads(text)
