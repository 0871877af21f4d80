"""Webhooks at the desk: what the HTTP interface allows, for the same people, with every change in the audit."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pressroom.api.access import Scope
from tests import looking
from tests.service.access_stage import Stage, on_stage
from tests.service.webhook_stage import ALL, Receiver, answer, receiving
from tests.web.browsing import Page, Person, member

ADDRESS = "https://8.8.8.8/hooks"


@asynccontextmanager
async def receiver_on_stage(database: str) -> AsyncIterator[tuple[Stage, Receiver, str]]:
    async with receiving() as receiver:
        place = f"127.0.0.1:{receiver.port}"
        async with on_stage(database, webhook_allow=(place,), poll_interval=0.01) as stage:
            yield stage, receiver, f"http://{place}/hook"


def deeds(database: str) -> list[str]:
    return [action for (action,) in looking.rows(database, "SELECT action FROM audit ORDER BY id")]


async def test_a_webhook_from_its_making_to_its_end(database: str, eventually: Any) -> None:
    async with receiver_on_stage(database) as (stage, receiver, url), member(stage, Scope.OPERATOR, "acme") as person:
        made = await person.post("/desk/webhooks", {"url": url, "events": ALL, "kinds": "shout"})
        secret = made.text.partition('id="secret">')[2].partition("<")[0]
        (webhook,) = await stage.press.webhooks.list("acme", after="", limit=9)
        path = f"/desk/webhooks/wh_{webhook.uid}"
        listed = await person.get("/desk/webhooks")

        tested = await person.post(f"{path}/test")
        await eventually(lambda: receiver.received)
        delivery = tested.headers["location"]

        async def is_delivered() -> bool:
            return "delivered" in (await person.get(delivery)).text

        await eventually(is_delivered)
        shown = await person.get(delivery)
        again = await person.post(f"{delivery}/replay")
        await eventually(lambda: len(receiver.received) == 2)
        rotated = await person.post(f"{path}/rotate")
        page = await person.get(path)
        gone = await person.post(f"{path}/delete")

        assert secret.startswith("whsec_")
        assert "whsec_" in rotated.text
        assert all("whsec_" not in one.text for one in (listed, shown, page))
        assert url in listed.text
        assert "nothing happened" in shown.text, "what was sent is on the page"
        assert again.headers["location"] == delivery
        assert len(set(receiver.ids)) == 1, "it is replayed with the same id"
        assert delivery.rpartition("/")[2] in page.text
        assert gone.headers["location"] == "/desk/webhooks"
        assert (await person.get(path)).status_code == 404
        assert deeds(database) == ["webhook.create", "webhook.test", "delivery.replay", "webhook.rotate", "webhook.delete"]
        assert "whsec_" not in str(looking.rows(database, "SELECT * FROM audit"))


async def test_one_that_was_disabled_says_why_and_is_enabled_again(database: str, eventually: Any) -> None:
    async with receiver_on_stage(database) as (stage, receiver, url), member(stage, Scope.OPERATOR, "acme") as person:
        receiver.script.append(answer(410, body=b"<b>gone</b> for good"))
        webhook, _ = await stage.press.webhooks.add("acme", url, ALL, None)
        delivery = await stage.press.webhooks.test(webhook)

        async def is_disabled() -> bool:
            return (await stage.press.webhooks.delivery(delivery.uid)).state == "failed"

        await eventually(is_disabled)
        path = f"/desk/webhooks/wh_{webhook.uid}"
        page, listed = Page((await person.get(path)).text), Page((await person.get("/desk/webhooks")).text)
        shown = await person.get(f"/desk/webhooks/deliveries/msg_{delivery.uid}")
        failed = await person.get(f"{path}?state=failed")
        none = await person.get(f"{path}?state=delivered")
        await person.post(f"{path}/enable")

        assert "the receiver answered 410 Gone" in page.words
        assert "disabled" in listed.words
        assert "&lt;b&gt;gone&lt;/b&gt; for good" in shown.text
        assert delivery.uid in failed.text
        assert delivery.uid not in none.text
        assert "Deliveries stopped" not in (await person.get(path)).text
        assert deeds(database) == ["webhook.enable"]


async def test_others_webhooks_do_not_exist(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, Scope.ADMIN, "acme") as person:
        theirs, _ = await stage.press.webhooks.add("other", ADDRESS + "/canary", ALL, None)
        delivery = await stage.press.webhooks.test(theirs)
        paths = [f"/desk/webhooks/wh_{theirs.uid}", f"/desk/webhooks/deliveries/msg_{delivery.uid}"]
        looked = [await person.get(path) for path in paths]
        tried = [await person.post(f"{paths[0]}/{action}") for action in ("test", "enable", "rotate", "delete")]
        tried.append(await person.post(f"{paths[1]}/replay"))
        absent = await person.get("/desk/webhooks/wh_01M7JH1GFEE00AR8C6QBDZY7KK")

        assert {answer.status_code for answer in [*looked, *tried, absent]} == {404}
        assert Page(looked[0].text).words.partition("request")[0] == Page(absent.text).words.partition("request")[0]
        assert "canary" not in (await person.get("/desk/webhooks")).text
        assert [one.uid for one in await stage.press.webhooks.list(None, after="", limit=9)] == [theirs.uid]
        assert deeds(database) == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"url": "http://8.8.8.8/"}, "must begin with https://"),
        ({"url": "https://127.0.0.1/"}, "not a public one"),
        ({"url": "nonsense"}, "that is not an address"),
        ({"url": ""}, "no webhook"),
        ({"events": []}, "choose at least one event"),
        ({"events": "job.exploded"}, "no webhook"),
        ({"kinds": " ".join(map(str, range(60)))}, "no webhook"),
        ({"kinds": "k" * 200}, "no webhook"),
    ],
)
async def test_bad_input_is_told_and_nothing_typed_is_lost(file: str, fields: dict[str, Any], words: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.OPERATOR) as person:
        given = {"url": ADDRESS, "events": ["job.failed"], "kinds": "render"} | fields
        answer = await person.post("/desk/webhooks", given)
        page = Page(answer.text)
        typed = {attributes.get("name"): attributes.get("value") for tag, attributes in page.elements if tag == "input"}

        assert answer.status_code == 422
        assert words in page.words
        assert (typed["url"], typed["kinds"]) == (given["url"], given["kinds"])
        assert await stage.press.webhooks.list(None, after="", limit=9) == []


@pytest.mark.parametrize("query", ["state=odd", "cursor=x", "cursor=9999999999999999999999"])
async def test_an_odd_address_is_told_in_words(file: str, query: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.OPERATOR) as person:
        webhook, _ = await stage.press.webhooks.add(None, ADDRESS, ALL, None)
        answers = [await person.get(f"/desk/webhooks/wh_{webhook.uid}?{query}"), await person.get("/desk/webhooks?cursor=x")]

    assert [answer.status_code for answer in answers] == [422, 422]


async def test_pages_of_deliveries_leave_none_out(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressroom.web.pages.webhooks.PAGE_SIZE", 2)
    monkeypatch.setattr("pressroom.store.operators.lookup.LOOKED_AT", 2)
    async with on_stage(database, works=False) as stage, member(stage, Scope.OPERATOR) as person:
        webhook, _ = await stage.press.webhooks.add(None, ADDRESS, ALL, None)
        made = [await stage.press.webhooks.test(webhook) for _ in range(7)]
        path = f"/desk/webhooks/wh_{webhook.uid}"

        newest_first = [one.uid for one in reversed(made)]
        assert await walk(person, path) == newest_first
        assert await walk(person, f"{path}?state=waiting") == newest_first
        assert await walk(person, f"{path}?state=failed") == []


async def walk(person: Person, path: str) -> list[str]:
    """The deliveries of all pages."""
    seen: list[str] = []
    while path:
        page = Page((await person.get(path)).text)
        links = [
            str(attributes["href"]) for _, attributes in page.elements if "/deliveries/msg_" in str(attributes.get("href"))
        ]
        seen += [link.rpartition("msg_")[2] for link in links]
        older = [attributes["href"] for _, attributes in page.elements if attributes.get("rel") == "next"]
        path = str(older[0]) if older else ""
    return seen


async def test_looking_needs_as_much_as_over_http(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.SUBMITTER) as person:
        page = await person.get("/desk/find")
        answer = await person.get("/desk/webhooks")

    assert answer.status_code == 403
    assert "/desk/webhooks" not in Page(page.text).addresses
