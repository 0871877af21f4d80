"""Projects as HTTP shows them."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.model import AutoCreate, Org, Project
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.model import from_ms


class ProjectView(msgspec.Struct, frozen=True, kw_only=True):
    """Null for rules, `auto_create` and `purgatory_retention` means that the organisation's hold."""

    self_url: str
    org_url: str
    builds_url: str
    editions_url: str
    published_url: str
    dashboard_url: str
    id: str
    slug: str
    title: str
    source_url: str
    git_url: str
    slug_rewrite_rules: list[dict[str, Any]] | None
    lifecycle_rules: list[dict[str, Any]] | None
    auto_create: AutoCreate | None
    purgatory_retention: int | None
    on_broken_links: str
    noindex: list[str]
    date_created: datetime
    date_updated: datetime


def project_view(org: Org, project: Project, urls: ApiUrls, published: PublishedUrls) -> ProjectView:
    here = urls.project(org.slug, project.slug)
    return ProjectView(
        self_url=here,
        org_url=urls.org(org.slug),
        builds_url=f"{here}/builds",
        editions_url=f"{here}/editions",
        published_url=published.project(org, project.slug),
        dashboard_url=published.dashboard(org, project.slug),
        id=project.id,
        slug=project.slug,
        title=project.title,
        source_url=project.source_url,
        git_url=project.git_url,
        slug_rewrite_rules=project.slug_rewrite_rules,
        lifecycle_rules=project.lifecycle_rules,
        auto_create=project.auto_create,
        purgatory_retention=project.purgatory_retention,
        on_broken_links=project.on_broken_links,
        noindex=project.noindex,
        date_created=from_ms(project.date_created),
        date_updated=from_ms(project.date_changed),
    )
