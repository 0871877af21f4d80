"""The audit log: what users did, and what it changed. Rows are added and read, never changed."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom.model import Row, Statement, Work, from_ms
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

NEWEST = (1 << 62) - 1
# Whose deeds those are who stand above all organisations. None is called so: a name does not begin with a space.
EVERYWHERE = " "


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One action: who did what to what. `before` and `after` are JSON values, or None where there is nothing to tell."""

    who: str
    action: str
    target: str
    before: Any = None
    after: Any = None
    org_id: str | None = None
    request_id: str = ""


class RecordedAuditEntry(AuditEntry, frozen=True, kw_only=True):
    id: int
    at: datetime


def record(entry: AuditEntry) -> Work[None]:
    moment = yield from now()
    values = {name: getattr(entry, name) for name in ("who", "action", "target", "request_id")}
    changes = {name: None if getattr(entry, name) is None else compact(getattr(entry, name)) for name in ("before", "after")}
    yield Statement("insert_audit", values | changes | {"org_id": entry.org_id or "", "now": moment})


def list_entries(
    *,
    org_id: str | None = None,
    target: str | None = None,
    action: str | None = None,
    who: str | None = None,
    before: int = NEWEST,
    limit: int = 50,
) -> Work[list[RecordedAuditEntry]]:
    """Newest first. `org_id` "" are entries without an organisation, and None are all."""
    asked = {"org_id": org_id, "target": target, "action": action, "who": who, "before_id": before, "limit": limit}
    return [_entry_from_row(row) for row in (yield Statement("list_audit", asked))]


def _entry_from_row(row: Row) -> RecordedAuditEntry:
    id, at, who, org_id, action, target, before, after, request_id = row
    return RecordedAuditEntry(
        id=id,
        at=from_ms(at),
        who=who,
        org_id=org_id or None,
        action=action,
        target=target,
        before=None if before is None else msgspec.json.decode(before),
        after=None if after is None else msgspec.json.decode(after),
        request_id=request_id,
    )
