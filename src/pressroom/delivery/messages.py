"""The JSON message of a Redis list: `job_id` and `render_request` as design 002 has them, the kind, and what the kind adds."""

import json
import logging
from collections.abc import Mapping
from typing import Any

import msgspec

from pressroom.delivery import JobNotice
from pressroom.errors import NotFound
from pressroom.ids import as_uuid, parse_uid

log = logging.getLogger("pressroom.delivery")

SHOWN = 200  # characters of a bad message that go into the log


class ParsedMessage(msgspec.Struct, frozen=True):
    """What a message says. One that another program wrote may not say the kind: then the store knows."""

    uid: str
    kind: str | None


def encode(notice: JobNotice) -> bytes:
    """A worker that knows nothing but design 002 finds all that it asks for, if the kind has `message_fields` for it.

    If those fail, the message is sent without them: a worker of ours needs none of them.
    """
    try:
        return _encode(notice, _extra_fields(notice))
    except Exception:
        log.exception("message_fields of %s failed for job_%s; its message is sent without them", notice.kind, notice.uid)
        return _encode(notice, {})


def _encode(notice: JobNotice, extra: Mapping[str, Any]) -> bytes:
    message = {**extra, "job_id": str(as_uuid(notice.uid)), "kind": notice.kind}
    if not isinstance(message.get("render_request"), dict):
        message["render_request"] = {}
    return msgspec.json.encode(message)


def _extra_fields(notice: JobNotice) -> Mapping[str, Any]:
    if notice.message_fields is None or notice.payload is None:
        return {}
    return notice.message_fields(json.loads(notice.payload))


def parse(message: bytes) -> ParsedMessage | None:
    """The job of a message, or None for one that is malformed: any program may write to a list."""
    try:
        fields = msgspec.json.decode(message)
        if not isinstance(fields, dict):
            raise ValueError("it is not an object")
        if not isinstance(fields.get("job_id"), str):
            raise ValueError("it has no job_id")
        if not isinstance(fields.get("render_request"), dict):
            raise ValueError("its render_request is not an object")
        kind = fields.get("kind")
        return ParsedMessage(parse_uid(fields["job_id"]), kind if isinstance(kind, str) else None)
    except (ValueError, RecursionError, NotFound) as reason:
        log.error("a message was dropped: %s: %r", reason, message[:SHOWN])
        return None
