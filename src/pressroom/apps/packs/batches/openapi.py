"""What the OpenAPI document says of batches and of archives."""

from typing import Any

from pressroom.api.paging import LIMIT, NUMBER, cursor_parameter
from pressroom.api.schema import IDEMPOTENCY_KEY, binary_response, header, json_response, path, query, responses
from pressroom.apps.packs.batches.lines import LineFormat
from pressroom.apps.packs.batches.views import BatchDetailView, BatchList, PackBatchView
from pressroom.apps.packs.openapi import JOB, PACK
from pressroom.apps.packs.request_parts import UUID

BATCH = "0199e3c1-5b7e-7c11-9d2a-4f6b8a0c1d2e"
CONTENT_TYPES: dict[str, LineFormat] = {
    "application/x-ndjson": "ndjson",
    "application/jsonl": "ndjson",
    "text/csv": "csv",
}
_AT = "2026-01-01T00:00:00Z"

_NDJSON = '{"title": "Anna Example", "session_id": "s-81", "lang": "de", "data": {"person": {"name": "Anna Example"}}}\n'
_CSV = "title,lang,person.name,start\nAnna Example,de,Anna Example,2027-01-01\n"
_BATCH = {
    "batch_id": BATCH,
    "job_id": JOB,
    "status": "rendering",
    "format": "ndjson",
    "size": 61_222,
    "lines": 500,
    "waiting": 0,
    "rendering": 20,
    "ready": 478,
    "failed": 2,
    "last_error": None,
    "created_by": "local",
    "created_at": _AT,
    "read_at": _AT,
    "zip_url": f"/packs/batches/{BATCH}.zip",
}
_RESULTS = [
    {
        "line": 7,
        "pack_id": None,
        "title": None,
        "status": "failed",
        "errors": [{"doc_id": None, "code": "invalid_line", "message": "the line is not JSON: unexpected end of data"}],
    },
    {
        "line": 8,
        "pack_id": PACK,
        "title": "Ben Example",
        "status": "failed",
        "errors": [{"doc_id": "offer", "code": "NEEDS_INPUT", "message": "the data lacks start"}],
    },
]

_BATCH_ID = path("batch_id", BATCH, "The batch")
_LINK = query("link", {"type": "string"}, "The pack's link, instead of a token")
_USER = header("Pressroom-User", "The user of the application whose packs they are, where a line names none")
_STATUSES = {"enum": ["", "waiting", "rendering", "ready", "failed"]}
_ZIP = binary_response("The archive", "application/zip", example="PK…")

CREATE_BATCH: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(PackBatchView, "The same upload is being taken in already", example=_BATCH),
            202: json_response(PackBatchView, "The batch", headers={"Location": "The batch"}, example=_BATCH),
        },
        *(400, 401, 403, 413, 415, 422, 503),
    ),
    "openapi": {
        "requestBody": {
            "required": True,
            "description": "One pack a line: an object of NDJSON with the fields of `POST /packs`, or a row of CSV whose "
            "columns are title, session_id, user, lang, and paths of the data such as person.name, or data with JSON",
            "content": {
                name: {"schema": {"type": "string"}, "example": _CSV if format == "csv" else _NDJSON}
                for name, format in CONTENT_TYPES.items()
            },
        },
        "parameters": [IDEMPOTENCY_KEY, _USER],
    },
}
LIST_BATCHES: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                BatchList,
                "Batches, newest first",
                headers={"Link": "The next page"},
                example={"items": [_BATCH], "next_cursor": None},
            )
        },
        *(401, 422),
    ),
    "openapi": {"parameters": [LIMIT, cursor_parameter(UUID)]},
}
GET_BATCH: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                BatchDetailView,
                "The batch with what became of its lines",
                headers={"Link": "The next page"},
                example=_BATCH | {"results": _RESULTS, "next_cursor": "8"},
            )
        },
        *(401, 404, 422),
    ),
    "openapi": {
        "parameters": [_BATCH_ID, query("status", _STATUSES, "Only lines of this status"), LIMIT, cursor_parameter(NUMBER)]
    },
}
RETRY_BATCH: dict[str, Any] = {
    "responses": responses({202: json_response(PackBatchView, "The batch", example=_BATCH)}, 401, 403, 404, 409, 503),
    "openapi": {"parameters": [_BATCH_ID]},
}
DOWNLOAD_BATCH: dict[str, Any] = {
    "responses": responses({200: _ZIP, 304: {"description": "You have it"}}, 401, 404),
    "openapi": {"parameters": [_BATCH_ID, header("If-None-Match", "The tag of what you have")]},
}
DOWNLOAD_PACK: dict[str, Any] = {
    "responses": responses({200: _ZIP, 304: {"description": "You have it"}}, 401, 403, 404),
    "openapi": {
        "parameters": [
            path("pack_id", PACK, "The pack"),
            _LINK,
            header("Pressroom-User", "The user of the application for whom its server asks; 403 if the pack is another's"),
            header("If-None-Match", "The tag of what you have"),
        ]
    },
}
