"""A service with the packs app, over HTTP but without a socket, and an organisation's configuration to make packs with."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import pytest

from pressroom import Pressroom
from pressroom.api.access import Caller, Gate, Scope
from pressroom.apps.packs.app import PacksApp
from pressroom.apps.packs.settings import PacksSettings
from pressroom.serving import make_service
from tests.contract.conftest import s3_server
from tests.delivery.conftest import how, lists, redis_server
from tests.loop_guard import _no_callback_holds_the_loop
from tests.patience import be_patient

__all__ = ["_no_callback_holds_the_loop", "how", "lists", "redis_server", "s3_server"]

TOKENS = {
    "reader": Caller("a reader", Scope.VIEWER),
    "red": Caller("red's", Scope.SUBMITTER, org_id="red"),
    "blue": Caller("blue's", Scope.SUBMITTER, org_id="blue"),
    "red-reader": Caller("red's reader", Scope.VIEWER, org_id="red"),
    "red-operator": Caller("red's operator", Scope.OPERATOR, org_id="red"),
    "red-admin": Caller("red's admin", Scope.ADMIN, org_id="red"),
}

REGISTRY = [
    {"doc_id": "offer", "title": "Offer", "template": "offer", "style": "base"},
    {"doc_id": "checklist", "title": "Checklist"},
    {"doc_id": "report", "title": "Report", "template": "checklist", "tier": "paid"},
    {"doc_id": "retired", "title": "Retired", "template": "checklist", "is_enabled": False},
]
CONFIG = {
    "template:letterhead": "<header>{{ t('company') }}</header>",
    "template:offer": "{% include 'letterhead' %}<h1>Offer for {{ person.name }}</h1><p>From {{ start | date }}.</p>",
    "template:checklist": "<h1>Checklist</h1><ul>{% for task in tasks | default([]) %}<li>{{ task }}</li>{% endfor %}</ul>",
    "style:base": "h1 { font-size: 20pt }",
    "strings": json.dumps({"company": "Example Ltd"}),
    "documents_registry": json.dumps(REGISTRY),
}
DATA = {"person": {"name": "Anna Example"}, "start": "2027-01-01"}


@dataclass
class Stage:
    """A press, its packs app, and clients: `http` from this machine, `client(token)` for an organisation."""

    press: Pressroom
    app: PacksApp
    asgi: Any
    http: httpx.AsyncClient

    def client(self, token: str | None) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return _client(self.asgi, "203.0.113.9", headers)

    async def configure(self, org_id: str | None = None, **changed: str | None) -> None:
        """Publish CONFIG. `changed` replaces texts by their key, with `__` for the colon; None leaves one out."""
        config = CONFIG | {key.replace("__", ":"): body for key, body in changed.items()}
        for key, body in config.items():
            if body is not None:
                await self.app.configuration.put(org_id, key, body, author="test")

    async def new_pack(self, client: httpx.AsyncClient | None = None, data: Any = DATA, **fields: Any) -> str:
        response = await (client or self.http).post("/packs", json={"data": data, **fields})
        assert response.status_code == 201, response.text
        return str(response.json()["pack_id"])

    async def settled(self, pack: str, client: httpx.AsyncClient | None = None) -> dict[str, dict[str, Any]]:
        """The documents of a pack, by id, once none is queued or rendering."""
        listed = await (client or self.http).get(f"/packs/{pack}/documents")
        for document in listed.json()["documents"]:
            if document["status"] in ("queued", "rendering"):
                await self.press.wait_until_ended(document["job_id"], timeout=120)
        return await self.documents(pack, client)

    async def documents(self, pack: str, client: httpx.AsyncClient | None = None) -> dict[str, dict[str, Any]]:
        listed = await (client or self.http).get(f"/packs/{pack}/documents")
        assert listed.status_code == 200, listed.text
        return {document["doc_id"]: document for document in listed.json()["documents"]}


def _client(app: Any, address: str, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=(address, 1234))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers, timeout=120)


async def _lookup(token: str) -> Caller | None:
    return TOKENS.get(token)


type Staging = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@asynccontextmanager
async def on_stage(
    database: str, *, workers: int | None = 2, settings: PacksSettings | None = None, **options: Any
) -> AsyncIterator[Stage]:
    """A service on a database. `settings` are those of the app."""
    sections = {"packs": settings or PacksSettings()}
    options = {"poll_interval": 0.05} | options
    press = Pressroom(database, workers=workers, apps=["packs"], sections=sections, **options)
    async with press:
        service, asgi = make_service(press)
        service.gate = Gate(_lookup)
        app = press.app("packs")
        assert isinstance(app, PacksApp)
        async with _client(asgi, "127.0.0.1") as http:
            yield Stage(press, app, asgi, http)


@pytest.fixture
def staged(database: str) -> Staging:
    """A service on a database of its own."""
    return partial(on_stage, database)


@pytest.fixture
def delivered(how: dict[str, Any]) -> Staging:
    """The same with each way to deliver. Several stages are processes that share a database."""
    return partial(on_stage, **how)
