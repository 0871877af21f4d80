"""Which process writes to a place outside: units of work."""

from pressroom.model import Statement, Work
from pressroom.store.jobs.transitions import now


def acquire(place: str, owner: str, seq: int, milliseconds: int) -> Work[bool]:
    """False while another has it; that one is told which sequence number waits."""
    moment = yield from now()
    fields: dict[str, str | int] = {"place": place, "owner": owner, "seq": seq}
    rows = yield Statement("docs.acquire_publish_lease", {**fields, "now": moment, "expires_at": moment + milliseconds})
    if rows:
        return True
    yield Statement("docs.want_publish_lease", {"place": place, "seq": seq})
    return False


def renew(place: str, owner: str, milliseconds: int) -> Work[int | None]:
    """The highest sequence number that waits, or None if the lease was lost."""
    moment = yield from now()
    fields: dict[str, str | int] = {"place": place, "owner": owner}
    rows = yield Statement("docs.renew_publish_lease", {**fields, "now": moment, "expires_at": moment + milliseconds})
    return int(rows[0][0]) if rows else None


def release(place: str, owner: str) -> Work[None]:
    yield Statement("docs.release_publish_lease", {"place": place, "owner": owner})
