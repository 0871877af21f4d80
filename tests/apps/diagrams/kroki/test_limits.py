"""What Kroki's clients hear when there is no room, no time, no engine or no permission."""

import asyncio
import base64
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom import Pressroom
from pressroom.api.access import Caller, Gate, Scope
from pressroom.api.service import Service
from pressroom.apps.diagrams.kroki import routes
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.serving import make_service

SOURCE = "digraph { a -> b }"
ENCODED = base64.urlsafe_b64encode(zlib.compress(SOURCE.encode())).decode()


@asynccontextmanager
async def served(database: str, **settings: Any) -> AsyncIterator[tuple[httpx.AsyncClient, Service]]:
    async with Pressroom(database, **settings) as press:
        service, app = make_service(press)
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1/kroki", timeout=60) as client:
            yield client, service


async def test_whoever_waited_long_enough_is_told_and_the_job_goes_on(database: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(routes, "PATIENCE", 0.05)
    async with served(database, workers=None) as (client, service):
        answer = await client.post("/graphviz/svg", content=SOURCE)

        assert (answer.status_code, answer.headers["content-type"]) == (504, "text/plain; charset=utf-8")
        assert "it goes on" in answer.text
        assert [job.status for job in (await service.queue.list(kind="diagram")).jobs] == ["queued"]


async def test_when_slots_and_waiting_room_are_full_callers_are_told_to_come_back(
    database: str, monkeypatch: pytest.MonkeyPatch, eventually: Any
):
    monkeypatch.setattr(routes, "PATIENCE", 600)
    full = DiagramsSettings(max_concurrent=1, max_waiting=0)
    async with served(database, workers=None, sections={"diagrams": full}) as (client, service):
        first = asyncio.create_task(client.post("/graphviz/svg", content=SOURCE))

        async def waits() -> bool:
            return bool((await service.queue.list(kind="diagram")).jobs)

        await eventually(waits)
        refused = await client.post("/graphviz/svg", content="digraph { another }")
        first.cancel()

        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "5"
        assert refused.text.startswith("Error 429: BackpressureError")


async def test_an_engine_that_is_not_installed_is_named_with_the_command_that_installs_it(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PRESSROOM_ENGINES", str(tmp_path / "none"))
    async with served(database, workers=1) as (client, _):
        answer = await client.post("/nomnoml/svg", content="[a] -> [b]")
        health = await client.get("/health")

    assert answer.status_code == 501
    assert "pressroom engines install node" in answer.text
    assert "nomnoml" not in health.json()["version"]
    assert "graphviz" in health.json()["version"]


async def test_a_stranger_is_refused_in_words_that_a_kroki_client_shows(database: str):
    async with served(database, workers=None, listen="0.0.0.0:8000") as (client, _):
        got = await client.get(f"/graphviz/svg/{ENCODED}")
        posted = await client.post("/graphviz/svg", content=SOURCE)
        seen = await client.get(f"/graphviz/svg/{ENCODED}", headers={"Accept": "image/*"})

    assert got.text.startswith("Error 401: a valid token is needed")
    assert posted.text == got.text
    assert seen.headers["content-type"] == "image/svg+xml"
    for answer in (got, posted, seen):
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


async def test_what_an_organisation_draws_is_for_its_own_caches(database: str):
    async def lookup(token: str) -> Caller | None:
        return Caller(token, Scope.SUBMITTER, org_id=token)

    async with served(database, workers=1) as (client, service):
        service.gate = Gate(lookup)
        url = f"/graphviz/svg/{ENCODED}"
        first, again, others = [await client.get(url, headers={"Authorization": f"Bearer {org}"}) for org in ("a", "a", "b")]

    assert [answer.status_code for answer in (first, again, others)] == [200] * 3
    assert first.headers["cache-control"] == "private, max-age=432000"
    assert again.headers["cache-status"].startswith("pressroom; hit")
    assert others.headers["cache-status"].startswith("pressroom; fwd=miss")
