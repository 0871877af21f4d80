"""Tokens as rows. Their secrets are not here: a row knows the hash, and the beginning by which people recognise one."""

from datetime import datetime

import msgspec

from pressroom.errors import InvalidArgument, NotFound
from pressroom.model import Row, Statement, Work, from_ms
from pressroom.store.jobs.transitions import now

USED_AT_MOST_EVERY = 60_000  # milliseconds between two notes of a token's use


class Token(msgspec.Struct, frozen=True, kw_only=True):
    uid: str
    digest: str
    prefix: str
    name: str
    scope: str
    org_id: str | None
    everywhere: bool
    date_created: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None

    def is_valid_at(self, moment: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or moment < self.expires_at)


class NewToken(msgspec.Struct, frozen=True, kw_only=True):
    """`ttl` is in milliseconds."""

    uid: str
    digest: str
    prefix: str
    name: str
    scope: str
    org_id: str | None
    everywhere: bool
    ttl: int | None


def create(new: NewToken) -> Work[Token]:
    moment = yield from now()
    values = msgspec.to_builtins(new) | {
        "org_id": new.org_id or "",
        "everywhere": int(new.everywhere),
        "now": moment,
        "expires_at": None if new.ttl is None else moment + new.ttl,
    }
    del values["ttl"]
    yield Statement("insert_token", values)
    token = yield from find(new.digest)
    assert token is not None
    return token


def find(digest: str) -> Work[Token | None]:
    """Also one that is expired or revoked."""
    rows = yield Statement("find_token", {"digest": digest})
    return token_of(rows[0]) if rows else None


def list_all() -> Work[list[Token]]:
    rows = yield Statement("list_tokens")
    return [token_of(row) for row in rows]


def revoke(uid_or_prefix: str) -> Work[None]:
    """By uid or by prefix. Raises NotFound, or InvalidArgument when several begin like this."""
    matching = yield Statement("match_tokens", {"name": uid_or_prefix})
    if not matching:
        raise NotFound(f"there is no token {uid_or_prefix[:80]!r}; `pressroom token list` shows them")
    if len(matching) > 1:
        raise InvalidArgument(f"{len(matching)} tokens begin with {uid_or_prefix!r}; name one by its id")
    moment = yield from now()
    yield Statement("revoke_token", {"name": uid_or_prefix, "now": moment})


def touch(uid: str) -> Work[None]:
    moment = yield from now()
    yield Statement("touch_token", {"uid": uid, "now": moment, "at_most_every": USED_AT_MOST_EVERY})


def any_valid() -> Work[bool]:
    moment = yield from now()
    rows = yield Statement("any_token", {"now": moment})
    return bool(rows[0][0])


def token_of(row: Row) -> Token:
    uid, digest, prefix, name, scope, org_id, everywhere, created, expires, revoked, used = row
    return Token(
        uid=uid,
        digest=digest,
        prefix=prefix,
        name=name,
        scope=scope,
        org_id=org_id or None,
        everywhere=bool(everywhere),
        date_created=from_ms(created),
        expires_at=_moment(expires),
        revoked_at=_moment(revoked),
        used_at=_moment(used),
    )


def _moment(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else from_ms(milliseconds)
