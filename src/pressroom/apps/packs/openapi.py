"""What the OpenAPI document says of the routes of packs."""

from typing import Any

import msgspec

from pressroom.api.events import EVENT_STREAM, RESUME_PARAMETERS
from pressroom.api.paging import cursor_parameter
from pressroom.api.problems import MEDIA_TYPE, Problem
from pressroom.api.schema import IDEMPOTENCY_KEY, header, json_body, json_response, path, query, responses
from pressroom.apps.packs.model import PackDraft
from pressroom.apps.packs.request_parts import LONGEST_LINK, UUID
from pressroom.apps.packs.views import (
    EXAMPLE_DRAFT,
    DataSent,
    DocumentRenderView,
    DocumentsView,
    FileLink,
    LinkView,
    PackDetailView,
    PackList,
    PackRenderView,
    PackView,
    RendersView,
    UserDocumentsView,
    UserFilesView,
)

PACK = "0199e3c2-5b7e-7c11-9d2a-4f6b8a0c1d2e"
JOB = "0199e3c3-5b7e-7c11-9d2a-4f6b8a0c1d2e"
FILE = "0199e3d0-5b7e-7c11-9d2a-4f6b8a0c1d2e"
_AT = "2026-01-01T00:00:00Z"

_PACK_VIEW = {
    "pack_id": PACK,
    "session_id": "s-81",
    "user": "u-17",
    "title": "Anna Example",
    "lang": "de",
    "data_version": 1,
    "has_link": False,
    "link_expires_at": None,
    "documents_url": f"/packs/{PACK}/documents",
    "created_at": _AT,
    "changed_at": _AT,
}
_DETAIL = _PACK_VIEW | {
    "data": EXAMPLE_DRAFT.data,
    "data_versions": [{"number": 1, "sha256": "0" * 64, "author": "local", "created_at": _AT}],
}
_ANSWER = {
    "ok": True,
    "pack_id": PACK,
    "jobs_created": 1,
    "jobs_skipped": 1,
    "jobs": [{"doc_id": "offer", "job_id": JOB, "version": 1}],
    "skipped": [{"doc_id": "cv", "reason": "ready", "missing": []}],
    "config_snapshot": FILE,
}
_DOCUMENT = {
    "doc_id": "offer",
    "title": "Offer",
    "description": "",
    "status": "ready",
    "file_id": FILE,
    "attempts": 0,
    "max_attempts": 5,
    "last_error": None,
    "next_attempt_at": None,
    "version": 3,
    "pages": 2,
    "outdated": False,
    "job_id": JOB,
    "good": {"version": 3, "file_id": FILE, "pages": 2, "created_at": _AT},
    "access": {"tier": "free", "enabled": True, "is_locked": False, "reason": None},
}
_VERSION = {
    "version": 3,
    "status": "ready",
    "job_id": JOB,
    "file_id": FILE,
    "pages": 2,
    "size": 21_004,
    "sha256": "0" * 64,
    "attempts": 0,
    "max_attempts": 5,
    "last_error": None,
    "code": None,
    "data_version": 1,
    "config": {"documents_registry": 7, "template:offer": 3},
    "config_snapshot": FILE,
    "requested_by": "local",
    "created_at": _AT,
    "settled_at": _AT,
}

PACK_ID = path("pack_id", PACK, "The pack")
_DOC_ID = path("doc_id", "offer", "The document, as the registry names it")
USER = header("Pressroom-User", "The user of the application for whom its server asks; 403 if the pack is another's")
_REQUIRED_USER = header("Pressroom-User", "The user of the application for whom its server asks", minLength=1) | {
    "required": True
}
LINK = query("link", {"type": "string"}, "The pack's link, instead of a token")
_BOOLEAN = {"enum": ["", "1", "true", "0", "false"]}
_CHANGED: dict[int | str, Any] = {412: json_response(Problem, "The data has a newer version", media_type=MEDIA_TYPE)}

CREATE_PACK: dict[str, Any] = {
    "responses": responses(
        {201: json_response(PackView, "The pack", headers={"Location": "The pack"}, example=_PACK_VIEW)},
        *(400, 401, 403, 409, 413, 422),
    ),
    "openapi": json_body(PackDraft, "The data, and whose pack it is", example=msgspec.to_builtins(EXAMPLE_DRAFT))
    | {"parameters": [IDEMPOTENCY_KEY, USER]},
}
LIST_PACKS: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                PackList,
                "Packs, newest first",
                headers={"Link": "The next page"},
                example={"items": [_PACK_VIEW | {"states": {"ready": 2, "failed": 1}}], "next_cursor": None},
            )
        },
        *(401, 404, 422),
    ),
    "openapi": {
        "parameters": [
            query("q", {"type": "string"}, "Words of the title, the user, the session or the data; the last may be only begun"),
            query("status", {"enum": ["", "queued", "rendering", "ready", "failed"]}, "Of the newest render of any document"),
            query("user", {"type": "string"}, "Whose packs"),
            query("session", {"type": "string"}, "Of which session"),
            query("limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}, "How many"),
            cursor_parameter(UUID),
        ]
    },
}
LIST_MY_PACKS: dict[str, Any] = LIST_PACKS | {
    "openapi": {"parameters": [_REQUIRED_USER, *LIST_PACKS["openapi"]["parameters"][-2:]]}
}
LIST_MY_FILES: dict[str, Any] = {
    "responses": responses(
        {200: json_response(UserFilesView, "The newest ready file of each document", example={"files": []})}, 401, 422
    ),
    "openapi": {"parameters": [_REQUIRED_USER]},
}
LIST_MY_DOCUMENTS: dict[str, Any] = {
    "responses": responses(
        {200: json_response(UserDocumentsView, "The documents of the user's newest packs", example={"packs": []})}, 401, 422
    ),
    "openapi": {"parameters": [_REQUIRED_USER]},
}
GET_PACK: dict[str, Any] = {
    "responses": responses(
        {200: json_response(PackDetailView, "The pack", example=_DETAIL), 304: {"description": "Nothing changed"}},
        *(401, 403, 404),
    ),
    "openapi": {"parameters": [PACK_ID, USER, header("If-None-Match", "The tag of what you have")]},
}
DELETE_PACK: dict[str, Any] = {
    "responses": responses({204: {"description": "It is deleted, and can be restored for a while"}}, 401, 403, 404),
    "openapi": {"parameters": [PACK_ID, USER]},
}
RESTORE_PACK: dict[str, Any] = {
    "responses": responses({200: json_response(PackView, "The pack", example=_PACK_VIEW)}, 401, 403, 404),
    "openapi": {"parameters": [PACK_ID]},
}
PUT_DATA: dict[str, Any] = {
    "responses": responses(
        {200: json_response(PackView, "The pack", headers={"ETag": "The version of the data"}, example=_PACK_VIEW)},
        *(400, 401, 403, 404, 413, 422),
    )
    | _CHANGED,
    "openapi": json_body(DataSent, "The data", example={"data": EXAMPLE_DRAFT.data})
    | {"parameters": [PACK_ID, USER, header("If-Match", "The version of the data that you have seen, in quotes")]},
}
MAKE_LINK: dict[str, Any] = {
    "responses": responses(
        {
            201: json_response(
                LinkView,
                "The link, which is shown this once",
                example={"link": "7k3m9p2q5r8sv", "library_url": "/library/p/7k3m9p2q5r8sv", "expires_at": _AT},
            )
        },
        *(401, 403, 404, 422),
    ),
    "openapi": {
        "parameters": [
            PACK_ID,
            USER,
            query("seconds", {"type": "integer", "minimum": 1, "maximum": LONGEST_LINK}, "For how long it works"),
        ],
    },
}
WITHDRAW_LINK: dict[str, Any] = {
    "responses": responses({204: {"description": "No link leads to this pack any more"}}, 401, 403, 404),
    "openapi": {"parameters": [PACK_ID, USER]},
}
RENDER_PACK: dict[str, Any] = {
    "responses": responses(
        {200: json_response(PackRenderView, "The jobs that were made, and what was left alone", example=_ANSWER)},
        *(400, 401, 403, 404, 409, 422),
    ),
    "openapi": {
        "parameters": [
            PACK_ID,
            query("force", _BOOLEAN, "Also documents that are queued, rendering or ready"),
            query("outdated", _BOOLEAN, "Also ready documents whose data or templates have changed since"),
            IDEMPOTENCY_KEY,
            USER,
        ]
    },
}
RENDER_DOCUMENT: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                DocumentRenderView,
                "The job",
                example={"ok": True, "pack_id": PACK, "doc_id": "offer", "job_id": JOB, "version": 3},
            )
        },
        *(400, 401, 403, 404, 409, 422),
    ),
    "openapi": {"parameters": [PACK_ID, _DOC_ID, IDEMPOTENCY_KEY, USER]},
}
LIST_DOCUMENTS: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(DocumentsView, "The documents", example={"pack_id": PACK, "documents": [_DOCUMENT]}),
            304: {"description": "Nothing changed"},
        },
        *(401, 403, 404),
    ),
    "openapi": {"parameters": [PACK_ID, LINK, USER, header("If-None-Match", "The tag of what you have")]},
}
LIST_VERSIONS: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                RendersView, "The versions", example={"pack_id": PACK, "doc_id": "offer", "versions": [_VERSION]}
            ),
            304: {"description": "Nothing changed"},
        },
        *(401, 403, 404),
    ),
    "openapi": {"parameters": [PACK_ID, _DOC_ID, LINK, USER, header("If-None-Match", "The tag of what you have")]},
}
WATCH_PACK: dict[str, Any] = {
    "responses": responses({200: EVENT_STREAM}, 401, 403, 404, 422),
    "openapi": {"parameters": [PACK_ID, LINK, USER, *RESUME_PARAMETERS]},
}
DOWNLOAD_FILE: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                FileLink,
                "A link to the file",
                example={"url": "https://files.example.org/artifacts/3f…?X-Amz-Signature=…", "expires_in_sec": 600},
            ),
            302: {
                "description": "The file is there (with redirect=true)",
                "headers": {"Location": {"schema": {"type": "string"}}},
            },
        },
        *(401, 403, 404, 422),
    ),
    "openapi": {
        "parameters": [
            path("file_id", FILE, "The file, as a document's `file_id`"),
            query("redirect", _BOOLEAN, "Answer with a redirect to the file"),
            LINK,
            USER,
        ]
    },
}
