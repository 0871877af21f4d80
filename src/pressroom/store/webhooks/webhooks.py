"""Webhooks and their deliveries: units of work. What is owed is written by a trigger (migrations/*/0006_webhooks.sql)."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from pressroom.errors import InvalidArgument, NotFound
from pressroom.model import Row, Statement, Status, Work, from_ms
from pressroom.store.jobs import endings, submitting
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.store.jobs.transitions import Kinds, now

MOST = 50  # webhooks of one organisation: every ending looks at each
EVERY_ORG = "*"  # no organisation has this name
ALERT_WEBHOOK = "0" * 26  # the uid of the one that the setting alert_webhook_url declares
_STATES = {Status.COMPLETED: "delivered", Status.CANCELLED: "cancelled"}


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """Where to deliver, without the secrets."""

    uid: str
    org_id: str | None
    url: str
    events: list[str]
    kinds: list[str] | None
    disabled_because: str | None
    date_created: datetime

    @property
    def is_from_settings(self) -> bool:
        """Its address and its secret are in the settings, and not in the database; `url` names the host alone."""
        return self.uid == ALERT_WEBHOOK


class DueDelivery(msgspec.Struct, frozen=True):
    """A delivery that has no job yet."""

    id: int
    uid: str
    webhook: str
    type: str
    org_id: str


class DeliveryAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """All that one attempt needs. The secrets are in it: it is not shown, logged or kept."""

    webhook: Webhook
    secrets: list[str]
    type: str
    facts: dict[str, Any]
    attempt: int
    at: datetime


class WebhookDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """An event for a webhook, and how far it has come."""

    id: int
    uid: str
    webhook: str
    org_id: str | None
    type: str
    facts: dict[str, Any]
    state: str
    job: str | None
    attempts: int
    status: int | None
    response: str | None
    error: str | None
    date_created: datetime
    date_attempted: datetime | None
    date_ended: datetime | None
    next_attempt: datetime | None


# Makes the job that carries a delivery out.
type Carrier = Callable[[DueDelivery], CheckedJob]


def add(uid: str, org_id: str, url: str, events: Sequence[str], kinds: Sequence[str] | None, secret: str) -> Work[Webhook]:
    ((count,),) = yield Statement("count_webhooks", {"org_id": org_id})
    if count >= MOST:
        raise InvalidArgument(f"there are {MOST} webhooks already, which is the most; delete one first")
    row = {
        "uid": uid,
        "org_id": org_id,
        "url": url,
        "events": compact(events),
        "kinds": None if kinds is None else compact(kinds),
        "now": (yield from now()),
    }
    yield Statement("insert_webhook", row)
    yield Statement("insert_webhook_secret", {"webhook": uid, "secret": secret})
    return (yield from get(uid))


def declare_alert_webhook(shown_url: str | None, events: Sequence[str], unset: str) -> Work[None]:
    """Store that the settings name an address for alerts, or that they name none any more, for the reason `unset`."""
    rows = yield Statement("find_webhook", {"uid": ALERT_WEBHOOK})
    if shown_url is None:
        if rows and _webhook_of(rows[0]).disabled_because is None:
            yield from set_disabled_reason(ALERT_WEBHOOK, unset)
        return
    if rows and (_webhook_of(rows[0]).url, _webhook_of(rows[0]).disabled_because != unset) == (shown_url, True):
        return  # as it was: it may have been disabled because its receiver is gone
    row = {"uid": ALERT_WEBHOOK, "org_id": EVERY_ORG, "url": shown_url, "events": compact(events), "now": (yield from now())}
    yield Statement("save_alert_webhook", row)


def get(uid: str) -> Work[Webhook]:
    rows = yield Statement("find_webhook", {"uid": uid})
    if not rows:
        raise NotFound("there is no such webhook")
    return _webhook_of(rows[0])


def list_all(org_id: str | None, after: str, limit: int) -> Work[list[Webhook]]:
    rows = yield Statement("list_webhooks", {"org_id": org_id, "after": after, "limit": limit})
    return [_webhook_of(row) for row in rows]


def remove(uid: str) -> Work[None]:
    yield Statement("delete_webhook", {"uid": uid})


def set_disabled_reason(uid: str, reason: str | None) -> Work[None]:
    """With no reason it is enabled again."""
    yield Statement("disable_webhook", {"uid": uid, "reason": reason})


def rotate(uid: str, secret: str, overlap: int) -> Work[None]:
    """Sign with a new secret, and beside it with the last one for `overlap` milliseconds. Older ones are forgotten."""
    moment = yield from now()
    yield Statement("delete_retired_webhook_secrets", {"webhook": uid})
    yield Statement("retire_webhook_secret", {"webhook": uid, "expires_at": moment + overlap})
    yield Statement("insert_webhook_secret", {"webhook": uid, "secret": secret})


def any_due_delivery() -> Work[bool]:
    return bool((yield Statement("any_delivery_due")))


def submit_due_deliveries(make_job: Carrier, limit: int) -> Work[int]:
    """Give each delivery that is owed its job. In one transaction: a delivery has a job, or is owed still."""
    rows = yield Statement("list_due_deliveries", {"limit": limit})
    for row in rows:
        yield from _submit_delivery(DueDelivery(*row), make_job)
    return len(rows)


def _submit_delivery(due: DueDelivery, make_job: Carrier) -> Work[None]:
    submitted = yield from submitting.submit(make_job(due))
    yield Statement("assign_delivery", {"uid": due.uid, "job": submitted.uid})


def test(webhook: Webhook, type: str, facts: dict[str, Any], make_job: Carrier) -> Work[WebhookDelivery]:
    """A delivery of no event, to see whether it arrives."""
    moment = yield from now()
    row = {"webhook": webhook.uid, "type": type, "facts": compact(facts), "now": moment}
    ((uid,),) = yield Statement("insert_test_delivery", row)
    made = yield from delivery(uid)
    yield from _submit_delivery(_as_due_delivery(made), make_job)
    return (yield from delivery(uid))


def replay(uid: str, make_job: Carrier, kinds: Kinds) -> Work[WebhookDelivery]:
    """Deliver once more, now, by a new job. If one still tries, it is cancelled and this one goes on instead."""
    known = yield from delivery(uid)
    if known.state == "waiting" and known.job is not None:
        yield from endings.cancel(known.job, kinds, "replayed")
    yield from _submit_delivery(_as_due_delivery(known), make_job)
    return (yield from delivery(uid))


def begin_attempt(uid: str, job: str, org_id: str) -> Work[DeliveryAttempt | None]:
    """Begin an attempt. None if the delivery is gone, with its webhook or by its age, or is another organisation's."""
    moment = yield from now()
    rows = yield Statement("take_delivery", {"uid": uid, "job": job, "org_id": org_id, "now": moment})
    if not rows:
        return None
    owner, type, facts, attempt, created = rows[0]
    webhook = yield from get(owner)
    secrets = yield Statement("list_webhook_secrets", {"webhook": owner, "now": moment})
    return DeliveryAttempt(
        webhook=webhook,
        secrets=[secret for (secret,) in secrets],
        type=type,
        facts=json.loads(facts),
        attempt=attempt,
        at=from_ms(created),
    )


def record_response(uid: str, job: str, status: int | None, response: str | None, error: str | None) -> Work[None]:
    yield Statement(
        "record_delivery_response", {"uid": uid, "job": job, "status": status, "response": response, "error": error}
    )


def settle(uid: str, job: str, status: Status, error: str | None) -> Work[None]:
    moment = yield from now()
    state = _STATES.get(status, "failed")
    yield Statement("settle_delivery", {"uid": uid, "job": job, "state": state, "error": error, "now": moment})


def delivery(uid: str) -> Work[WebhookDelivery]:
    rows = yield Statement("find_delivery", {"uid": uid})
    if not rows:
        raise NotFound("there is no such delivery")
    return delivery_of(rows[0])


def deliveries(webhook: str, state: str | None, before: int, limit: int) -> Work[list[WebhookDelivery]]:
    rows = yield Statement("list_deliveries", {"webhook": webhook, "state": state, "before": before, "limit": limit})
    return [delivery_of(row) for row in rows]


def delete_old_deliveries(retention: int, limit: int) -> Work[int]:
    """Delete deliveries that ended long ago."""
    moment = yield from now()
    return len((yield Statement("delete_old_deliveries", {"before": moment - retention, "limit": limit})))


def _webhook_of(row: Row) -> Webhook:
    uid, org_id, url, events, kinds, disabled_because, created = row
    return Webhook(
        uid=uid,
        org_id=org_id or None,
        url=url,
        events=json.loads(events),
        kinds=None if kinds is None else json.loads(kinds),
        disabled_because=disabled_because,
        date_created=from_ms(created),
    )


def delivery_of(row: Row) -> WebhookDelivery:
    # fmt: off
    (id, uid, webhook, org_id, type, facts, state, job, attempts, status, response, error, created, attempted, ended,
     next_attempt) = row
    # fmt: on
    return WebhookDelivery(
        id=id,
        uid=uid,
        webhook=webhook,
        org_id=org_id or None,
        type=type,
        facts=json.loads(facts),
        state=state,
        job=job,
        attempts=attempts,
        status=status,
        response=response,
        error=error,
        date_created=from_ms(created),
        date_attempted=None if attempted is None else from_ms(attempted),
        date_ended=None if ended is None else from_ms(ended),
        next_attempt=None if next_attempt is None else from_ms(next_attempt),
    )


def _as_due_delivery(known: WebhookDelivery) -> DueDelivery:
    return DueDelivery(known.id, known.uid, known.webhook, known.type, known.org_id or "")
