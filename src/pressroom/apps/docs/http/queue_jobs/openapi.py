"""What the OpenAPI document says of jobs in the words of design 004."""

from typing import Any

from pressroom.api.schema import IDEMPOTENCY_KEY, path, query
from pressroom.apps.docs.http.openapi import (
    AT,
    JOB_ID,
    NOT_CHANGED,
    PROJECT_URL,
    QUEUE_URL,
    accepted_one,
    collection_of,
    one,
    operation,
)
from pressroom.apps.docs.http.queue_jobs.views import QueueJobView
from pressroom.apps.docs.http.request_parts import BUILD_ID, IF_NONE_MATCH, LIMIT, NUMBER_CURSOR
from pressroom.model import Status

STATUSES = tuple(status.value for status in Status)
_PROGRESS = {
    "editions_total": 3,
    "editions_completed": ["__main", "2"],
    "editions_failed": [{"slug": "2.1", "error": "the KV does not answer"}],
    "editions_in_progress": [],
    "editions_skipped": [{"slug": "1", "reason": "shows 1.9.3, and 2.1.0 is of another major"}],
    "editions_detail": {"__main": {"published_url": "https://guide.docs.example.org/"}},
}
_JOB: dict[str, Any] = {
    "self_url": QUEUE_URL,
    "project_url": PROJECT_URL,
    "build_url": f"{PROJECT_URL}/builds/{BUILD_ID}",
    "id": JOB_ID,
    "kind": "build_processing",
    "status": "in_progress",
    "phase": "editions",
    "subject": "acme/guide: v2.1.0",
    "org": "acme",
    "project": "guide",
    "build": BUILD_ID,
    "attempts": 1,
    "max_attempts": 3,
    "progress": _PROGRESS,
    "errors": None,
    "cancel_requested": False,
    "retry_of": None,
    "date_created": AT,
    "date_started": AT,
    "date_completed": None,
}
_FAILED = _JOB | {
    "status": "failed",
    "phase": "inventory",
    "progress": {"message": "Cataloging 1,247 objects"},
    "errors": {
        "message": "the archive is not the one that was announced",
        "type": "hash_mismatch",
        "attempts": [{"attempt": 1, "code": "hash_mismatch", "message": "the archive is not the one that was announced"}],
    },
    "date_completed": AT,
}
_ID = path("id", JOB_ID, "The job")

LIST_QUEUE_JOBS = operation(
    collection_of(QueueJobView, "Jobs of documentation, newest first; they are not counted", _JOB),
    422,
    parameters=[
        query("kind", {"type": "string"}, "Only this kind, such as build_processing"),
        query("status", {"enum": [*STATUSES]}, "Only these"),
        query("org", {"type": "string"}, "Only this organisation; for callers who see more than one"),
        query("project", {"type": "string"}, "Only this project: a slug, or an id"),
        query("max_age", {"type": "number", "minimum": 0}, "Only jobs submitted within so many seconds"),
        LIMIT,
        NUMBER_CURSOR,
    ],
)
GET_QUEUE_JOB = operation(one(QueueJobView, "The job", _JOB) | NOT_CHANGED, parameters=[_ID, IF_NONE_MATCH])
CANCEL_QUEUE_JOB = operation(
    one(QueueJobView, "It has ended", _FAILED)
    | accepted_one(QueueJobView, "It is being stopped", _JOB | {"cancel_requested": True}),
    *(400, 422),
    parameters=[_ID, IDEMPOTENCY_KEY],
)
RETRY_QUEUE_JOB = operation(
    accepted_one(QueueJobView, "A new job that names the old one", _JOB | {"retry_of": JOB_ID}),
    *(400, 409, 422),
    parameters=[_ID, IDEMPOTENCY_KEY],
)
