"""A service with the diagrams app, over HTTP but without a socket."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from pressroom import Pressroom
from pressroom.api.access import Caller, Gate, Scope
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.errors import SourceInvalid, Timeout
from pressroom.renderers import MEDIA_TYPES, Rendered, documents
from pressroom.renderers.documents import RenderPlan, RenderRequest
from pressroom.serving import make_service
from pressroom.testing import ManualClock
from tests.patience import be_patient

TOKENS = {
    "red": Caller("red's", Scope.SUBMITTER, org_id="red"),
    "blue": Caller("blue's", Scope.SUBMITTER, org_id="blue"),
}


@dataclass
class Stage:
    """A press, its clock, and clients that speak to it: `http` from this machine, `client(token)` for an organisation."""

    press: Pressroom
    clock: ManualClock
    app: Any
    http: httpx.AsyncClient

    def client(self, token: str | None, address: str = "203.0.113.9") -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return _client(self.app, address, headers)


def _client(app: Any, address: str, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=(address, 1234))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers, timeout=60)


async def _lookup(token: str) -> Caller | None:
    return TOKENS.get(token)


type Staging = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture
def staged(database: str) -> Staging:
    @asynccontextmanager
    async def stage(*, diagrams: Mapping[str, Any] | None = None, **options: Any) -> AsyncIterator[Stage]:
        clock = ManualClock()
        sections = {"diagrams": DiagramsSettings(**{"cache_ttl": 300.0, **(diagrams or {})})}
        async with Pressroom(database, **{"workers": 4, "clock": clock, "presses": 1, "sections": sections} | options) as press:
            service, app = make_service(press)
            service.gate = Gate(_lookup)
            async with _client(app, "127.0.0.1") as http:
                yield Stage(press, clock, app, http)

    return stage


class Easel:
    """Stands in for the presses. It remembers what it drew, fails on request, and waits while it is held."""

    def __init__(self) -> None:
        self.drew: list[RenderRequest] = []
        self.together = 0
        self.most_together = 0
        self._may_go_on = asyncio.Event()
        self._may_go_on.set()

    @property
    def sources(self) -> list[str]:
        return [asked.source.decode() for asked in self.drew]

    def hold(self) -> None:
        self._may_go_on.clear()

    def release(self) -> None:
        self._may_go_on.set()

    async def render(self, presses: Any, plan: RenderPlan) -> Rendered:
        self.drew.append(plan.request)
        self.together += 1
        self.most_together = max(self.together, self.most_together)
        try:
            await self._may_go_on.wait()
        finally:
            self.together -= 1
        return _drawn(plan.request)


def _drawn(asked: RenderRequest) -> Rendered:
    source = asked.source.decode()
    if "broken" in source:
        raise SourceInvalid("an arrow needs two ends", line=3, column=7, excerpt="a ->")
    if "endless" in source:
        raise Timeout
    if "crash" in source:
        raise RuntimeError("nobody foresaw this")
    theme = asked.options.get("theme", "")
    return Rendered(f"<svg>{source}|{asked.output}|{theme}</svg>".encode(), MEDIA_TYPES[asked.output])


@pytest.fixture
def easel(monkeypatch: pytest.MonkeyPatch) -> Easel:
    made = Easel()
    monkeypatch.setattr(documents, "render", made.render)
    return made


async def ended(stage: Stage, answer: httpx.Response) -> dict[str, Any]:
    """The job that an answer names, once it has ended."""
    response = await stage.http.get(answer.json()["statusUrl"], params={"wait": 60})
    told: dict[str, Any] = response.json()
    assert told["status"] in ("completed", "failed"), told
    return told
