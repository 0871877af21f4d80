"""Organisations as HTTP shows them."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom.apps.docs.http.api_urls import ApiUrls
from pressroom.apps.docs.model import AutoCreate, Org
from pressroom.model import from_ms


class OrgView(msgspec.Struct, frozen=True, kw_only=True):
    self_url: str
    projects_url: str
    members_url: str
    purgatory_url: str
    slug: str
    title: str
    base_domain: str
    url_scheme: str
    root_path_prefix: str
    slug_rewrite_rules: list[dict[str, Any]]
    lifecycle_rules: list[dict[str, Any]]
    auto_create: AutoCreate
    default_edition_config: dict[str, Any] | None
    purgatory_retention: int
    is_private: bool
    slots: dict[str, str]
    date_created: datetime
    date_updated: datetime


class SlugQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`project` is a slug; without it, the rules of the organisation alone are asked."""

    git_ref: str
    project: str | None = None
    alternate_name: str | None = None


def org_view(org: Org, urls: ApiUrls) -> OrgView:
    here = urls.org(org.slug)
    return OrgView(
        self_url=here,
        projects_url=f"{here}/projects",
        members_url=f"{here}/members",
        purgatory_url=f"{here}/purgatory",
        slug=org.slug,
        title=org.title,
        base_domain=org.base_domain,
        url_scheme=org.url_scheme,
        root_path_prefix=org.root_path_prefix,
        slug_rewrite_rules=org.slug_rewrite_rules,
        lifecycle_rules=org.lifecycle_rules,
        auto_create=org.auto_create,
        default_edition_config=org.default_edition,
        purgatory_retention=org.purgatory_retention,
        is_private=org.is_private,
        slots=org.slots,
        date_created=from_ms(org.date_created),
        date_updated=from_ms(org.date_changed),
    )
