"""Webhooks over HTTP: create, list and remove them, read their deliveries, and deliver again."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Caller, Scope
from pressroom.api.jobs import decode_body
from pressroom.api.problems import HttpError
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import add_webhooks, json_body, json_response, path, query, reference, responses
from pressroom.api.service import Service
from pressroom.errors import NotFound
from pressroom.kinds.webhooks import Webhooks
from pressroom.notify.standard_webhooks import EVENTS, Payload
from pressroom.store.jobs.queries import BEYOND
from pressroom.store.webhooks import webhooks as store

PAGE_LIMIT = 200
_UID = "[0-9A-HJKMNP-TV-Z]{26}"  # what cursors look like
_NUMBER = "[0-9]{1,18}"

type EventName = Literal["job.completed", "job.completed_with_errors", "job.failed", "job.cancelled"]
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


_EXAMPLE = {"url": "https://example.org/hooks/pressroom", "events": ["job.completed", "job.failed"], "kinds": ["render"]}
_LIMIT = query("limit", {"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT, "default": 50}, "How many")
_STATE = query("state", {"enum": ["waiting", "delivered", "failed", "cancelled"]}, "Only these")
_NEXT = {"Link": "The next page"}
_ID = path("id", examples.WEBHOOK_ID, "The webhook")
_DELIVERY = path("id", examples.DELIVERY_ID, "The delivery")


def _cursor(pattern: str) -> dict[str, Any]:
    return query("cursor", {"type": "string", "pattern": f"^{pattern}$"}, "As the last page gave it")


def router(service: Service, webhooks: Webhooks) -> Routes:
    routes = Routes("webhooks")
    add_webhooks(_openapi_webhooks())

    @routes.post(
        "/webhooks",
        small_body=True,
        operation_id="create_webhook",
        responses=responses(
            {
                201: json_response(
                    WebhookCreated,
                    "Made; the secret is shown this once",
                    headers={"Location": "The webhook"},
                    example=examples.WEBHOOK | {"secret": examples.SIGNING},
                )
            },
            *(401, 403, 422),
        ),
        openapi=json_body(NewWebhook, "The URL, and the events that are delivered to it", example=_EXAMPLE),
    )
    async def create_webhook(request: Request) -> Response:
        """Of this organisation's jobs only. An address is https and public, unless the operator allows its host."""
        caller = await service.gate.caller(request, Scope.OPERATOR)
        new = decode_body(request, await request.body(), NewWebhook)
        made, secret = await webhooks.add(caller.org_id, new.url, _unique(new.events), new.kinds and _unique(new.kinds))
        created = WebhookCreated(**_webhook_fields(made), secret=secret)
        return reply(created, status=201, headers={"Location": f"{service.base_url}/webhooks/{created.id}", **_PRIVATE})

    @routes.get(
        "/webhooks",
        operation_id="list_webhooks",
        responses=responses(
            {
                200: json_response(
                    WebhookList, "Oldest first", headers=_NEXT, example={"items": [examples.WEBHOOK], "next_cursor": None}
                )
            },
            *(401, 403, 422),
        ),
        openapi={"parameters": [_LIMIT, _cursor(_UID)]},
    )
    async def list_webhooks(request: Request) -> Response:
        caller = await service.gate.caller(request, Scope.OPERATOR)
        limit, after = _limit(request), _parse_cursor(request, _UID) or ""
        org = None if caller.everywhere else caller.org_id or ""
        found = await webhooks.list(org, after=after, limit=limit + 1)
        cursor = found[limit - 1].uid if len(found) > limit else None
        items = [WebhookView(**_webhook_fields(webhook)) for webhook in found[:limit]]
        return reply(WebhookList(items, cursor), headers=_page_headers(service, request, cursor))

    @routes.get(
        "/webhooks/{id}",
        operation_id="get_webhook",
        responses=responses({200: json_response(WebhookView, "The webhook", example=examples.WEBHOOK)}, 401, 403, 404),
        openapi={"parameters": [_ID]},
    )
    async def get_webhook(request: Request, id: str) -> Response:
        webhook = await get_own_webhook(request, id)
        return reply(WebhookView(**_webhook_fields(webhook)), headers=_PRIVATE)

    @routes.delete(
        "/webhooks/{id}",
        operation_id="delete_webhook",
        responses=responses({204: {"description": "Gone, with its secrets and deliveries"}}, 401, 403, 404),
        openapi={"parameters": [_ID]},
    )
    async def delete_webhook(request: Request, id: str) -> Response:
        await webhooks.remove(await get_own_webhook(request, id))
        return Response(status_code=204)

    @routes.post(
        "/webhooks/{id}/rotate",
        operation_id="rotate_webhook",
        responses=responses(
            {
                200: json_response(
                    Secret,
                    "The new secret. The last one signs beside it for a day",
                    example={"id": examples.WEBHOOK_ID, "secret": examples.SIGNING},
                )
            },
            *(401, 403, 404),
        ),
        openapi={"parameters": [_ID]},
    )
    async def rotate_webhook(request: Request, id: str) -> Response:
        """Only the last two secrets sign: two rotations invalidate the old one at once."""
        webhook = await get_own_webhook(request, id)
        return reply(Secret(id=_public_id(webhook), secret=await webhooks.rotate(webhook)), headers=_PRIVATE)

    @routes.post(
        "/webhooks/{id}/enable",
        operation_id="enable_webhook",
        responses=responses(
            {200: json_response(WebhookView, "It is told again, from now on", example=examples.WEBHOOK)}, *(401, 403, 404)
        ),
        openapi={"parameters": [_ID]},
    )
    async def enable_webhook(request: Request, id: str) -> Response:
        """For one that was disabled because its receiver answered 410."""
        webhook = await webhooks.enable(await get_own_webhook(request, id))
        return reply(WebhookView(**_webhook_fields(webhook)), headers=_PRIVATE)

    @routes.post(
        "/webhooks/{id}/test",
        operation_id="test_webhook",
        responses=responses(
            {
                202: json_response(
                    DeliveryView,
                    "An event of the type webhook.test is on its way",
                    example=examples.WAITING_DELIVERY | {"type": "webhook.test", "job_id": None},
                )
            },
            *(401, 403, 404),
        ),
        openapi={"parameters": [_ID]},
    )
    async def test_webhook(request: Request, id: str) -> Response:
        made = await webhooks.test(await get_own_webhook(request, id))
        return reply(_delivery_view(made), status=202, headers=_PRIVATE)

    @routes.get(
        "/webhooks/{id}/deliveries",
        operation_id="list_deliveries",
        responses=responses(
            {
                200: json_response(
                    DeliveryList,
                    "Newest first, for thirty days",
                    headers=_NEXT,
                    example={"items": [examples.DELIVERY], "next_cursor": None},
                )
            },
            *(401, 403, 404, 422),
        ),
        openapi={"parameters": [_ID, _STATE, _LIMIT, _cursor(_NUMBER)]},
    )
    async def list_deliveries(request: Request, id: str) -> Response:
        webhook = await get_own_webhook(request, id)
        limit, state = _limit(request), request.query_params.get("state")
        if state not in (None, "waiting", "delivered", "failed", "cancelled"):
            raise HttpError(422, "invalid_argument", "state is waiting, delivered, failed or cancelled")
        before = int(_parse_cursor(request, _NUMBER) or BEYOND)
        found = await webhooks.deliveries(webhook, state=state, before=before, limit=limit + 1)
        cursor = str(found[limit - 1].id) if len(found) > limit else None
        return reply(
            DeliveryList([_delivery_view(one) for one in found[:limit]], cursor),
            headers=_page_headers(service, request, cursor),
        )

    @routes.get(
        "/webhooks/deliveries/{id}",
        operation_id="get_delivery",
        responses=responses({200: json_response(DeliveryView, "The delivery", example=examples.DELIVERY)}, 401, 403, 404),
        openapi={"parameters": [_DELIVERY]},
    )
    async def get_delivery(request: Request, id: str) -> Response:
        return reply(_delivery_view(await _own_delivery(request, id)), headers=_PRIVATE)

    @routes.post(
        "/webhooks/deliveries/{id}/replay",
        operation_id="replay_delivery",
        responses=responses(
            {
                202: json_response(
                    DeliveryView, "It is delivered again, with the same webhook-id", example=examples.WAITING_DELIVERY
                )
            },
            *(401, 403, 404),
        ),
        openapi={"parameters": [_DELIVERY]},
    )
    async def replay_delivery(request: Request, id: str) -> Response:
        """Whatever became of it. One that still waits for its next attempt is tried now."""
        replayed = await webhooks.replay(await _own_delivery(request, id))
        return reply(_delivery_view(replayed), status=202, headers=_PRIVATE)

    async def get_own_webhook(request: Request, id: str) -> store.Webhook:
        caller = await service.gate.caller(request, Scope.OPERATOR)
        webhook = await webhooks.get(id.removeprefix("wh_")[:26])
        return _if_own(caller, webhook, webhook.org_id, NotFound("there is no such webhook"))

    async def _own_delivery(request: Request, id: str) -> store.WebhookDelivery:
        caller = await service.gate.caller(request, Scope.OPERATOR)
        delivery = await webhooks.delivery(id.removeprefix("msg_")[:32])
        return _if_own(caller, delivery, delivery.org_id, NotFound("there is no such delivery"))

    return routes


def _openapi_webhooks() -> dict[str, Any]:
    """What a receiver is sent, for the document."""
    signed = ("webhook-id", "The same for every attempt"), ("webhook-timestamp", "Seconds"), ("webhook-signature", "v1,…")
    parameters = [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}, "description": text}
        for name, text in signed
    ]
    body = {"required": True, "content": {"application/json": {"schema": reference(Payload)}}}
    declared = {"2XX": {"description": "Received. Anything else is tried again"}, "410": {"description": "Send nothing more"}}
    return {
        name: {
            "post": {
                "operationId": f"on_{name.replace('.', '_')}",
                "tags": ["webhooks"],
                "summary": f"A job ended: {name}",
                "parameters": parameters,
                "requestBody": body,
                "responses": declared,
            }
        }
        for name in EVENTS
    }


_PRIVATE = {"Cache-Control": "no-store"}


def _if_own[T](caller: Caller, value: T, org_id: str | None, absent: NotFound) -> T:
    """Another organisation's does not exist: the answer is the one for what never was."""
    if not caller.owns(org_id):
        raise absent
    return value


def _webhook_fields(webhook: store.Webhook) -> dict[str, Any]:
    return {
        "id": _public_id(webhook),
        "url": webhook.url,
        "events": webhook.events,
        "kinds": webhook.kinds,
        "disabled_because": webhook.disabled_because,
        "date_created": webhook.date_created,
    }


def _public_id(webhook: store.Webhook) -> str:
    return f"wh_{webhook.uid}"


def _delivery_view(delivery: store.WebhookDelivery) -> DeliveryView:
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


def _unique(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _limit(request: Request) -> int:
    given = request.query_params.get("limit", "50")
    if not (given.isascii() and given.isdigit() and len(given) < 10 and 1 <= int(given) <= PAGE_LIMIT):
        raise HttpError(422, "invalid_argument", f"limit is a whole number from 1 to {PAGE_LIMIT}")
    return int(given)


def _parse_cursor(request: Request, pattern: str) -> str | None:
    given = request.query_params.get("cursor")
    if given is not None and not re.fullmatch(pattern, given):
        raise HttpError(422, "invalid_argument", "that is not a cursor; pass the one that the last page gave")
    return given


def _page_headers(service: Service, request: Request, cursor: str | None) -> dict[str, str]:
    if cursor is None:
        return _PRIVATE
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    where = f"{service.base_url}{request.url.path}?{urlencode([*rest, ('cursor', cursor)])}"
    return {"Link": f'<{where}>; rel="next"', **_PRIVATE}
