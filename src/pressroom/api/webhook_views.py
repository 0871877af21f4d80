"""Webhooks and their deliveries as the API shows them."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from pressroom.api.schema import reference
from pressroom.notify.standard_webhooks import ALERT_RAISED, EVENTS, AlertPayload, Payload
from pressroom.store.webhooks import webhooks as store

type EventName = Literal["job.completed", "job.completed_with_errors", "job.failed", "job.cancelled", "alert.raised"]
type KindName = Annotated[str, Meta(min_length=1, max_length=100)]


class NewWebhook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A URL, and the events that are delivered to it. Without `kinds`, those of jobs of every kind."""

    url: Annotated[str, Meta(min_length=1, max_length=2048)]
    events: Annotated[list[EventName], Meta(min_length=1, max_length=20)]
    kinds: Annotated[list[KindName], Meta(min_length=1, max_length=50)] | None = None


class WebhookView(msgspec.Struct, frozen=True, kw_only=True):
    """`disabled_because` says why it is told nothing more; None while it is."""

    id: str
    url: str
    events: list[str]
    kinds: list[str] | None
    disabled_because: str | None
    date_created: datetime


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """The secret to verify signatures with. It is shown this once."""

    id: str
    secret: str


class WebhookCreated(WebhookView, frozen=True, kw_only=True):
    """A new webhook with its secret, which is shown this once."""

    secret: str


class WebhookList(msgspec.Struct, frozen=True):
    items: list[WebhookView]
    next_cursor: str | None


class DeliveryView(msgspec.Struct, frozen=True, kw_only=True):
    """One event for one webhook. `id` is what the receiver sees as `webhook-id`; `delivered_by` is the job that delivers it.

    `status` and `response` are what the receiver last answered: the HTTP status, and the first kilobyte.
    """

    id: str
    webhook: str
    type: str
    job_id: str | None
    state: Literal["waiting", "delivered", "failed", "cancelled"]
    attempts: int
    status: int | None
    response: str | None
    error: str | None
    delivered_by: str | None
    next_attempt: datetime | None
    date_created: datetime
    date_attempted: datetime | None
    date_ended: datetime | None


class DeliveryList(msgspec.Struct, frozen=True):
    items: list[DeliveryView]
    next_cursor: str | None


def webhook_fields(webhook: store.Webhook) -> dict[str, Any]:
    return {
        "id": public_id(webhook),
        "url": webhook.url,
        "events": webhook.events,
        "kinds": webhook.kinds,
        "disabled_because": webhook.disabled_because,
        "date_created": webhook.date_created,
    }


def public_id(webhook: store.Webhook) -> str:
    return f"wh_{webhook.uid}"


def delivery_view(delivery: store.WebhookDelivery) -> DeliveryView:
    about = delivery.facts.get("id")
    return DeliveryView(
        id=f"msg_{delivery.uid}",
        webhook=f"wh_{delivery.webhook}",
        type=delivery.type,
        job_id=about and f"job_{about}",
        state=delivery.state,  # type: ignore[arg-type]
        attempts=delivery.attempts,
        status=delivery.status,
        response=delivery.response,
        error=delivery.error,
        delivered_by=delivery.job and f"job_{delivery.job}",
        next_attempt=delivery.next_attempt,
        date_created=delivery.date_created,
        date_attempted=delivery.date_attempted,
        date_ended=delivery.date_ended,
    )


def openapi_webhooks() -> dict[str, Any]:
    """What a receiver is sent, for the document."""
    signed = ("webhook-id", "The same for every attempt"), ("webhook-timestamp", "Seconds"), ("webhook-signature", "v1,…")
    parameters = [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}, "description": text}
        for name, text in signed
    ]
    declared = {"2XX": {"description": "Received. Anything else is tried again"}, "410": {"description": "Send nothing more"}}
    return {
        name: {
            "post": {
                "operationId": f"on_{name.replace('.', '_')}",
                "tags": ["webhooks"],
                "summary": f"{'An alert was raised' if name == ALERT_RAISED else 'A job ended'}: {name}",
                "parameters": parameters,
                "requestBody": _payload_body(AlertPayload if name == ALERT_RAISED else Payload),
                "responses": declared,
            }
        }
        for name in EVENTS
    }


def _payload_body(payload: Any) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": reference(payload)}}}
