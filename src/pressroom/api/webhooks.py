"""Webhooks over HTTP: create, list and remove them, read their deliveries, and deliver again."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Caller, Scope
from pressroom.api.json_body import decode_body
from pressroom.api.paging import LIMIT, NUMBER, cursor_parameter, next_page_link, parse_cursor, parse_limit
from pressroom.api.problems import HttpError
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import add_webhooks, json_body, json_response, path, query, responses
from pressroom.api.service import Service
from pressroom.api.webhook_views import (
    DeliveryList,
    DeliveryView,
    NewWebhook,
    Secret,
    WebhookCreated,
    WebhookList,
    WebhookView,
    delivery_view,
    openapi_webhooks,
    public_id,
    webhook_fields,
)
from pressroom.errors import NotFound
from pressroom.kinds.webhooks import Webhooks
from pressroom.store.jobs.queries import BEYOND
from pressroom.store.webhooks import webhooks as store

_UID = "[0-9A-HJKMNP-TV-Z]{26}"  # what cursors look like

_EXAMPLE = {"url": "https://example.org/hooks/pressroom", "events": ["job.completed", "job.failed"], "kinds": ["render"]}
_STATE = query("state", {"enum": ["waiting", "delivered", "failed", "cancelled"]}, "Only these")
_NEXT = {"Link": "The next page"}
_ID = path("id", examples.WEBHOOK_ID, "The webhook")
_DELIVERY = path("id", examples.DELIVERY_ID, "The delivery")


_CREATE_WEBHOOK: dict[str, Any] = {
    "small_body": True,
    "responses": responses(
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
    "openapi": json_body(NewWebhook, "The URL, and the events that are delivered to it", example=_EXAMPLE),
}
_LIST_WEBHOOKS: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                WebhookList, "Oldest first", headers=_NEXT, example={"items": [examples.WEBHOOK], "next_cursor": None}
            )
        },
        *(401, 403, 422),
    ),
    "openapi": {"parameters": [LIMIT, cursor_parameter(_UID)]},
}
_GET_WEBHOOK: dict[str, Any] = {
    "responses": responses({200: json_response(WebhookView, "The webhook", example=examples.WEBHOOK)}, 401, 403, 404),
    "openapi": {"parameters": [_ID]},
}
_DELETE_WEBHOOK: dict[str, Any] = {
    "responses": responses({204: {"description": "Gone, with its secrets and deliveries"}}, 401, 403, 404, 409),
    "openapi": {"parameters": [_ID]},
}
_ROTATE_WEBHOOK: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                Secret,
                "The new secret. The last one signs beside it for a day",
                example={"id": examples.WEBHOOK_ID, "secret": examples.SIGNING},
            )
        },
        *(401, 403, 404, 409),
    ),
    "openapi": {"parameters": [_ID]},
}
_ENABLE_WEBHOOK: dict[str, Any] = {
    "responses": responses(
        {200: json_response(WebhookView, "It is told again, from now on", example=examples.WEBHOOK)}, *(401, 403, 404)
    ),
    "openapi": {"parameters": [_ID]},
}
_TEST_WEBHOOK: dict[str, Any] = {
    "responses": responses(
        {
            202: json_response(
                DeliveryView,
                "An event of the type webhook.test is on its way",
                example=examples.WAITING_DELIVERY | {"type": "webhook.test", "job_id": None},
            )
        },
        *(401, 403, 404),
    ),
    "openapi": {"parameters": [_ID]},
}
_LIST_DELIVERIES: dict[str, Any] = {
    "responses": responses(
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
    "openapi": {"parameters": [_ID, _STATE, LIMIT, cursor_parameter(NUMBER)]},
}
_GET_DELIVERY: dict[str, Any] = {
    "responses": responses({200: json_response(DeliveryView, "The delivery", example=examples.DELIVERY)}, 401, 403, 404),
    "openapi": {"parameters": [_DELIVERY]},
}
_REPLAY_DELIVERY: dict[str, Any] = {
    "responses": responses(
        {
            202: json_response(
                DeliveryView, "It is delivered again, with the same webhook-id", example=examples.WAITING_DELIVERY
            )
        },
        *(401, 403, 404),
    ),
    "openapi": {"parameters": [_DELIVERY]},
}


def router(service: Service, webhooks: Webhooks) -> Routes:
    routes = Routes("webhooks")
    add_webhooks(openapi_webhooks())
    api = WebhooksApi(service, webhooks)
    routes.add("/webhooks", api.create_webhook, "POST", **_CREATE_WEBHOOK)
    routes.add("/webhooks", api.list_webhooks, "GET", **_LIST_WEBHOOKS)
    routes.add("/webhooks/{id}", api.get_webhook, "GET", **_GET_WEBHOOK)
    routes.add("/webhooks/{id}", api.delete_webhook, "DELETE", **_DELETE_WEBHOOK)
    routes.add("/webhooks/{id}/rotate", api.rotate_webhook, "POST", **_ROTATE_WEBHOOK)
    routes.add("/webhooks/{id}/enable", api.enable_webhook, "POST", **_ENABLE_WEBHOOK)
    routes.add("/webhooks/{id}/test", api.test_webhook, "POST", **_TEST_WEBHOOK)
    routes.add("/webhooks/{id}/deliveries", api.list_deliveries, "GET", **_LIST_DELIVERIES)
    routes.add("/webhooks/deliveries/{id}", api.get_delivery, "GET", **_GET_DELIVERY)
    routes.add("/webhooks/deliveries/{id}/replay", api.replay_delivery, "POST", **_REPLAY_DELIVERY)
    return routes


class WebhooksApi:
    def __init__(self, service: Service, webhooks: Webhooks) -> None:
        self._service = service
        self._webhooks = webhooks

    async def create_webhook(self, request: Request) -> Response:
        """Of this organisation's jobs only. An address is https and public, unless the operator allows its host."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        new = decode_body(request, await request.body(), NewWebhook)
        made, secret = await self._webhooks.add(caller.org_id, new.url, _unique(new.events), new.kinds and _unique(new.kinds))
        created = WebhookCreated(**webhook_fields(made), secret=secret)
        return reply(created, status=201, headers={"Location": f"{self._service.base_url}/webhooks/{created.id}", **_PRIVATE})

    async def list_webhooks(self, request: Request) -> Response:
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        limit, after = parse_limit(request), parse_cursor(request, _UID) or ""
        found = await self._webhooks.list(caller.org_filter, after=after, limit=limit + 1)
        cursor = found[limit - 1].uid if len(found) > limit else None
        items = [WebhookView(**webhook_fields(webhook)) for webhook in found[:limit]]
        return reply(WebhookList(items, cursor), headers=_page_headers(self._service, request, cursor))

    async def get_webhook(self, request: Request, id: str) -> Response:
        webhook = await self._get_own_webhook(request, id)
        return reply(WebhookView(**webhook_fields(webhook)), headers=_PRIVATE)

    async def delete_webhook(self, request: Request, id: str) -> Response:
        await self._webhooks.remove(await self._get_own_webhook(request, id))
        return Response(status_code=204)

    async def rotate_webhook(self, request: Request, id: str) -> Response:
        """Only the last two secrets sign: two rotations invalidate the old one at once."""
        webhook = await self._get_own_webhook(request, id)
        return reply(Secret(id=public_id(webhook), secret=await self._webhooks.rotate(webhook)), headers=_PRIVATE)

    async def enable_webhook(self, request: Request, id: str) -> Response:
        """For one that was disabled because its receiver answered 410."""
        webhook = await self._webhooks.enable(await self._get_own_webhook(request, id))
        return reply(WebhookView(**webhook_fields(webhook)), headers=_PRIVATE)

    async def test_webhook(self, request: Request, id: str) -> Response:
        made = await self._webhooks.test(await self._get_own_webhook(request, id))
        return reply(delivery_view(made), status=202, headers=_PRIVATE)

    async def list_deliveries(self, request: Request, id: str) -> Response:
        webhook = await self._get_own_webhook(request, id)
        limit, state = parse_limit(request), request.query_params.get("state")
        if state not in (None, "waiting", "delivered", "failed", "cancelled"):
            raise HttpError(422, "invalid_argument", "state is waiting, delivered, failed or cancelled")
        before = int(parse_cursor(request, NUMBER) or BEYOND)
        found = await self._webhooks.deliveries(webhook, state=state, before=before, limit=limit + 1)
        cursor = str(found[limit - 1].id) if len(found) > limit else None
        return reply(
            DeliveryList([delivery_view(one) for one in found[:limit]], cursor),
            headers=_page_headers(self._service, request, cursor),
        )

    async def get_delivery(self, request: Request, id: str) -> Response:
        return reply(delivery_view(await self._own_delivery(request, id)), headers=_PRIVATE)

    async def replay_delivery(self, request: Request, id: str) -> Response:
        """Whatever became of it. One that still waits for its next attempt is tried now."""
        replayed = await self._webhooks.replay(await self._own_delivery(request, id))
        return reply(delivery_view(replayed), status=202, headers=_PRIVATE)

    async def _get_own_webhook(self, request: Request, id: str) -> store.Webhook:
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        webhook = await self._webhooks.get(id.removeprefix("wh_")[:26])
        return _if_own(caller, webhook, webhook.org_id, NotFound("there is no such webhook"))

    async def _own_delivery(self, request: Request, id: str) -> store.WebhookDelivery:
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        delivery = await self._webhooks.delivery(id.removeprefix("msg_")[:32])
        return _if_own(caller, delivery, delivery.org_id, NotFound("there is no such delivery"))


_PRIVATE = {"Cache-Control": "no-store"}


def _if_own[T](caller: Caller, value: T, org_id: str | None, absent: NotFound) -> T:
    """Another organisation's does not exist: the answer is the one for what never was."""
    if not caller.owns(org_id):
        raise absent
    return value


def _unique(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _page_headers(service: Service, request: Request, cursor: str | None) -> dict[str, str]:
    return next_page_link(service, request, cursor) | _PRIVATE
