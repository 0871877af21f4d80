"""What the OpenAPI document says of `/admin`."""

from typing import Any

from pressroom.api.paging import LIMIT, NUMBER, cursor_parameter
from pressroom.api.schema import json_body, json_response, path, query, responses
from pressroom.apps.packs.access import Overlay
from pressroom.apps.packs.admin.overlays import OverlaySent
from pressroom.apps.packs.admin.render_jobs import RequeueCounts
from pressroom.apps.packs.admin.views import (
    ConfigDiff,
    ConfigKeys,
    ConfigTextView,
    ConfigVersions,
    ConfigVersionView,
    DraftSent,
    PacksOverview,
    PublishedView,
    RegistryDocuments,
    RenderJobList,
    RenderJobView,
    RequeuedView,
    TemplateFields,
)
from pressroom.apps.packs.config.checks import KEY
from pressroom.apps.packs.config.dry_run import DryRun
from pressroom.apps.packs.openapi import FILE, JOB, PACK
from pressroom.apps.packs.request_parts import UUID

_AT = "2026-01-01T00:00:00Z"
_OLD_JOB = "0199e3c1-5b7e-7c11-9d2a-4f6b8a0c1d2e"
_TEXT = "<h1>Offer for {{ person.name }}</h1>\n"

_VERSION = {
    "key": "template:offer",
    "number": 3,
    "status": "published",
    "sha256": "0" * 64,
    "problems": [],
    "comment": "a shorter heading",
    "author": "local",
    "created_at": _AT,
    "published_at": _AT,
}
_PROBLEM = {"code": "source_invalid", "message": "unexpected end of the template", "path": "template:offer", "line": 2}
_INVALID = _VERSION | {"number": 4, "status": "invalid", "problems": [_PROBLEM], "published_at": None}
_DRAFT = _VERSION | {"number": 4, "status": "draft", "published_at": None}
_DRY_RUN = {
    "key": "template:offer",
    "number": 4,
    "documents": [
        {
            "doc_id": "offer",
            "ok": True,
            "size": 21_004,
            "pages": 2,
            "milliseconds": 180,
            "warnings": [{"code": "missing_string", "message": "there is no string 'company'", "line": 1}],
            "missing": [],
            "picture": "data:image/png;base64,iVBORw0KGgo=",
            "problem": None,
        }
    ],
    "left_out": 0,
}
_DIFF = {
    "key": "template:offer",
    "before": 2,
    "after": 3,
    "lines": [
        {"change": "gone", "before": 1, "after": None, "text": "<h1>Your offer, {{ person.name }}</h1>"},
        {"change": "new", "before": None, "after": 1, "text": "<h1>Offer for {{ person.name }}</h1>"},
    ],
}
_FIELDS = {
    "key": "template:offer",
    "number": 3,
    "fields": [{"path": "person.name", "required": True, "line": 1, "template": ""}],
    "strings": ["company"],
    "templates": ["letterhead"],
}
_OVERLAY = {"doc_id": "report", "scope": "pack", "scope_id": PACK, "unlocked": True, "reason": "paid with invoice 81"}
_DOCUMENTS = {
    "documents": [
        {
            "doc_id": "report",
            "title": "Report",
            "description": "",
            "access": {"tier": "paid", "enabled": True, "is_locked": True, "reason": "PAID_DOCS_LOCKED"},
            "entry": {"doc_id": "report", "title": "Report", "tier": "paid"},
            "overlays": [_OVERLAY],
        }
    ],
    "truncated": False,
}
RENDER_JOB = {
    "job_id": JOB,
    "pack_id": PACK,
    "session_id": "s-81",
    "doc_id": "offer",
    "version": 3,
    "status": "failed",
    "attempts": 5,
    "max_attempts": 5,
    "last_error": "the render service is full",
    "code": "render_http_503",
    "file_id": None,
    "pages": None,
    "data_version": 1,
    "config": {"documents_registry": 7, "template:offer": 3},
    "config_snapshot": FILE,
    "requested_by": "local",
    "retry_of": None,
    "created_at": _AT,
    "settled_at": _AT,
}
_REQUEUED = {"ok": True, "job_id": JOB, "retry_of": _OLD_JOB, "pack_id": PACK, "doc_id": "offer", "version": 4}
_COUNTS = {
    "enqueued": 7,
    "skipped_in_progress": 1,
    "errors": 1,
    "failures": [{"job_id": _OLD_JOB, "code": "DOCUMENT_DISABLED", "message": "the document 'cv' is disabled for this pack"}],
    "next_cursor": None,
}
_OVERVIEW = {
    "packs": 812,
    "queued": 3,
    "rendering": 2,
    "failed": 1,
    "oldest_open_at": _AT,
    "ready_last_day": 240,
    "failed_last_day": 1,
    "open_alerts": 1,
    "documents": 4,
    "drafts": 1,
}

_KEY = path(
    "key",
    "template:offer",
    "documents_registry, resources, strings, template:NAME, style:NAME or strings:LANGUAGE",
    pattern=f"^({KEY.pattern})$",
)
_VERSION_NUMBER = "^[1-9][0-9]{0,8}$"
_NUMBER = path("number", "3", "The version", pattern=_VERSION_NUMBER)
_OTHER = path("other", "2", "The version that it is compared with", pattern=_VERSION_NUMBER)
_DOC_ID = path("doc_id", "offer", "The document, as the registry names it")
_JOB_ID = path("job_id", JOB, "The render job")
_SCOPE = {"enum": ["all", "user", "session", "pack"], "default": "all"}


def _operation(status: int, answer: dict[str, Any], *problems: int, **openapi: Any) -> dict[str, Any]:
    return {"responses": responses({status: answer}, 401, 403, *problems), "openapi": openapi}


LIST_KEYS = _operation(200, json_response(ConfigKeys, "The keys", example={"keys": [_VERSION]}))
LIST_VERSIONS = _operation(
    200,
    json_response(
        ConfigVersions,
        "The versions, newest first",
        headers={"Link": "The next page"},
        example={"key": "template:offer", "published": 3, "versions": [_DRAFT, _VERSION], "next_cursor": None},
    ),
    *(404, 422),
    parameters=[_KEY, LIMIT, cursor_parameter(NUMBER)],
)
GET_VERSION = _operation(
    200,
    json_response(ConfigTextView, "The version with its text", example=_VERSION | {"body": _TEXT}),
    *(404, 422),
    parameters=[_KEY, _NUMBER],
)
SAVE_DRAFT = _operation(
    201,
    json_response(ConfigVersionView, "The draft", headers={"Location": "The version"}, example=_DRAFT),
    *(400, 404, 413, 422),
    parameters=[_KEY],
    **json_body(DraftSent, "The text", example={"body": _TEXT, "comment": "a shorter heading"}),
)
VALIDATE = _operation(
    200,
    json_response(ConfigVersionView, "The version with its problems", example=_INVALID),
    *(404, 422),
    parameters=[_KEY, _NUMBER],
)
DRY_RUN = _operation(
    200,
    json_response(DryRun, "What came of each document", example=_DRY_RUN),
    *(404, 409, 422),
    parameters=[
        _KEY,
        _NUMBER,
        query("doc_id", {"type": "string"}, "Only this document"),
        query("lang", {"type": "string"}, "The language; otherwise that of the strings, or en"),
    ],
)
PUBLISH = _operation(
    200,
    json_response(PublishedView, "The version, which is the published one now", example=_VERSION | {"previous": 2}),
    *(404, 409, 422),
    parameters=[_KEY, _NUMBER],
)
ROLL_BACK = _operation(
    200,
    json_response(ConfigVersionView, "The version that is published again", example=_VERSION),
    *(404, 422),
    parameters=[_KEY],
)
DIFF = _operation(200, json_response(ConfigDiff, "The lines", example=_DIFF), *(404, 422), parameters=[_KEY, _NUMBER, _OTHER])
LIST_FIELDS = _operation(
    200,
    json_response(TemplateFields, "What the template reads", example=_FIELDS),
    *(404, 422),
    parameters=[_KEY, _NUMBER],
)
LIST_DOCUMENTS = _operation(
    200,
    json_response(RegistryDocuments, "The documents of the registry", example=_DOCUMENTS),
    parameters=[query("scope_id", {"type": "string"}, "Only overlays of this user, session or pack")],
)
PUT_OVERLAY = _operation(
    200,
    json_response(Overlay, "The overlay", example=_OVERLAY),
    *(400, 404, 413, 422),
    parameters=[_DOC_ID],
    **json_body(OverlaySent, "What differs", example={name: _OVERLAY[name] for name in _OVERLAY if name != "doc_id"}),
)
DELETE_OVERLAY = _operation(
    204,
    {"description": "The overlay is gone"},
    *(404, 422),
    parameters=[_DOC_ID, query("scope", _SCOPE, "For which packs"), query("scope_id", {"type": "string"}, "Which of them")],
)
LIST_RENDER_JOBS = _operation(
    200,
    json_response(
        RenderJobList,
        "Render jobs, newest first",
        headers={"Link": "The next page"},
        example={"items": [RENDER_JOB], "next_cursor": None},
    ),
    *(404, 422),
    parameters=[
        query("status", {"enum": ["", "queued", "rendering", "ready", "failed"]}, "Only of this status"),
        query("pack_id", {"type": "string"}, "Only of this pack"),
        query("doc_id", {"type": "string"}, "Only of this document"),
        LIMIT,
        cursor_parameter(UUID),
    ],
)
GET_RENDER_JOB = _operation(200, json_response(RenderJobView, "The job", example=RENDER_JOB), 404, parameters=[_JOB_ID])
REQUEUE = _operation(
    200, json_response(RequeuedView, "The new job", example=_REQUEUED), *(400, 404, 409, 422), parameters=[_JOB_ID]
)
REQUEUE_FAILED = _operation(
    200,
    json_response(RequeueCounts, "What came of them", example=_COUNTS),
    422,
    parameters=[LIMIT, cursor_parameter(UUID)],
)
OVERVIEW = _operation(200, json_response(PacksOverview, "The figures", example=_OVERVIEW))
