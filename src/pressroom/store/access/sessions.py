"""Sessions of browsers. A row knows the hash of a session's secret and the token that opened it."""

from pressroom.model import Statement, Work
from pressroom.store.access.tokens import Token, token_of
from pressroom.store.jobs.transitions import now

LIFETIME = 12 * 3600 * 1000  # milliseconds without a visit after which a session is over
SEEN_AT_MOST_EVERY = 300_000  # milliseconds between two updates of when a session was seen


def start(digest: str, token: str) -> Work[None]:
    moment = yield from now()
    yield Statement("delete_old_sessions", {"now": moment})
    yield Statement("insert_session", {"digest": digest, "token": token, "now": moment, "expires_at": moment + LIFETIME})


def find(digest: str) -> Work[tuple[Token, bool] | None]:
    """The token behind a session, whatever became of it, and whether a visit should be noted."""
    moment = yield from now()
    rows = yield Statement("find_session", {"digest": digest, "now": moment})
    if not rows:
        return None
    *token, seen_at = rows[0]
    return token_of(tuple(token)), moment - seen_at > SEEN_AT_MOST_EVERY


def touch(digest: str) -> Work[None]:
    moment = yield from now()
    yield Statement("touch_session", {"digest": digest, "now": moment, "expires_at": moment + LIFETIME})


def end(digest: str) -> Work[None]:
    yield Statement("delete_session", {"digest": digest})
