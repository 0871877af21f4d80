"""People with browsers, before a service that strangers can reach."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import httpx

from pressroom.api.access import Scope
from tests.service.access_stage import STRANGER, Stage

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass
class Person:
    """Somebody who keeps cookies and follows no redirect by themselves."""

    client: httpx.AsyncClient
    token: str | None = None

    async def get(self, path: str, **how: Any) -> httpx.Response:
        return await self.client.get(path, **how)

    async def form_token(self) -> str:
        page = await self.get("/desk/find" if self.token else "/desk/login")
        return found_token(page.text)

    async def post(self, path: str, fields: Any = None, **how: Any) -> httpx.Response:
        """As a form on a page of ours is sent."""
        fields = {"form_token": await self.form_token()} | (fields or {})
        return await self.client.post(path, data=fields, **how)

    async def log_in(self, token: str, **fields: str) -> httpx.Response:
        answer = await self.post("/desk/login", {"token": token} | fields)
        self.token = token
        return answer

    def take_cookie(self, value: str) -> None:
        self.client.cookies.set("pressroom", value, domain="pressroom.local")

    @property
    def cookie(self) -> str:
        return next(cookie.value or "" for cookie in self.client.cookies.jar if cookie.name.endswith("pressroom"))


@asynccontextmanager
async def browsing(stage: Stage, address: tuple[str, int] = STRANGER, scheme: str = "http") -> AsyncIterator[Person]:
    transport = httpx.ASGITransport(app=stage.app, client=address, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=f"{scheme}://pressroom", timeout=30) as client:
        yield Person(client)


@asynccontextmanager
async def member(stage: Stage, scope: Scope = Scope.ADMIN, org: str | None = None, **how: Any) -> AsyncIterator[Person]:
    """Somebody who has logged in."""
    async with browsing(stage) as person:
        answer = await person.log_in(await stage.token(scope, org, **how))
        assert answer.status_code == 303, answer.text
        yield person


def found_token(page: str) -> str:
    found = re.search(r'name="form_token" value="([0-9a-f]{64})"', page)
    assert found is not None, page
    return found[1]


def routes_of(stage: Stage, *, changing: bool) -> list[tuple[str, str]]:
    """Every route of the desk and of the apps' pages, those that are added later too: (method, path with its parameters).

    Without the pages of packs that are read by a link: they need no login."""
    found = {
        (method, route.path)
        for route in stage.app.routes
        if re.match(r"/(desk|playground|wiki|library|sites)(/(?!p/)|$)", route.path)
        for method in route.methods
    }
    return sorted((method, path) for method, path in found if (method not in ("GET", "HEAD", "OPTIONS")) == changing)


class Page(HTMLParser):
    """What a browser would make of a page: its elements, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def addresses(self) -> set[str]:
        names = ("href", "src", "action", "hx-get", "data-live")
        return {str(attributes[name]) for _, attributes in self.elements for name in names if attributes.get(name)}
