"""Alerts over HTTP: what failed for good and waits for a person."""

import re
from datetime import datetime
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Caller, Scope
from pressroom.api.paging import LIMIT, NUMBER, cursor_parameter, next_page_link, parse_cursor, parse_limit
from pressroom.api.problems import HttpError, request_id_of
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import json_response, path, query, responses
from pressroom.api.service import Service
from pressroom.store.alerts.alerts import NEWEST, Alert, no_such_alert
from pressroom.store.operators.audit import AuditEntry


class AlertView(msgspec.Struct, frozen=True, kw_only=True):
    """Final failures of one kind, subject and code, counted until they are acknowledged. `job_id` is the latest."""

    id: int
    org_id: str | None
    kind: str
    subject: str | None
    code: str
    message: str
    count: int
    job_id: str
    first_at: datetime
    last_at: datetime
    acked_by: str | None
    acked_at: datetime | None


class AlertList(msgspec.Struct, frozen=True):
    """`open` is how many are open in all, whatever the page shows."""

    items: list[AlertView]
    open: int
    next_cursor: str | None


_PRIVATE = {"Cache-Control": "no-store"}
_OPEN = query("open", {"type": "boolean"}, "Only open ones, or only acknowledged ones")
_KIND = query("kind", {"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[^\\u0000]*$"}, "Only of this kind")
_ID = path("id", str(examples.ALERT["id"]), "The alert", pattern=f"^{NUMBER}$")
_LIST_ALERTS: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                AlertList,
                "Newest first",
                headers={"Link": "The next page"},
                example={"items": [examples.ALERT], "open": 1, "next_cursor": None},
            )
        },
        *(401, 422),
    ),
    "openapi": {"parameters": [_OPEN, _KIND, LIMIT, cursor_parameter(NUMBER)]},
}
_ACK_ALERT: dict[str, Any] = {
    "responses": responses(
        {200: json_response(AlertView, "Acknowledged, now or before", example=examples.ACKED_ALERT)}, *(401, 403, 404)
    ),
    "openapi": {"parameters": [_ID]},
}


def router(service: Service) -> Routes:
    routes = Routes("operations")
    api = AlertsApi(service)
    routes.add("/alerts", api.list_alerts, "GET", **_LIST_ALERTS)
    routes.add("/alerts/{id}/ack", api.ack_alert, "POST", small_body=True, **_ACK_ALERT)
    return routes


class AlertsApi:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._alerts = service.queue.alerts

    async def list_alerts(self, request: Request) -> Response:
        """Acknowledged ones are kept for thirty days, unless `alert_retention` says otherwise."""
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        org_id, limit, cursor = caller.org_filter, parse_limit(request), parse_cursor(request, NUMBER)
        before = NEWEST if cursor is None else int(cursor)
        is_open, kind = _parse_open(request), _parse_kind(request)
        found = await self._alerts.list(org_id=org_id, is_open=is_open, kind=kind, before=before, limit=limit + 1)
        following = str(found[limit - 1].id) if len(found) > limit else None
        page = AlertList([alert_view(one) for one in found[:limit]], await self._alerts.count_open(org_id), following)
        return reply(page, headers=next_page_link(self._service, request, following) | _PRIVATE)

    async def ack_alert(self, request: Request, id: str) -> Response:
        """The next failure of the same kind, subject and code opens another alert. Again changes nothing."""
        caller = await self._service.gate.caller(request, Scope.OPERATOR)
        if not re.fullmatch(NUMBER, id):
            raise no_such_alert()
        alert = await self._alerts.get(int(id))
        if not caller.owns(alert.org_id):
            raise no_such_alert()
        acked = await self._alerts.ack(alert.id, ack_entry(caller, alert, request_id_of(request)))
        return reply(alert_view(acked), headers=_PRIVATE)


def ack_entry(caller: Caller, alert: Alert, request_id: str) -> AuditEntry:
    return AuditEntry(
        who=caller.name,
        org_id=caller.audit_org,
        action="alert.ack",
        target=f"alert {alert.id}",
        after={"kind": alert.kind, "subject": alert.subject, "code": alert.code, "count": alert.count},
        request_id=request_id,
    )


def alert_view(alert: Alert) -> AlertView:
    return AlertView(
        id=alert.id,
        org_id=alert.org_id,
        kind=alert.kind,
        subject=alert.subject,
        code=alert.code,
        message=alert.message,
        count=alert.count,
        job_id=f"job_{alert.job}",
        first_at=alert.first_at,
        last_at=alert.last_at,
        acked_by=alert.acked_by,
        acked_at=alert.acked_at,
    )


def _parse_open(request: Request) -> bool | None:
    given = request.query_params.get("open")
    if given not in (None, "true", "false"):
        raise HttpError(422, "invalid_argument", "open is true or false; leave it out for both")
    return None if given is None else given == "true"


def _parse_kind(request: Request) -> str | None:
    given = request.query_params.get("kind")
    if given is not None and (not 1 <= len(given) <= 100 or "\0" in given):
        raise HttpError(422, "invalid_argument", "kind is the name of a kind, of 1 to 100 letters")
    return given
