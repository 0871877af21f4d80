"""Webhook secrets and embed keys cannot be read from the database."""

import logging
from pathlib import Path
from typing import Any

import pytest

from pressroom import Pressroom
from pressroom.api.access import Scope
from pressroom.store.artifacts.artifacts import link_digest
from tests import looking
from tests.service.access_stage import Stage, all_bytes, on_stage

KEY, OTHER = "k" * 32, "o" * 32
HOOK = {"url": "https://93.184.216.34/hook", "events": ["job.completed"]}
DIAGRAM = {"source": "digraph { a }", "format": "dot"}


async def furnish(stage: Stage) -> tuple[str, str]:
    """A webhook's secret, and the address that shows a diagram without a token."""
    async with stage.client(await stage.token(Scope.ADMIN)) as client:
        hook = await client.post("/webhooks", json=HOOK)
        assert hook.status_code == 201, hook.text
        named = await client.put("/diagrams/arrows", json=DIAGRAM)
        assert named.status_code < 300, named.text
        return hook.json()["secret"], named.json()["embed"]


async def embed_of(stage: Stage) -> str:
    async with stage.client(await stage.token(Scope.VIEWER)) as client:
        return str((await client.get("/diagrams/arrows")).json()["embed"])


async def shown(stage: Stage, address: str) -> int:
    """To a browser without a token. A diagram that is not drawn yet is a placeholder."""
    async with stage.client() as client:
        return (await client.get(address, headers={"Accept": "application/json"})).status_code


def stored(database: str) -> dict[str, Any]:
    ((secret,),) = looking.rows(database, "SELECT secret FROM webhook_secret")
    ((link, sealed),) = looking.rows(database, "SELECT link, sealed_link FROM diagram")
    return {"secret": secret, "link": link, "sealed": sealed}


def make_older(database: str, secret: str, key: str) -> None:
    """As a version without encryption has stored them."""
    looking.change(database, f"UPDATE webhook_secret SET secret = '{secret}'")
    looking.change(database, f"UPDATE diagram SET link = '{key}', sealed_link = NULL")


def key_files(folder: Path) -> list[Path]:
    return [*folder.glob("*.key")]


async def secrets_of(press: Pressroom) -> list[str]:
    """As a delivery signs with them."""
    ((webhook, secret),) = looking.rows(press.settings.database, "SELECT webhook, secret FROM webhook_secret")
    return [press.keyring.open(secret, f"webhook {webhook}")]


async def test_neither_is_in_the_database(database: str, tmp_path: Path) -> None:
    async with on_stage(database, works=False, secret_key=(KEY,)) as stage:
        secret, embed = await furnish(stage)
        key = embed.partition("?key=")[2]
        again = await embed_of(stage)
        status = await shown(stage, embed)
        by_hash = await shown(stage, embed.replace(key, link_digest(key)))

        assert await secrets_of(stage.press) == [secret]
    assert len(key) == 13
    assert again == embed
    assert (status, by_hash) == (200, 404), "what is in the database is not the key"
    for one in (secret, key):
        assert one.encode() not in all_bytes(database, tmp_path)


async def test_a_key_is_made_beside_a_database_in_a_file(file: str, tmp_path: Path) -> None:
    async with on_stage(file, works=False) as stage:
        before = key_files(tmp_path)
        secret, embed = await furnish(stage)
    async with on_stage(file, works=False) as stage:
        assert await secrets_of(stage.press) == [secret]
        assert await embed_of(stage) == embed

    assert before == []
    assert len(key_files(tmp_path)) == 1
    assert secret.encode() not in all_bytes(file, tmp_path)


async def test_what_an_older_version_stored_is_encrypted_at_the_next_start(database: str, tmp_path: Path) -> None:
    async with on_stage(database, works=False, secret_key=(KEY,)) as stage:
        secret, embed = await furnish(stage)
    make_older(database, secret, key := embed.partition("?key=")[2])
    async with on_stage(database, works=False, secret_key=(KEY,)) as stage:
        after = stored(database)

        assert await secrets_of(stage.press) == [secret]
        assert await embed_of(stage) == embed
        assert await shown(stage, embed) == 200
    assert after["secret"].startswith("sealed:")
    assert (after["link"], after["sealed"][:7]) == (link_digest(key), "sealed:")


async def test_a_new_key_takes_the_place_of_an_old_one(database: str) -> None:
    async with on_stage(database, works=False, secret_key=(OTHER,)) as stage:
        secret, embed = await furnish(stage)
    async with on_stage(database, works=False, secret_key=(KEY, OTHER)) as stage:
        assert await embed_of(stage) == embed
    async with on_stage(database, works=False, secret_key=(KEY,)) as stage:
        assert await secrets_of(stage.press) == [secret]


async def test_a_process_with_another_key_starts_and_says_so(database: str, caplog: pytest.LogCaptureFixture) -> None:
    async with on_stage(database, works=False, secret_key=(OTHER,)) as stage:
        _, embed = await furnish(stage)
    caplog.set_level(logging.WARNING)
    async with on_stage(database, works=False, secret_key=(KEY,)) as stage:
        status, told = await shown(stage, embed), await embed_of(stage)

    assert status == 200, "it is found by its hash"
    assert "key=" not in told
    assert "PRESSROOM_SECRET_KEY" in caplog.text


async def test_without_a_key_on_a_server_nothing_is_lost_and_a_warning_is_logged(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    if database.startswith("sqlite"):
        database = "sqlite:///:memory:"
    async with on_stage(database, works=False) as stage:
        secret, embed = await furnish(stage)
        caplog.set_level(logging.WARNING)
        await stage.press.webhooks.seal_stored_secrets()

        assert await embed_of(stage) == embed
        assert await shown(stage, embed) == 200
        assert secret.startswith("whsec_")
    assert "set PRESSROOM_SECRET_KEY" in caplog.text
