"""Webhooks over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pressroom.api.access import Scope
from pressroom.store.webhooks.webhooks import MOST
from tests.service.webhook_stage import ALL, on_stage

PUBLIC = "https://example.com/hook"


@asynccontextmanager
async def quiet(database: str) -> AsyncIterator[Any]:
    """Nobody works: what is asked for is all that happens."""
    async with on_stage(database, workers=None) as stage:
        yield stage


async def test_a_webhook_is_made_shown_listed_and_deleted_and_its_secret_told_once(database: str) -> None:
    async with quiet(database) as stage, stage.client() as client:
        made = await client.post("/webhooks", json={"url": PUBLIC, "events": ["job.failed", "job.failed"], "kinds": ["render"]})

        assert made.status_code == 201
        assert made.headers["cache-control"] == "no-store"
        webhook = made.json()
        assert made.headers["location"] == f"https://press.test/webhooks/{webhook['id']}"
        assert webhook.pop("secret").startswith("whsec_")
        assert (webhook["url"], webhook["events"], webhook["kinds"]) == (PUBLIC, ["job.failed"], ["render"])
        assert (await client.get(f"/webhooks/{webhook['id']}")).json() == webhook
        assert (await client.get("/webhooks")).json() == {"items": [webhook], "next_cursor": None}

        assert (await client.delete(f"/webhooks/{webhook['id']}")).status_code == 204
        assert (await client.get(f"/webhooks/{webhook['id']}")).status_code == 404
        assert (await client.get("/webhooks")).json()["items"] == []


async def test_what_cannot_be_is_refused(database: str) -> None:
    changes: list[tuple[dict[str, Any], str]] = [
        ({"url": "http://example.com/"}, "address_refused"),
        ({"url": "https://127.0.0.1/"}, "address_refused"),
        ({"url": "https://169.254.169.254/"}, "address_refused"),
        ({"url": ""}, "invalid_argument"),
        ({"url": 7}, "invalid_argument"),
        ({"events": []}, "invalid_argument"),
        ({"events": ["job.started"]}, "invalid_argument"),
        ({"events": "job.failed"}, "invalid_argument"),
        ({"kinds": []}, "invalid_argument"),
        ({"kinds": [""]}, "invalid_argument"),
        ({"secret": "mine"}, "invalid_argument"),
    ]
    async with quiet(database) as stage, stage.client() as client:
        for change, code in changes:
            refused = await client.post("/webhooks", json={"url": PUBLIC, "events": ALL} | change)

            assert (refused.status_code, refused.json()["code"]) == (422, code)
            assert refused.headers["content-type"] == "application/problem+json"

        assert (await client.get("/webhooks")).json()["items"] == []


async def test_making_one_asks_no_name_server(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever could make us look names up could ask us what lives on our network."""

    async def ask(*_: Any, **__: Any) -> Any:
        raise AssertionError("asked")

    async with quiet(database) as stage:
        monkeypatch.setattr(stage.press.webhooks.client, "_resolve", ask)
        await stage.webhook(url="https://internal.example.com/")


OPERATIONS = [
    ("GET", "/webhooks/{id}"),
    ("DELETE", "/webhooks/{id}"),
    ("POST", "/webhooks/{id}/rotate"),
    ("POST", "/webhooks/{id}/enable"),
    ("POST", "/webhooks/{id}/test"),
    ("GET", "/webhooks/{id}/deliveries"),
    ("GET", "/webhooks/deliveries/{delivery}"),
    ("POST", "/webhooks/deliveries/{delivery}/replay"),
]


async def test_another_organisation_s_webhook_does_not_exist(database: str) -> None:
    async with quiet(database) as stage, stage.client("other") as other:
        webhook = await stage.webhook()
        delivery = (await stage.post(f"/webhooks/{webhook['id']}/test")).json()

        for method, path in OPERATIONS:
            theirs = await other.request(method, path.format(id=webhook["id"], delivery=delivery["id"]))
            never = await other.request(method, path.format(id=f"wh_{'0' * 26}", delivery=f"msg_{'0' * 32}"))

            assert theirs.status_code == never.status_code == 404
            assert [theirs.json()[name] for name in ("code", "detail")] == [never.json()[name] for name in ("code", "detail")]

        assert (await stage.get(f"/webhooks/{webhook['id']}"))["disabled_because"] is None
        assert len((await stage.get(f"/webhooks/{webhook['id']}/deliveries"))["items"]) == 1
        assert (await other.get("/webhooks")).json()["items"] == []


@pytest.mark.parametrize("scope", [Scope.VIEWER, Scope.SUBMITTER])
async def test_an_address_may_hold_a_secret_so_only_operators_see_any(database: str, scope: Scope) -> None:
    async with quiet(database) as stage, stage.client(scope=scope) as client:
        webhook = await stage.webhook()
        for method, path in [("GET", "/webhooks"), ("POST", "/webhooks"), *OPERATIONS]:
            assert (await client.request(method, path.format(id=webhook["id"], delivery="x"))).status_code == 403


async def test_a_malformed_id_names_nothing(database: str) -> None:
    async with quiet(database) as stage, stage.client() as client:
        for id in ("x", "wh_", "wh_" + "0" * 100, "%00", "wh_é", "deliveries", "%ED%A0%80", "'"):
            assert (await client.get(f"/webhooks/{id}")).status_code == 404
            assert (await client.post(f"/webhooks/deliveries/{id}/replay")).status_code == 404


async def test_deliveries_come_in_pages_that_meet_without_a_gap(database: str) -> None:
    async with quiet(database) as stage, stage.client() as client:
        webhook = await stage.webhook()
        sent = [(await client.post(f"/webhooks/{webhook['id']}/test")).json()["id"] for _ in range(5)]

        seen: list[str] = []
        page = await client.get(f"/webhooks/{webhook['id']}/deliveries?limit=2&state=waiting")
        while True:
            seen += [one["id"] for one in page.json()["items"]]
            if "next" not in page.links:
                break
            assert "state=waiting" in page.links["next"]["url"]
            page = await client.get(page.links["next"]["url"].removeprefix("https://press.test"))

        assert seen == sent[::-1]
        assert page.json()["next_cursor"] is None
        for wrong in ("limit=0", "limit=201", "limit=x", "cursor=x", "cursor=-1", f"cursor={'9' * 30}", "state=gone"):
            assert (await client.get(f"/webhooks/{webhook['id']}/deliveries?{wrong}")).status_code == 422


async def test_webhooks_come_in_pages_and_an_organisation_has_so_many_at_most(database: str) -> None:
    async with quiet(database) as stage, stage.client() as client:
        made = [(await stage.webhook())["id"] for _ in range(MOST)]

        assert (await client.post("/webhooks", json={"url": PUBLIC, "events": ALL})).status_code == 422
        await stage.webhook(org="other")

        first = await client.get(f"/webhooks?limit={MOST - 1}")
        second = await client.get(first.links["next"]["url"].removeprefix("https://press.test"))
        assert [one["id"] for page in (first, second) for one in page.json()["items"]] == made
        assert (await client.get("/webhooks?cursor=é")).status_code == 422


async def test_the_document_describes_every_route_and_what_a_receiver_is_sent(database: str) -> None:
    async with quiet(database) as stage, stage.client() as client:
        document = (await client.get("/openapi.json")).json()

    operations = {
        operation["operationId"]: operation
        for path, methods in document["paths"].items()
        if path.startswith("/webhooks")
        for operation in methods.values()
    }
    assert len(operations) == 10
    assert all(operation["tags"] == ["webhooks"] for operation in operations.values())
    assert "secret" in document["components"]["schemas"]["WebhookCreated"]["properties"]
    assert "secret" not in document["components"]["schemas"]["WebhookView"]["properties"]
    assert set(document["webhooks"]) == set(ALL)
    sent = document["webhooks"]["job.failed"]["post"]
    assert sent["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Payload"}
    assert "JobData" in document["components"]["schemas"]


async def test_a_delivery_s_job_is_seen_among_the_jobs_of_its_organisation(database: str) -> None:
    async with quiet(database) as stage, stage.client() as client:
        webhook = await stage.webhook()
        delivery = (await client.post(f"/webhooks/{webhook['id']}/test")).json()

        (job,) = (await client.get("/jobs?kind=webhook")).json()["items"]

        assert job["id"] == delivery["delivered_by"]
        assert job["subject"] == f"webhook.test for {webhook['id']}"
        async with stage.client("other") as other:
            assert (await other.get("/jobs?kind=webhook")).json()["items"] == []
