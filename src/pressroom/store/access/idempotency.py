"""Answers that were given to requests with an Idempotency-Key."""

import msgspec

from pressroom.model import Statement, Work
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now


class StoredReply(msgspec.Struct, frozen=True):
    digest: str
    status: int
    headers: dict[str, str]
    body: str


def find(scope: str, key: str) -> Work[StoredReply | None]:
    moment = yield from now()
    rows = yield Statement("find_reply", {"scope": scope, "key": key, "now": moment})
    if not rows:
        return None
    digest, status, headers, body = rows[0]
    return StoredReply(digest, status, msgspec.json.decode(headers, type=dict[str, str]), body)


def save_reply(scope: str, key: str, reply: StoredReply, ttl: int) -> Work[None]:
    moment = yield from now()
    yield Statement("delete_old_replies", {"now": moment})
    yield Statement(
        "save_reply",
        {
            "scope": scope,
            "key": key,
            "digest": reply.digest,
            "status": reply.status,
            "headers": compact(reply.headers),
            "body": reply.body,
            "expires_at": moment + ttl,
        },
    )
