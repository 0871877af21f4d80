"""Webhooks: who is told of jobs that end, what they answered, and telling them again."""

from functools import partial
from typing import Any

import msgspec
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.paging import NUMBER
from pressroom.api.routes import Routes
from pressroom.api.webhook_views import NewWebhook
from pressroom.errors import InvalidArgument, NotFound
from pressroom.notify import standard_webhooks as rules
from pressroom.notify.addresses import AddressRefused
from pressroom.store.jobs.queries import BEYOND
from pressroom.store.operators import lookup
from pressroom.store.webhooks.webhooks import Webhook, WebhookDelivery
from pressroom.web.site import PageRequest, Site, page_error

PAGE_SIZE = 50
STATES = ("waiting", "delivered", "failed", "cancelled")


def router(site: Site) -> Routes:
    """Looking needs as much as over HTTP: an address may be a secret of its own."""
    routes = Routes()
    site.get(routes, "/desk/webhooks", show_all, needs=Scope.OPERATOR)
    site.post(routes, "/desk/webhooks", create)
    site.get(routes, "/desk/webhooks/{id}", show, needs=Scope.OPERATOR)
    site.post(routes, "/desk/webhooks/{id}/test", test)
    site.post(routes, "/desk/webhooks/{id}/enable", enable)
    site.post(routes, "/desk/webhooks/{id}/rotate", rotate)
    site.post(routes, "/desk/webhooks/{id}/delete", delete)
    site.get(routes, "/desk/webhooks/deliveries/{id}", show_delivery, needs=Scope.OPERATOR)
    site.post(routes, "/desk/webhooks/deliveries/{id}/replay", replay)
    return routes


async def show_all(request: PageRequest) -> Response:
    return await _webhooks_page(request)


async def create(request: PageRequest) -> Response:
    try:
        new = _parse_new_webhook(request)
        webhook, secret = await request.site.webhooks.add(request.caller.org_id, new.url, new.events, new.kinds)
    except (AddressRefused, InvalidArgument) as error:
        return await _webhooks_page(request, status=422, wrong=str(error))
    await request.record_audit("webhook.create", _public_id(webhook), after=_audit_fields(webhook))
    return _secret_page(request, "A new webhook", webhook, secret, "Every delivery is signed with it.")


async def show(request: PageRequest, id: str) -> Response:
    webhook = await _own_webhook(request, id)
    state, before = _parse_delivery_filter(request)
    unit = partial(lookup.list_deliveries, webhook.uid, state, before, PAGE_SIZE)
    deliveries, older = await request.read(unit)
    return request.page(
        "webhook.html",
        webhook=webhook,
        name=_public_id(webhook),
        deliveries=deliveries,
        cursor=older,
        first=before != BEYOND,
        state=state or "",
        states=STATES,
        looked_at=lookup.LOOKED_AT,
    )


async def test(request: PageRequest, id: str) -> Response:
    webhook = await _own_webhook(request, id)
    delivery = await request.site.webhooks.test(webhook)
    await request.record_audit("webhook.test", _public_id(webhook), after={"delivery": f"msg_{delivery.uid}"})
    return request.redirect(f"/desk/webhooks/deliveries/msg_{delivery.uid}", "Test delivery queued.")


async def enable(request: PageRequest, id: str) -> Response:
    webhook = await _own_webhook(request, id)
    enabled = await request.site.webhooks.enable(webhook)
    await request.record_audit(
        "webhook.enable", _public_id(webhook), before=_audit_fields(webhook), after=_audit_fields(enabled)
    )
    return request.redirect(f"/desk/webhooks/{_public_id(webhook)}", "Deliveries resumed.")


async def rotate(request: PageRequest, id: str) -> Response:
    webhook = await _own_webhook(request, id)
    secret = await request.site.webhooks.rotate(webhook)
    await request.record_audit("webhook.rotate", _public_id(webhook))
    advice = "The last secret signs beside it for a day. Rotate twice to be rid of it at once."
    return _secret_page(request, "A new secret", webhook, secret, advice)


async def delete(request: PageRequest, id: str) -> Response:
    webhook = await _own_webhook(request, id)
    await request.site.webhooks.remove(webhook)
    await request.record_audit("webhook.delete", _public_id(webhook), before=_audit_fields(webhook))
    return request.redirect("/desk/webhooks", f"{_public_id(webhook)} is gone, with its secrets and deliveries.")


async def show_delivery(request: PageRequest, id: str) -> Response:
    delivery = await _own_delivery(request, id)
    webhook = await request.site.webhooks.get(delivery.webhook)
    body = rules.encode_payload(delivery.type, delivery.date_created, delivery.facts, request.site.service.base_url)
    sent = msgspec.json.format(body, indent=2).decode()
    return request.page(
        "delivery.html", delivery=delivery, webhook=webhook, name=_public_id(webhook), sent=sent, bytes_sent=len(body)
    )


async def replay(request: PageRequest, id: str) -> Response:
    delivery = await _own_delivery(request, id)
    again = await request.site.webhooks.replay(delivery)
    before, after = {"state": delivery.state, "delivered_by": delivery.job}, {"state": again.state, "delivered_by": again.job}
    await request.record_audit("delivery.replay", f"msg_{delivery.uid}", before=before, after=after)
    return request.redirect(f"/desk/webhooks/deliveries/msg_{delivery.uid}", "Replay queued, with the same webhook-id.")


async def _webhooks_page(request: PageRequest, *, status: int = 200, wrong: str = "") -> Response:
    cursor = request.cursor("[0-9A-Z]{26}")
    webhooks = await request.site.webhooks.list(request.org_id, after=cursor, limit=PAGE_SIZE + 1)
    shown = webhooks[:PAGE_SIZE]
    health = await request.read(partial(lookup.read_webhook_health, [one.uid for one in shown]))
    return request.page(
        "webhooks.html",
        status=status,
        webhooks=[(one, _public_id(one), health.get(one.uid)) for one in shown],
        judged=lookup.JUDGED,
        cursor=shown[-1].uid if len(webhooks) > PAGE_SIZE else None,
        first=bool(cursor),
        wrong=wrong,
        form=request.form,
        events=rules.EVENTS,
    )


def _parse_new_webhook(request: PageRequest) -> NewWebhook:
    form = request.form
    kinds = list(dict.fromkeys(form.get("kinds").replace(",", " ").split()))
    events = list(dict.fromkeys(form.all("events")))
    if not events:
        raise InvalidArgument("choose at least one event")
    given = {"url": form.get("url").strip(), "events": events, "kinds": kinds or None}
    try:
        return msgspec.convert(given, NewWebhook)
    except msgspec.ValidationError as reason:
        raise InvalidArgument(f"that is no webhook: {reason}") from None


def _parse_delivery_filter(request: PageRequest) -> tuple[str | None, int]:
    state = request.http.query_params.get("state", "")
    if state and state not in STATES:
        raise page_error(f"state is one of {', '.join(STATES)}")
    cursor = request.cursor(NUMBER)
    return state or None, int(cursor) if cursor else BEYOND


async def _own_webhook(request: PageRequest, id: str) -> Webhook:
    """Another organisation's does not exist: the answer is the one for what never was."""
    webhook = await request.site.webhooks.get(id.removeprefix("wh_")[:26])
    if not request.caller.owns(webhook.org_id):
        raise NotFound("there is no such webhook")
    return webhook


async def _own_delivery(request: PageRequest, id: str) -> WebhookDelivery:
    delivery = await request.site.webhooks.delivery(id.removeprefix("msg_")[:32])
    if not request.caller.owns(delivery.org_id):
        raise NotFound("there is no such delivery")
    return delivery


def _secret_page(request: PageRequest, title: str, webhook: Webhook, secret: str, advice: str) -> Response:
    return request.page(
        "secret.html",
        title=title,
        secret=secret,
        what=f"to verify what {webhook.url} is sent",
        advice=f"{advice} The receiver needs it to verify that requests come from this server.",
        back=f"/desk/webhooks/{_public_id(webhook)}",
        back_to="To the webhook",
    )


def _public_id(webhook: Webhook) -> str:
    return f"wh_{webhook.uid}"


def _audit_fields(webhook: Webhook) -> dict[str, Any]:
    return {
        "url": webhook.url,
        "events": webhook.events,
        "kinds": webhook.kinds,
        "disabled_because": webhook.disabled_because,
    }
