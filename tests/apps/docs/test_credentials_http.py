"""Credentials and services over HTTP: written by admins of the organisation, read by nobody."""

import logging
from typing import Any

import pytest

from pressroom.apps.docs.settings import DocsSettings
from tests.apps.docs.http_stage import BASE, code_of, docs_stage, send

CANARY = "canary-7d1e-secret"
SECRET = {"access_key_id": "an-id", "secret_access_key": CANARY}


async def test_a_credential_and_its_service_from_the_first_to_the_last_request(database: str, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    async with docs_stage(database, settings=DocsSettings(publish_allow=("127.0.0.1",), keyring=keyring(database))) as stage:
        await stage.furnish("red")
        if database.startswith("postgresql"):
            await stage.app.credentials.rotate_keys(actor="test")
        admin = stage.client("red-admin")
        made = await admin.post("/orgs/red/credentials", json={"label": "keys", "provider": "s3", "credentials": SECRET})
        config = {"endpoint": "http://127.0.0.1:8333", "bucket": "sites"}
        body = {"label": "sites", "provider": "minio", "config": config, "credential_label": "keys"}
        service = await send(admin, "POST", "/orgs/red/services", 201, **body)
        answers = [
            made.text,
            (await admin.get("/orgs/red/credentials")).text,
            (await admin.get("/orgs/red/credentials/keys")).text,
            (await admin.get("/orgs/red/services")).text,
            (await admin.get("/orgs/red/services/sites")).text,
        ]

        assert (made.status_code, made.headers["location"]) == (201, f"{BASE}/orgs/red/credentials/keys")
        assert made.json().keys() == {
            *("self_url", "org_url", "label", "provider", "key_version", "date_created", "date_updated"),
        }
        assert CANARY not in "".join(answers)
        assert service["credential_url"] == f"{BASE}/orgs/red/credentials/keys"
        assert await code_of(admin, "POST", "/orgs/red/services", **body) == (409, "label_taken")
        assert await code_of(admin, "DELETE", "/orgs/red/credentials/keys") == (409, "credential_in_use")
        replaced = await send(admin, "PUT", "/orgs/red/credentials/keys", credentials=SECRET | {"access_key_id": "x"})
        assert replaced["date_updated"] >= replaced["date_created"]

        await send(admin, "PATCH", "/orgs/red", slots={"publishing_store": "sites"})
        assert await code_of(admin, "DELETE", "/orgs/red/services/sites") == (409, "service_in_use")
        assert await code_of(admin, "PATCH", "/orgs/red", slots={"cdn_service": "sites"}) == (409, "provider_mismatch")
        assert await code_of(admin, "PATCH", "/orgs/red", slots={"publishing_store": "none"}) == (404, "not_found")
        await send(admin, "PATCH", "/orgs/red", slots={})
        await send(admin, "PATCH", "/orgs/red/services/sites", config=config | {"prefix": "docs"})
        for path in ("services/sites", "credentials/keys"):
            assert (await admin.delete(f"/orgs/red/{path}")).status_code == 204
            assert (await admin.get(f"/orgs/red/{path}")).status_code == 404
    assert CANARY not in caplog.text


def keyring(database: str) -> str:
    return "" if database.startswith("sqlite") else "keys-of-the-test"


@pytest.mark.parametrize("path", ["credentials", "credentials/keys", "services", "services/sites"])
async def test_only_admins_of_the_organisation_see_them(file: str, path: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red", "blue")
        await send(
            stage.client("red-admin"), "POST", "/orgs/red/credentials", 201, label="keys", provider="s3", credentials=SECRET
        )

        for token in ("red-reader", "red-uploader"):
            assert await code_of(stage.client(token), "GET", f"/orgs/red/{path}") == (403, "forbidden")
        for token in ("blue-admin", "nobodys"):
            assert (await code_of(stage.client(token), "GET", f"/orgs/red/{path}"))[0] == 404
        assert (await stage.client(None).get(f"/orgs/red/{path}")).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {"label": "keys", "provider": "s3", "credentials": {CANARY: "x"}},
        {"label": "keys", "provider": "s3", "credentials": {"access_key_id": CANARY, "secret_access_key": 7}},
        {"label": "keys", "provider": "s3", "credentials": CANARY},
        {"label": "keys", "provider": CANARY, "credentials": {"token": "x"}},
        {"label": "keys", "provider": "bearer", "credentials": {"token": f"{CANARY}\r\nX-More: 1"}},
        {"label": "UPPER", "provider": "bearer", "credentials": {"token": CANARY}},
        {"label": "keys", "provider": "bearer"},
    ],
)
async def test_a_refusal_does_not_repeat_the_secret(file: str, body: dict[str, Any], caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    async with docs_stage(file) as stage:
        await stage.furnish("red")
        response = await stage.client("red-admin").post("/orgs/red/credentials", json=body)

        assert response.status_code == 422
        assert CANARY not in response.text
        assert (await stage.client("red-admin").get("/orgs/red/credentials")).json() == []
    assert CANARY not in caplog.text


async def test_keys_that_cannot_be_used_are_503(file: str) -> None:
    settings = DocsSettings(vault_addr="http://127.0.0.1:9", vault_token="canary-vault-token")
    async with docs_stage(file, settings=settings) as stage:
        await stage.furnish("red")
        response = await stage.client("red-admin").post(
            "/orgs/red/credentials", json={"label": "keys", "provider": "s3", "credentials": SECRET}
        )

        assert (response.status_code, response.json()["code"]) == (503, "keys_unavailable")
        assert "canary" not in response.text
