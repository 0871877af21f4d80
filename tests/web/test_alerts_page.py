"""The page of alerts: what is open, since when and how often, and acknowledging it; all of it without a script."""

import re
from typing import Any

from pressroom import kind
from pressroom.api.access import Scope
from pressroom.model import GaveUp
from tests import looking
from tests.service.queue_stage import BAD, build, floor, job
from tests.web.browsing import Page, browsing, member


@kind("bill", alert=True)
def bill(job: object, payload: Any) -> None: ...


KINDS = {"bill": bill, "build": build}


async def test_open_alerts_are_listed_with_their_count_and_links(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage, member(stage, Scope.OPERATOR, "acme") as person:
        empty = await person.get("/desk/alerts")
        for _ in range(3):
            last = await stage.end(BAD, "bill", org_id="acme", subject="Offer 7")
        await stage.end(GaveUp({"code": "timeout", "message": "<canary> took too long"}), "bill", org_id="acme")
        await stage.end(BAD, "bill", org_id="other", subject="Offer of others")
        answer = await person.get("/desk/alerts")
        page = Page(answer.text)
        similar = next(one for one in page.addresses if "/desk/failures/" in one)
        statuses = [(await person.get(path)).status_code for path in (f"/desk/jobs/{job(last)}", similar)]

    assert "No open alerts" in Page(empty.text).words
    assert statuses == [200, 200]
    assert "Offer 7" in page.words
    assert "<canary> took too long" in page.words
    assert "Offer of others" not in page.words
    assert f"/desk/jobs/{job(last)}" in page.addresses
    assert re.search(r'class="badge">2<', answer.text), "the navigation tells how many are open"
    assert "badge" not in empty.text


async def test_an_alert_is_acknowledged_by_its_button_and_the_audit_tells_who_did(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage, member(stage, Scope.OPERATOR, "acme", name="ann") as person:
        await stage.end(BAD, "bill", org_id="acme", subject="Offer 7")
        await stage.end(BAD, "bill", org_id="other", subject="Offer of others")
        others, own = await stage.press.alerts.list()
        if own.org_id != "acme":
            others, own = own, others
        refused = await person.post("/desk/alerts/ack", {"alert": str(others.id)})
        acked = await person.post("/desk/alerts/ack", {"alert": str(own.id), "kind": "bill"})
        open_ones = Page((await person.get("/desk/alerts")).text).words
        old_ones = Page((await person.get("/desk/alerts?state=acknowledged")).text).words
        entries = looking.rows(database, "SELECT who, action, target, org_id FROM audit WHERE action LIKE 'alert%'")

    assert refused.status_code == 404
    assert (acked.status_code, acked.headers["location"]) == (303, "/desk/alerts?kind=bill")
    assert "Offer 7" not in open_ones
    assert "Offer 7" in old_ones
    assert "ann (pr_" in old_ones
    ((who, action, target, org_id),) = entries
    assert (who.startswith("ann ("), action, target, org_id) == (True, "alert.ack", f"alert {own.id}", "acme")


async def test_all_are_acknowledged_but_what_failed_after_the_page_was_shown(database: str) -> None:
    async with floor(database, kinds=KINDS) as stage, member(stage, Scope.OPERATOR) as person:
        await stage.end(BAD, "bill", subject="seen")
        await stage.end(BAD, "bill", subject="worse since")
        await stage.end(BAD, "bill", subject="of acme", org_id="acme")
        page = (await person.get("/desk/alerts")).text
        until = re.search(r'name="until" value="(\d+)"', page)
        assert until is not None
        stage.clock.advance(seconds=5)
        await stage.end(BAD, "bill", subject="worse since")
        wrong = await person.post("/desk/alerts/ack-all", {"until": "now"})
        answer = await person.post("/desk/alerts/ack-all", {"until": until[1]})
        left = await stage.press.alerts.list(is_open=True)

    assert (wrong.status_code, answer.status_code) == (422, 303)
    assert {one.subject for one in left} == {"worse since", "of acme"}


async def test_a_viewer_sees_no_buttons_and_a_stranger_nothing(file: str) -> None:
    async with floor(file, kinds=KINDS) as stage, member(stage, Scope.VIEWER) as viewer, browsing(stage) as stranger:
        await stage.end(BAD, "bill", subject="Offer 7")
        page = (await viewer.get("/desk/alerts")).text
        wrong = [(await viewer.get(f"/desk/alerts?{query}")).status_code for query in ("state=x", "cursor=x", "kind=%00")]
        sent_away = await stranger.get("/desk/alerts")

    assert "Offer 7" in page
    assert "/desk/alerts/ack" not in page
    assert wrong == [422, 422, 422]
    assert sent_away.status_code == 303


async def test_more_than_a_page_is_followed_by_its_link(file: str) -> None:
    async with floor(file, kinds=KINDS) as stage, member(stage, Scope.VIEWER) as viewer:
        for number in range(52):
            await stage.end(BAD, "bill", subject=f"Offer {number:02}")
        first = Page((await viewer.get("/desk/alerts")).text)
        older = next(one for one in first.addresses if "cursor=" in one)
        second = Page((await viewer.get(older)).text)

    assert "Offer 51" in first.words
    assert "Offer 01" not in first.words
    assert "Offer 01" in second.words
    assert "Offer 00" in second.words
