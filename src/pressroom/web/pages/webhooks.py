"""Webhooks: who is told of jobs that end, what they answered, and telling them again."""

import re
from functools import partial
from typing import Any

import msgspec
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.api.webhooks import NewWebhook
from pressroom.errors import InvalidArgument, NotFound
from pressroom.notify import standard_webhooks as rules
from pressroom.notify.addresses import AddressRefused
from pressroom.store.jobs.queries import BEYOND
from pressroom.store.operators import lookup
from pressroom.store.webhooks.webhooks import Webhook, WebhookDelivery
from pressroom.web.desk import Desk, Visit, refuse

PAGE = 50
STATES = ("waiting", "delivered", "failed", "cancelled")


def router(desk: Desk) -> Routes:
    """Looking needs as much as over HTTP: an address may be a secret of its own."""
    routes = Routes()
    desk.get(routes, "/desk/webhooks", show_all, needs=Scope.OPERATOR)
    desk.post(routes, "/desk/webhooks", create)
    desk.get(routes, "/desk/webhooks/{id}", show, needs=Scope.OPERATOR)
    desk.post(routes, "/desk/webhooks/{id}/test", test)
    desk.post(routes, "/desk/webhooks/{id}/enable", enable)
    desk.post(routes, "/desk/webhooks/{id}/rotate", rotate)
    desk.post(routes, "/desk/webhooks/{id}/delete", delete)
    desk.get(routes, "/desk/webhooks/deliveries/{id}", show_delivery, needs=Scope.OPERATOR)
    desk.post(routes, "/desk/webhooks/deliveries/{id}/replay", replay)
    return routes


async def show_all(visit: Visit) -> Response:
    return await _list(visit)


async def create(visit: Visit) -> Response:
    try:
        new = _new(visit)
        made, secret = await visit.desk.webhooks.add(visit.caller.org_id, new.url, new.events, new.kinds)
    except (AddressRefused, InvalidArgument) as error:
        return await _list(visit, status=422, wrong=str(error))
    await visit.note("webhook.create", _name(made), after=_told(made))
    return _secret_page(visit, "A new webhook", made, secret, "Every delivery is signed with it.")


async def show(visit: Visit, id: str) -> Response:
    webhook = await _own(visit, id)
    state, before = _asked_for(visit)
    unit = partial(lookup.deliveries, webhook.uid, state, before, PAGE)
    deliveries, older = await visit.desk.service.rendering.database.read(unit)
    return visit.page(
        "webhook.html",
        webhook=webhook,
        name=_name(webhook),
        deliveries=deliveries,
        cursor=older,
        first=before != BEYOND,
        state=state or "",
        states=STATES,
        looked_at=lookup.LOOKED_AT,
    )


async def test(visit: Visit, id: str) -> Response:
    webhook = await _own(visit, id)
    made = await visit.desk.webhooks.test(webhook)
    await visit.note("webhook.test", _name(webhook), after={"delivery": f"msg_{made.uid}"})
    return visit.go(f"/desk/webhooks/deliveries/msg_{made.uid}", "A test is on its way.")


async def enable(visit: Visit, id: str) -> Response:
    webhook = await _own(visit, id)
    enabled = await visit.desk.webhooks.enable(webhook)
    await visit.note("webhook.enable", _name(webhook), before=_told(webhook), after=_told(enabled))
    return visit.go(f"/desk/webhooks/{_name(webhook)}", "It is told again what happens from now on.")


async def rotate(visit: Visit, id: str) -> Response:
    webhook = await _own(visit, id)
    secret = await visit.desk.webhooks.rotate(webhook)
    await visit.note("webhook.rotate", _name(webhook))
    advice = "The last secret signs beside it for a day. Rotate twice to be rid of it at once."
    return _secret_page(visit, "A new secret", webhook, secret, advice)


async def delete(visit: Visit, id: str) -> Response:
    webhook = await _own(visit, id)
    await visit.desk.webhooks.remove(webhook)
    await visit.note("webhook.delete", _name(webhook), before=_told(webhook))
    return visit.go("/desk/webhooks", f"{_name(webhook)} is gone, with its secrets and deliveries.")


async def show_delivery(visit: Visit, id: str) -> Response:
    delivery = await _own_delivery(visit, id)
    webhook = await visit.desk.webhooks.get(delivery.webhook)
    body = rules.encode_payload(delivery.type, delivery.date_created, delivery.facts, visit.desk.service.base_url)
    sent = msgspec.json.format(body, indent=2).decode()
    return visit.page("delivery.html", delivery=delivery, webhook=webhook, name=_name(webhook), sent=sent, bytes_sent=len(body))


async def replay(visit: Visit, id: str) -> Response:
    delivery = await _own_delivery(visit, id)
    again = await visit.desk.webhooks.replay(delivery)
    before, after = {"state": delivery.state, "delivered_by": delivery.job}, {"state": again.state, "delivered_by": again.job}
    await visit.note("delivery.replay", f"msg_{delivery.uid}", before=before, after=after)
    return visit.go(f"/desk/webhooks/deliveries/msg_{delivery.uid}", "It is delivered again, with the same webhook-id.")


async def _list(visit: Visit, *, status: int = 200, wrong: str = "") -> Response:
    cursor = visit.request.query_params.get("cursor", "")
    if cursor and not re.fullmatch("[0-9A-Z]{26}", cursor):
        raise refuse("that is not a cursor; follow the link to the next page")
    found = await visit.desk.webhooks.list(visit.org_id, after=cursor, limit=PAGE + 1)
    shown = found[:PAGE]
    health = await visit.desk.service.rendering.database.read(partial(lookup.health_of, [one.uid for one in shown]))
    return visit.page(
        "webhooks.html",
        status=status,
        webhooks=[(one, _name(one), health.get(one.uid)) for one in shown],
        judged=lookup.JUDGED,
        cursor=shown[-1].uid if len(found) > PAGE else None,
        first=bool(cursor),
        wrong=wrong,
        form=visit.form,
        events=rules.EVENTS,
    )


def _new(visit: Visit) -> NewWebhook:
    form = visit.form
    kinds = list(dict.fromkeys(form.get("kinds").replace(",", " ").split()))
    events = list(dict.fromkeys(form.all("events")))
    if not events:
        raise InvalidArgument("choose at least one event")
    given = {"url": form.get("url").strip(), "events": events, "kinds": kinds or None}
    try:
        return msgspec.convert(given, NewWebhook)
    except msgspec.ValidationError as reason:
        raise InvalidArgument(f"that is no webhook: {reason}") from None


def _asked_for(visit: Visit) -> tuple[str | None, int]:
    query = visit.request.query_params
    state, cursor = query.get("state", ""), query.get("cursor", "")
    if state and state not in STATES:
        raise refuse(f"state is one of {', '.join(STATES)}")
    if cursor and not re.fullmatch("[0-9]{1,18}", cursor):
        raise refuse("that is not a cursor; follow the link to the next page")
    return state or None, int(cursor) if cursor else BEYOND


async def _own(visit: Visit, id: str) -> Webhook:
    """Another organisation's does not exist: the answer is the one for what never was."""
    webhook = await visit.desk.webhooks.get(id.removeprefix("wh_")[:26])
    if not visit.caller.owns(webhook.org_id):
        raise NotFound("there is no such webhook")
    return webhook


async def _own_delivery(visit: Visit, id: str) -> WebhookDelivery:
    delivery = await visit.desk.webhooks.delivery(id.removeprefix("msg_")[:32])
    if not visit.caller.owns(delivery.org_id):
        raise NotFound("there is no such delivery")
    return delivery


def _secret_page(visit: Visit, title: str, webhook: Webhook, secret: str, advice: str) -> Response:
    return visit.page(
        "secret.html",
        title=title,
        secret=secret,
        what=f"to verify what {webhook.url} is sent",
        advice=f"{advice} The receiver needs it to tell our requests from anybody's.",
        back=f"/desk/webhooks/{_name(webhook)}",
        back_to="To the webhook",
    )


def _name(webhook: Webhook) -> str:
    return f"wh_{webhook.uid}"


def _told(webhook: Webhook) -> dict[str, Any]:
    return {
        "url": webhook.url,
        "events": webhook.events,
        "kinds": webhook.kinds,
        "disabled_because": webhook.disabled_because,
    }
