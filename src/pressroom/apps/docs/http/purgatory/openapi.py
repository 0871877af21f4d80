"""What the OpenAPI document says of purgatory."""

from pressroom.api.schema import IDEMPOTENCY_KEY, path, query
from pressroom.apps.docs.http.openapi import AT, ORG_URL, collection_of, one, operation
from pressroom.apps.docs.http.purgatory.views import PurgatoryView
from pressroom.apps.docs.http.request_parts import LIMIT, ORG, UID_CURSOR

_ID = "01KAD40C3E6H9M2Q5T8X1A4D7G"
_ENTRY = {
    "restore_url": f"{ORG_URL}/purgatory/{_ID}/restore",
    "org_url": ORG_URL,
    "id": _ID,
    "what": "edition",
    "name": "DM-1234",
    "project": "guide",
    "reason": "draft_inactivity: not updated for 30 days",
    "actor": "lifecycle_eval",
    "objects": 1_247,
    "bytes": 48_120_334,
    "date_deleted": AT,
    "purge_after": AT,
}

LIST_PURGATORY = operation(
    collection_of(PurgatoryView, "What was deleted and can be restored, last deleted first", _ENTRY),
    422,
    parameters=[ORG, query("project", {"type": "string"}, "Only of this project (a slug)"), LIMIT, UID_CURSOR],
)
RESTORE = operation(
    one(PurgatoryView, "What was restored", _ENTRY),
    *(400, 409, 422),
    parameters=[ORG, path("entry", _ID, "The entry"), IDEMPOTENCY_KEY],
)
