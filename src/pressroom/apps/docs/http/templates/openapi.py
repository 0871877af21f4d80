"""What the OpenAPI document says of dashboard templates."""

from typing import Any

from pressroom.api.schema import json_body
from pressroom.apps.docs.http.openapi import (
    ACCEPTED,
    AT,
    NOT_CHANGED,
    PROJECT_URL,
    QUEUE_URL,
    accepted_one,
    one,
    operation,
)
from pressroom.apps.docs.http.request_parts import IF_NONE_MATCH, ORG, PROJECT
from pressroom.apps.docs.http.templates.views import TemplateView
from pressroom.apps.docs.requests import TemplateDraft

_DRAFT = {"git_url": "https://git.example.org/acme/dashboards.git", "ref": "main", "root_path": "/guide"}
_TEMPLATE: dict[str, Any] = {
    "self_url": f"{PROJECT_URL}/dashboard-template",
    "sync_url": f"{PROJECT_URL}/dashboard-template/sync",
    "queue_url": QUEUE_URL,
    **_DRAFT,
    "commit_sha": "9f3c2a7be51c4d2f8a6b0e1c3d5f7a9b1c2d3e4f",
    "last_sync_status": "synced",
    "last_sync_error": None,
    "date_synced": AT,
    "date_created": AT,
    "date_updated": AT,
}


def describe(parameters: list[Any]) -> dict[str, dict[str, Any]]:
    """Of an organisation's template, or of a project's."""
    return {
        "get": operation(one(TemplateView, "The template", _TEMPLATE) | NOT_CHANGED, parameters=[*parameters, IF_NONE_MATCH]),
        "put": operation(
            accepted_one(TemplateView, "The template, and the job that fetches it", _TEMPLATE),
            422,
            **json_body(TemplateDraft, "Where it is", example=_DRAFT),
            parameters=parameters,
        ),
        "delete": operation(ACCEPTED, parameters=parameters),
        "sync": operation(ACCEPTED, parameters=parameters),
    }


OF_ORG = describe([ORG])
OF_PROJECT = describe([ORG, PROJECT])
