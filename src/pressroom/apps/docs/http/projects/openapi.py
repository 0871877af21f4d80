"""What the OpenAPI document says of projects."""

from typing import Any

from pressroom.api.schema import IDEMPOTENCY_KEY, json_body, query
from pressroom.apps.docs.http.openapi import (
    ACCEPTED,
    ACCEPTED_JOB,
    AT,
    NOT_CHANGED,
    ORG_URL,
    PROJECT_URL,
    accepted_one,
    collection_of,
    created_one,
    one,
    operation,
)
from pressroom.apps.docs.http.projects.views import ProjectView
from pressroom.apps.docs.http.replies import AcceptedJob
from pressroom.apps.docs.http.request_parts import IF_NONE_MATCH, LIMIT, ORG, PROJECT, SLUG_CURSOR
from pressroom.apps.docs.requests import ProjectChanges, ProjectDraft

ORDERS = ("slug", "date_created")
_PROJECT: dict[str, Any] = {
    "self_url": PROJECT_URL,
    "org_url": ORG_URL,
    "builds_url": f"{PROJECT_URL}/builds",
    "editions_url": f"{PROJECT_URL}/editions",
    "published_url": "https://guide.docs.example.org/",
    "dashboard_url": "https://guide.docs.example.org/v/",
    "id": "01KAD3TZ5D1G8K4M7P0R3V6Y9B",
    "slug": "guide",
    "title": "The guide",
    "source_url": "https://git.example.org/acme/guide",
    "git_url": "https://git.example.org/acme/guide.git",
    "slug_rewrite_rules": None,
    "lifecycle_rules": None,
    "auto_create": None,
    "purgatory_retention": None,
    "on_broken_links": "warn",
    "noindex": ["draft"],
    "date_created": AT,
    "date_updated": AT,
}
_DRAFT = {"slug": "guide", "title": "The guide", "git_url": "https://git.example.org/acme/guide.git"}

LIST_PROJECTS = operation(
    collection_of(ProjectView, "The projects of the organisation", _PROJECT),
    422,
    parameters=[
        ORG,
        query("q", {"type": "string"}, "What the slug or the title contains"),
        query("order", {"enum": [*ORDERS], "default": ORDERS[0]}, "By slug, or those that were created last first"),
        LIMIT,
        SLUG_CURSOR,
    ],
)
CREATE_PROJECT = operation(
    created_one(ProjectView, "The project, with its edition `__main`", _PROJECT),
    *(400, 409, 422),
    **json_body(ProjectDraft, "The project", example=_DRAFT),
    parameters=[ORG, IDEMPOTENCY_KEY],
)
GET_PROJECT = operation(one(ProjectView, "The project", _PROJECT) | NOT_CHANGED, parameters=[ORG, PROJECT, IF_NONE_MATCH])
CHANGE_PROJECT = operation(
    one(ProjectView, "The project as it is now", _PROJECT),
    *(409, 422),
    **json_body(ProjectChanges, "What changes; the rest stays", example={"title": "The guide"}),
    parameters=[ORG, PROJECT],
)
DELETE_PROJECT = operation(
    {204: {"description": "It is deleted, and can be restored from purgatory"}}, parameters=[ORG, PROJECT]
)
REBUILD_DASHBOARD = operation(ACCEPTED, *(400, 409, 422), parameters=[ORG, PROJECT, IDEMPOTENCY_KEY])
REBUILD_DASHBOARDS = operation(
    accepted_one(list[AcceptedJob], "A job for each project", [ACCEPTED_JOB]),
    *(400, 409, 422),
    parameters=[ORG, IDEMPOTENCY_KEY],
)
