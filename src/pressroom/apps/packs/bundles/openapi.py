"""What the OpenAPI document says of the routes of bundles."""

from typing import Any

from pressroom.api.schema import IDEMPOTENCY_KEY, header, json_body, json_response, responses
from pressroom.apps.packs.bundles.model import BundleRequest
from pressroom.apps.packs.bundles.views import BundleView, RequestedBundleView
from pressroom.apps.packs.openapi import FILE, JOB, LINK, PACK, PACK_ID, USER

_AT = "2026-01-01T00:00:00Z"
_DOCUMENTS = [
    {"doc_id": "offer", "title": "Offer", "state": "final", "version": 3},
    {"doc_id": "invoice", "title": "Invoice", "state": "", "version": 1},
]
_BUNDLE = {
    "pack_id": PACK,
    "status": "ready",
    "job_id": JOB,
    "version": 1,
    "file_id": FILE,
    "pages": 4,
    "last_error": None,
    "documents": _DOCUMENTS,
    "outdated": False,
    "requested_by": "local",
    "created_at": _AT,
    "good": {
        "version": 1,
        "file_id": FILE,
        "pages": 4,
        "size": 48_201,
        "sha256": "0" * 64,
        "documents": _DOCUMENTS,
        "created_at": _AT,
    },
}
_REQUESTED = {
    "ok": True,
    "pack_id": PACK,
    "job_id": JOB,
    "version": 1,
    "documents": ["offer", "invoice"],
    "missing": ["certificate"],
}
_REQUEST = {
    "documents": ["offer", {"doc_id": "invoice", "state": "copy"}],
    "contents": True,
    "page_numbers": True,
    "stamps": {"copy": "Copy"},
}


_BODY = json_body(BundleRequest, "What the bundle has; without a body every ready document, with contents", example=_REQUEST)
_BODY["requestBody"]["required"] = False

REQUEST_BUNDLE: dict[str, Any] = {
    "responses": responses(
        {200: json_response(RequestedBundleView, "The job, and what it is made of", example=_REQUESTED)},
        *(400, 401, 403, 404, 409, 413, 422),
    ),
    "openapi": _BODY | {"parameters": [PACK_ID, IDEMPOTENCY_KEY, USER]},
}
GET_BUNDLE: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(BundleView, "The newest bundle", example=_BUNDLE),
            304: {"description": "Nothing changed"},
        },
        *(401, 403, 404),
    ),
    "openapi": {"parameters": [PACK_ID, LINK, USER, header("If-None-Match", "The tag of what you have")]},
}
