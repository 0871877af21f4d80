"""What units of work are made of: the clock, the history, the line of a key."""

from collections.abc import Mapping
from typing import Any

from pressroom.definitions import Kind
from pressroom.errors import ClaimLost
from pressroom.model import Row, Statement, Work
from pressroom.store.jobs.rows import compact

type Kinds = Mapping[str, Kind]


def now() -> Work[int]:
    rows = yield Statement("read_clock")
    return int(rows[0][0])


def record(id: int, type: str, data: dict[str, Any], moment: int) -> Work[None]:
    yield Statement("insert_event", {"id": id, "now": moment, "type": type, "data": compact(data)})


def promote_next_of_key(org_id: str, key: str | None) -> Work[None]:
    """Let the best job of a key's line be the one that may start, unless one of the key is in progress."""
    yield Statement("demote_key_candidate", {"org_id": org_id, "key": key})
    yield Statement("promote_key_candidate", {"org_id": org_id, "key": key})


def promote_if_waiting(org_id: str, key: str | None) -> Work[None]:
    """A key is free again. Mostly no job waits for it, and a look is cheaper than an update that changes nothing."""
    if (yield Statement("find_key_candidate", {"org_id": org_id, "key": key})):
        yield from promote_next_of_key(org_id, key)


def successor_of(id: int) -> Work[str | None]:
    found = yield Statement("find_successor", {"id": id})
    return found[0][0] if found else None


def require_claim(rows: list[Row], id: int) -> Row:
    """The row that a fenced write returned. Raises ClaimLost if it returned none."""
    if not rows:
        raise ClaimLost(f"job {id} was given to another worker or ended; this one's write was refused")
    return rows[0]
