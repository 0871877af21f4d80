"""What programs read of a project's editions: the version switcher of themes, and `_docverse.json`."""

from collections.abc import Collection
from typing import Any

import msgspec

from pressroom.apps.docs.dashboards.context import build_data, edition_data
from pressroom.apps.docs.dashboards.ordering import group_editions, newest_version_first
from pressroom.apps.docs.domain.versions import version_text
from pressroom.apps.docs.model import MAIN, Edition, EditionKind
from pressroom.apps.docs.store.dashboards import DashboardFacts
from pressroom.apps.docs.urls import PublishedUrls

SWITCHER_KINDS = (EditionKind.MAIN, EditionKind.RELEASE, EditionKind.MAJOR, EditionKind.ALTERNATE)


def switcher(facts: DashboardFacts, urls: PublishedUrls, kinds: Collection[str] = SWITCHER_KINDS) -> list[dict[str, Any]]:
    """In the shape of pydata-sphinx-theme: `__main` first, alternates by title, the rest with the newest version first.

    Main and alternates are preferred: a reader of another edition is told where these are. `version` is the slug; for `__main`
    it is the release that it shows, if it shows one, because the theme compares it with the release of the page.
    """
    groups = group_editions(facts.editions, facts.builds)
    main = [groups.main] if groups.main is not None and groups.main.build in facts.builds else []
    versions = newest_version_first([*groups.releases, *groups.major, *groups.minor, *groups.drafts], facts.builds)
    shown = [edition for edition in [*main, *groups.alternates, *versions] if str(edition.kind) in kinds]
    return [_switcher_entry(edition, facts, urls) for edition in shown]


def _switcher_entry(edition: Edition, facts: DashboardFacts, urls: PublishedUrls) -> dict[str, Any]:
    build = facts.builds.get(edition.build or "")
    entry: dict[str, Any] = {
        "name": edition.title or edition.slug,
        "version": switcher_version(edition.slug, build.git_ref if build else None),
        "url": urls.edition(facts.org, facts.project.slug, edition.slug),
    }
    if edition.kind in (EditionKind.MAIN, EditionKind.ALTERNATE):
        entry["preferred"] = True
    return entry


def switcher_version(slug: str, git_ref: str | None) -> str:
    return version_text(git_ref or "") or slug if slug == MAIN else slug


def edition_metadata(edition: Edition, facts: DashboardFacts, urls: PublishedUrls) -> dict[str, Any]:
    """`is_canonical` only for `__main`, whose address is that of every page's canonical version."""
    org, project = facts.org, facts.project
    build = facts.builds.get(edition.build or "")
    shown = edition_data(edition, facts, urls)
    return {
        "org": {"slug": org.slug, "title": org.title or org.slug},
        "project": {
            "slug": project.slug,
            "title": project.title or project.slug,
            "url": urls.project(org, project.slug),
            "source_url": project.source_url,
        },
        "edition": {
            name: shown[name] for name in ("slug", "title", "kind", "url", "tracking_mode", "date_created", "date_updated")
        },
        "build": None if build is None else build_data(build, facts, urls),
        "is_canonical": edition.slug == MAIN,
        "canonical_url": urls.project(org, project.slug),
        "dashboard_url": urls.dashboard(org, project.slug),
        "switcher_url": f"{urls.dashboard(org, project.slug)}switcher.json",
    }


def metadata_files(facts: DashboardFacts, urls: PublishedUrls, kinds: Collection[str]) -> dict[str, bytes]:
    """By the name under which they are kept."""
    files = {"__switcher.json": _encoded(switcher(facts, urls, kinds))}
    for edition in facts.editions:
        if edition.build in facts.builds:
            files[f"__editions/{edition.slug}.json"] = _encoded(edition_metadata(edition, facts, urls))
    return files


def _encoded(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1)
