"""What templates of dashboards can show: plain data."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from pressroom.apps.docs.dashboards.ordering import group_editions, version_of
from pressroom.apps.docs.model import MAIN, Build, Edition
from pressroom.apps.docs.store.dashboards import DashboardFacts
from pressroom.apps.docs.urls import PublishedUrls


class RenderingService(msgspec.Struct, frozen=True):
    """The service that renders: where its API is, and its version."""

    api_url: str
    version: str


def dashboard_context(facts: DashboardFacts, urls: PublishedUrls, service: RenderingService, now: int) -> dict[str, Any]:
    """`href` of an edition is relative to the dashboard's own address; every `url` is absolute."""
    org, project = facts.org, facts.project
    groups = group_editions(facts.editions, facts.builds)

    def shown(editions: Sequence[Edition]) -> list[dict[str, Any]]:
        return [edition_data(edition, facts, urls) for edition in editions]

    return {
        "org": {"slug": org.slug, "title": org.title or org.slug},
        "project": {
            "slug": project.slug,
            "title": project.title or project.slug,
            "source_url": project.source_url if project.source_url.startswith(("https://", "http://")) else "",
            "published_url": urls.project(org, project.slug),
            "dashboard_url": urls.dashboard(org, project.slug),
            "date_created": moment_text(project.date_created),
        },
        "editions": {
            "main": None if groups.main is None else edition_data(groups.main, facts, urls),
            "releases": shown(groups.releases),
            "drafts": shown(groups.drafts),
            "major": shown(groups.major),
            "minor": shown(groups.minor),
            "alternates": shown(groups.alternates),
        },
        "docverse": {"api_url": service.api_url, "version": service.version},
        "rendered_at": moment_text(now),
    }


def edition_data(edition: Edition, facts: DashboardFacts, urls: PublishedUrls) -> dict[str, Any]:
    build = facts.builds.get(edition.build or "")
    version = None if build is None else version_of(edition, facts.builds)
    url = urls.edition(facts.org, facts.project.slug, edition.slug)
    return {
        "slug": edition.slug,
        "title": edition.title or edition.slug,
        "kind": str(edition.kind),
        "url": url,
        "published_url": url,
        "href": "../" if edition.slug == MAIN else f"{edition.slug}/",
        "tracking_mode": str(edition.tracking_mode),
        "tracking_params": msgspec.to_builtins(edition.tracking_params),
        "git_ref": None if build is None else build.git_ref,
        "alternate_name": edition.tracking_params.alternate_name,
        "is_stable": version is not None and version.is_stable,
        "lifecycle_exempt": edition.lifecycle_exempt,
        "pinned": edition.pinned,
        "ref_missing_since": moment_text(edition.ref_missing_since),
        "date_created": moment_text(edition.date_created),
        "date_updated": moment_text(edition.date_changed),
        "build": None if build is None else build_data(build, facts, urls),
    }


def build_data(build: Build, facts: DashboardFacts, urls: PublishedUrls) -> dict[str, Any]:
    commit = build.annotations.get("commit_sha")
    return {
        "id": build.uid,
        "number": build.number,
        "url": urls.build(facts.org, facts.project.slug, build.uid),
        "git_ref": build.git_ref,
        "alternate_name": build.alternate_name,
        "commit_sha": commit if isinstance(commit, str) else "",
        "annotations": build.annotations,
        "object_count": build.object_count,
        "total_size_bytes": build.total_size,
        "date_created": moment_text(build.date_created),
        "date_uploaded": moment_text(build.date_uploaded),
        "date_completed": moment_text(build.date_completed),
    }


def moment_text(milliseconds: int | None) -> str | None:
    """ISO 8601 in UTC, to the second."""
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds // 1000, UTC).isoformat().replace("+00:00", "Z")
