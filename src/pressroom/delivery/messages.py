"""The JSON message of a Redis list: design 002's fields, and the kind, so that a worker can tell whether the job is its own."""

import json
import logging
from typing import Any

import msgspec

from pressroom.delivery import Notice
from pressroom.errors import NotFound
from pressroom.ids import as_uuid, parse_uid

log = logging.getLogger("pressroom.delivery")

SHOWN = 200  # characters of a bad message that go into the log


class Named(msgspec.Struct, frozen=True):
    """What a message says. One that another program wrote may not say the kind: then the store knows."""

    uid: str
    kind: str | None


def write(notice: Notice) -> bytes:
    """A worker that knows nothing but design 002 finds all that it asks for."""
    payload = json.loads(notice.payload) if notice.payload is not None else {}
    if not isinstance(payload, dict):
        payload = {}
    asked = payload.get("render_request")
    message: dict[str, Any] = {
        "job_id": str(as_uuid(notice.uid)),
        **{name: payload[name] for name in ("pack_id", "session_id", "doc_id") if name in payload},
        "render_request": asked if isinstance(asked, dict) else {},
        "kind": notice.kind,
    }
    return msgspec.json.encode(message)


def read(message: bytes) -> Named | None:
    """What a message names, or None for one that nobody can use. Anybody may write to a list."""
    try:
        fields = msgspec.json.decode(message)
        if not isinstance(fields, dict):
            raise ValueError("it is not an object")
        if not isinstance(fields.get("job_id"), str):
            raise ValueError("it has no job_id")
        if not isinstance(fields.get("render_request"), dict):
            raise ValueError("its render_request is not an object")
        kind = fields.get("kind")
        return Named(parse_uid(fields["job_id"]), kind if isinstance(kind, str) else None)
    except (ValueError, RecursionError, NotFound) as reason:
        log.error("a message was dropped: %s: %r", reason, message[:SHOWN])
        return None
