"""What the OpenAPI document says of editions."""

from typing import Any

from pressroom.api.schema import IDEMPOTENCY_KEY, json_body, query
from pressroom.apps.docs.http.editions.views import EditionView, HistoryView, MovedEditionView
from pressroom.apps.docs.http.openapi import (
    ACCEPTED,
    AT,
    NOT_CHANGED,
    PROJECT_URL,
    QUEUE_URL,
    accepted_one,
    collection_of,
    created_one,
    one,
    operation,
)
from pressroom.apps.docs.http.request_parts import (
    BUILD_ID,
    EDITION,
    FLAG,
    IF_NONE_MATCH,
    LIMIT,
    NUMBER_CURSOR,
    ORG,
    PROJECT,
)
from pressroom.apps.docs.model import EditionKind
from pressroom.apps.docs.requests import EditionChanges, EditionDraft, Rollback

KINDS = tuple(kind.value for kind in EditionKind)
_HERE = f"{PROJECT_URL}/editions/2.1"
_EDITION: dict[str, Any] = {
    "self_url": _HERE,
    "project_url": PROJECT_URL,
    "history_url": f"{_HERE}/history",
    "rollback_url": f"{_HERE}/rollback",
    "build_url": f"{PROJECT_URL}/builds/{BUILD_ID}",
    "published_url": "https://guide.docs.example.org/v/2.1/",
    "slug": "2.1",
    "title": "Latest 2.1.x",
    "kind": "minor",
    "tracking_mode": "semver_minor",
    "tracking_params": {"major_version": 2, "minor_version": 1},
    "lifecycle_exempt": False,
    "pinned": False,
    "build": BUILD_ID,
    "publish_status": "published",
    "publish_error": None,
    "ref_missing_since": None,
    "date_created": AT,
    "date_updated": AT,
}
_DRAFT = {
    "slug": "stable",
    "title": "Stable",
    "kind": "release",
    "tracking_mode": "semver_release",
}
_ENTRY = {
    "position": 1,
    "seq": 7,
    "build_url": f"{PROJECT_URL}/builds/{BUILD_ID}",
    "build": BUILD_ID,
    "git_ref": "v2.1.0",
    "alternate_name": None,
    "number": 41,
    "build_status": "completed",
    "build_deleted": False,
    "annotations": {"commit_sha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
    "trigger": "build",
    "actor": "CI of guide (pr_4kB9xQ)",
    "queue_url": QUEUE_URL,
    "publish_status": "published",
    "publish_error": None,
    "date_created": AT,
}

LIST_EDITIONS = operation(
    collection_of(EditionView, "All editions of the project: __main, then by kind, newest version first", _EDITION),
    422,
    parameters=[ORG, PROJECT, query("kind", {"enum": [*KINDS]}, "Only these")],
)
CREATE_EDITION = operation(
    created_one(EditionView, "The edition, which shows nothing yet", _EDITION),
    *(400, 409, 422),
    **json_body(EditionDraft, "The edition", example=_DRAFT),
    parameters=[ORG, PROJECT, IDEMPOTENCY_KEY],
)
GET_EDITION = operation(
    one(EditionView, "The edition", _EDITION) | NOT_CHANGED,
    parameters=[ORG, PROJECT, EDITION, IF_NONE_MATCH],
)
CHANGE_EDITION = operation(
    one(EditionView, "The edition as it is now", _EDITION)
    | accepted_one(MovedEditionView, "With `build`: the edition, which a job moves", _EDITION | {"queue_url": QUEUE_URL}),
    *(409, 422),
    **json_body(EditionChanges, "What changes; the rest stays", example={"title": "Latest 2.1.x"}),
    parameters=[ORG, PROJECT, EDITION],
)
DELETE_EDITION = operation(
    {204: {"description": "It is deleted, and can be restored from purgatory"}}, 409, parameters=[ORG, PROJECT, EDITION]
)
LIST_HISTORY = operation(
    collection_of(HistoryView, "What the edition came to show, newest first", _ENTRY),
    422,
    parameters=[
        ORG,
        PROJECT,
        EDITION,
        query("include_deleted", FLAG, "Also what shows a build that was deleted since"),
        LIMIT,
        NUMBER_CURSOR,
    ],
)
ROLL_BACK = operation(
    ACCEPTED,
    *(400, 409, 422),
    **json_body(Rollback, "The build, which the edition has shown before", example={"build": BUILD_ID}),
    parameters=[ORG, PROJECT, EDITION, IDEMPOTENCY_KEY],
)
