"""Alerts: jobs that failed for good, by kind, subject and code, until a person acknowledges them."""

import re
from functools import partial
from urllib.parse import urlencode

from starlette.responses import Response

from pressroom.api.alerts import ack_entry
from pressroom.api.paging import NUMBER
from pressroom.api.problems import request_id_of
from pressroom.api.routes import Routes
from pressroom.model import Work
from pressroom.store.alerts import alerts as store
from pressroom.store.alerts.alerts import Alert, no_such_alert
from pressroom.store.jobs import transitions
from pressroom.web.site import PageRequest, Site, page_error

PAGE_SIZE = 50
STATES = {"open": True, "acknowledged": False}


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/alerts", show)
    site.post(routes, "/desk/alerts/ack", ack)
    site.post(routes, "/desk/alerts/ack-all", ack_all)
    return routes


async def show(request: PageRequest) -> Response:
    state, kind, before = _parse_query(request)
    unit = partial(_look, request.org_id, STATES[state], kind or None, before)
    until, found = await request.read(unit)
    return request.page(
        "alerts.html",
        alerts=found[:PAGE_SIZE],
        state=state,
        states=list(STATES),
        kind=kind,
        until=until,
        cursor=found[PAGE_SIZE - 1].id if len(found) > PAGE_SIZE else None,
        first="cursor" in request.http.query_params,
    )


def _look(org_id: str | None, is_open: bool, kind: str | None, before: int) -> Work[tuple[int, list[Alert]]]:
    """With the time of the look: what fails afterwards is not acknowledged unseen."""
    moment = yield from transitions.now()
    found = yield from store.list_alerts(org_id, is_open=is_open, kind=kind, before=before, limit=PAGE_SIZE + 1)
    return moment, found


async def ack(request: PageRequest) -> Response:
    id = request.form.get("alert")
    if not re.fullmatch(NUMBER, id):
        raise no_such_alert()
    alerts = request.site.service.queue.alerts
    alert = await alerts.get(int(id))
    if not request.caller.owns(alert.org_id):
        raise no_such_alert()
    await alerts.ack(alert.id, ack_entry(request.caller, alert, request_id_of(request.http)))
    return request.redirect(_way_back(request), f"Alert {alert.id} acknowledged. The next failure opens another.")


async def ack_all(request: PageRequest) -> Response:
    """All that are open and were when the page was shown, of the kind that was chosen there; not only those of one page."""
    until, kind = request.form.get("until"), request.form.get("kind")
    if not re.fullmatch("[0-9]{1,16}", until):
        raise page_error("until is the time of the look in milliseconds; go back to the page and press the button there")
    _check_kind(kind)
    entry = request.make_audit_entry("alert.ack_all", kind or "every kind")
    count = await request.site.service.queue.alerts.ack_all(entry, org_id=request.org_id, kind=kind or None, until=int(until))
    return request.redirect(_way_back(request), f"{count:,} alert{'' if count == 1 else 's'} acknowledged.")


def _way_back(request: PageRequest) -> str:
    kind = request.form.get("kind")
    _check_kind(kind)
    return f"/desk/alerts?{urlencode({'kind': kind})}" if kind else "/desk/alerts"


def _parse_query(request: PageRequest) -> tuple[str, str, int]:
    query = request.http.query_params
    state, kind, cursor = query.get("state") or "open", query.get("kind", ""), request.cursor(NUMBER)
    if state not in STATES:
        raise page_error(f"state is one of {', '.join(STATES)}")
    _check_kind(kind)
    return state, kind, int(cursor) if cursor else store.NEWEST


def _check_kind(kind: str) -> None:
    if len(kind) > 100 or not kind.isprintable():
        raise page_error("kind is the name of a kind, of up to 100 letters")
