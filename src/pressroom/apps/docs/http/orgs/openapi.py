"""What the OpenAPI document says of organisations."""

from typing import Any

from pressroom.api.schema import IDEMPOTENCY_KEY, json_body
from pressroom.apps.docs.domain.slugs import SlugPreview
from pressroom.apps.docs.http.openapi import AT, DELETED, NOT_CHANGED, ORG_URL, collection_of, created_one, one, operation
from pressroom.apps.docs.http.orgs.views import OrgView, SlugQuestion
from pressroom.apps.docs.http.request_parts import IF_NONE_MATCH, LIMIT, ORG, SLUG_CURSOR
from pressroom.apps.docs.requests import OrgChanges, OrgDraft

_ORG: dict[str, Any] = {
    "self_url": ORG_URL,
    "projects_url": f"{ORG_URL}/projects",
    "members_url": f"{ORG_URL}/members",
    "purgatory_url": f"{ORG_URL}/purgatory",
    "slug": "acme",
    "title": "Acme",
    "base_domain": "docs.example.org",
    "url_scheme": "subdomain",
    "root_path_prefix": "/",
    "slug_rewrite_rules": [{"type": "prefix_strip", "prefix": "tickets/", "edition_kind": "draft"}],
    "lifecycle_rules": [{"type": "draft_inactivity", "max_days_inactive": 30}],
    "auto_create": {"git_ref": True, "semver": True, "alternate": True},
    "default_edition_config": None,
    "purgatory_retention": 2_592_000,
    "is_private": False,
    "slots": {},
    "date_created": AT,
    "date_updated": AT,
}
_DRAFT = {"slug": "acme", "title": "Acme", "base_domain": "docs.example.org", "url_scheme": "subdomain"}
_QUESTION = {"git_ref": "tickets/DM-1234"}
_PREVIEW = {
    "git_ref": "tickets/DM-1234",
    "edition_slug": "DM-1234",
    "edition_kind": "draft",
    "matched_rule": {"type": "prefix_strip", "prefix": "tickets/", "edition_kind": "draft", "index": 0},
    "rule_source": "org",
    "problem": None,
}

LIST_ORGS = operation(
    collection_of(OrgView, "The organisations that the caller may see, by slug", _ORG),
    422,
    parameters=[LIMIT, SLUG_CURSOR],
)
CREATE_ORG = operation(
    created_one(OrgView, "The organisation", _ORG),
    *(400, 409, 422),
    **json_body(OrgDraft, "The organisation", example=_DRAFT),
    parameters=[IDEMPOTENCY_KEY],
)
GET_ORG = operation(one(OrgView, "The organisation", _ORG) | NOT_CHANGED, parameters=[ORG, IF_NONE_MATCH])
CHANGE_ORG = operation(
    one(OrgView, "The organisation as it is now", _ORG),
    *(409, 422),
    **json_body(OrgChanges, "What changes; the rest stays", example={"title": "Acme"}),
    parameters=[ORG],
)
DELETE_ORG = operation(DELETED, 409, parameters=[ORG])
PREVIEW_SLUG = operation(
    one(SlugPreview, "The edition that a build of this ref would make", _PREVIEW),
    422,
    **json_body(SlugQuestion, "The ref", example=_QUESTION),
    parameters=[ORG],
)
