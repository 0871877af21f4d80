"""Alerts: raised in the transaction that ends a job as failed, listed, acknowledged and deleted. Units of work."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from pressroom.errors import NotFound
from pressroom.model import Row, Statement, Work, from_ms
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now
from pressroom.store.operators import audit
from pressroom.store.operators.audit import AuditEntry
from pressroom.store.operators.failures import FailedJob

REPEAT_AFTER = 3_600_000  # milliseconds between two notices of one open alert, however often it is raised
CODE_LIMIT = 200
MESSAGE_LIMIT = 2_000
NEWEST = (1 << 62) - 1


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """Final failures that agree in organisation, kind, subject and code.

    `job` is the uid of the latest, and `print` names the group of failures that it belongs to; None once that job is deleted.
    """

    id: int
    org_id: str | None
    kind: str
    subject: str | None
    code: str
    message: str
    count: int
    job: str
    first_at: datetime
    last_at: datetime
    acked_by: str | None
    acked_at: datetime | None
    print: str | None

    @property
    def is_open(self) -> bool:
        return self.acked_at is None


def raise_alerts(failed: Sequence[FailedJob], moment: int) -> Work[None]:
    """For jobs that this transaction has ended as failed. The database knows whose kinds raise alerts: a rescue may be done by
    a process that does not know the kind."""
    rows = [(one.id, _text(one, "code", CODE_LIMIT), _text(one, "message", MESSAGE_LIMIT)) for one in failed]
    yield Statement("raise_alerts", {"failures": compact(rows), "now": moment, "repeat_after": REPEAT_AFTER})


def _text(failed: FailedJob, name: str, limit: int) -> str:
    return str(failed.error.get(name, ""))[:limit]


def find(id: int) -> Work[Alert]:
    rows = yield Statement("find_alert", {"id": id})
    if not rows:
        raise no_such_alert()
    return _alert_of(rows[0])


def no_such_alert() -> NotFound:
    return NotFound("there is no such alert; the id is wrong, or it was deleted some time after it was acknowledged")


def list_alerts(
    org_id: str | None, *, is_open: bool | None = None, kind: str | None = None, before: int = NEWEST, limit: int = 50
) -> Work[list[Alert]]:
    """Newest first. `org_id` "" is the default organisation, and None are all."""
    wanted = {"org_id": org_id, "kind": kind, "open": None if is_open is None else int(is_open)}
    return [_alert_of(row) for row in (yield Statement("list_alerts", wanted | {"before": before, "limit": limit}))]


def count_open(org_id: str | None) -> Work[int]:
    ((count,),) = yield Statement("count_open_alerts", {"org_id": org_id})
    return int(count)


def ack(id: int, entry: AuditEntry) -> Work[Alert]:
    """Acknowledge one, with an entry of the audit log that says who did so. The first acknowledgement stays."""
    moment = yield from now()
    if (yield Statement("ack_alert", {"id": id, "by": entry.who, "now": moment})):
        yield from audit.record(entry)
    return (yield from find(id))


def ack_all(org_id: str | None, entry: AuditEntry, *, kind: str | None = None, until: int | None = None) -> Work[int]:
    """Acknowledge those that are open, but not those that failed again after `until`. Returns how many."""
    moment = yield from now()
    chosen = {"org_id": org_id, "kind": kind, "until": until}
    acked = len((yield Statement("ack_alerts", chosen | {"by": entry.who, "now": moment})))
    if acked:
        yield from audit.record(msgspec.structs.replace(entry, after={"acknowledged": acked}))
    return acked


def any_old(kept_for: int) -> Work[bool]:
    moment = yield from now()
    return bool((yield Statement("any_old_alert", {"before": moment - kept_for})))


def forget(kept_for: int, limit: int) -> Work[int]:
    """Delete alerts that were acknowledged more than `kept_for` milliseconds ago."""
    moment = yield from now()
    return len((yield Statement("delete_old_alerts", {"before": moment - kept_for, "limit": limit})))


def _alert_of(row: Row) -> Alert:
    id, org_id, kind, subject, code, message, count, job, first_at, last_at, acked_by, acked_at, print = row
    return Alert(
        id=id,
        org_id=org_id or None,
        kind=kind,
        subject=subject or None,
        code=code,
        message=message,
        count=count,
        job=job,
        first_at=from_ms(first_at),
        last_at=from_ms(last_at),
        acked_by=acked_by,
        acked_at=None if acked_at is None else from_ms(acked_at),
        print=print,
    )
