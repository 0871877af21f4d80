"""A service that strangers can reach: it listens off the loopback, so everybody needs a token."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from pressroom import Pressroom, kind
from pressroom.api.access import Scope
from pressroom.api.routing import Application
from pressroom.api.service import Service
from pressroom.app import BUILT_IN
from pressroom.clock import Clock
from pressroom.serving import make_service
from tests import looking
from tests.loop_guard import own_work

STRANGER = ("203.0.113.9", 40_000)


@kind("shout")
def shout(job: object, payload: Any) -> Any:
    if payload == "fail":
        raise ValueError("failed as it was told to")
    return payload


@dataclass
class Stage:
    press: Pressroom
    service: Service
    app: Application

    async def token(self, scope: Scope = Scope.ADMIN, org: str | None = None, **how: Any) -> str:
        return (await self.press.tokens.create(scope, org=org, **how)).secret

    def client(
        self, token: str | None = None, *, address: tuple[str, int] = STRANGER, host: str = "pressroom"
    ) -> httpx.AsyncClient:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        transport = httpx.ASGITransport(app=self.app, client=address, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=f"http://{host}", headers=headers)


@asynccontextmanager
async def on_stage(
    database: str, *, listen: str = "0.0.0.0:8000", works: bool = True, clock: Clock | None = None, **options: Any
) -> AsyncIterator[Stage]:
    workers = 2 if works else None
    limits = {"rate_limit": 0, "rate_limit_address": 0, "login_limit": 0}
    options = limits | {"allowed_hosts": ("pressroom",)} | options
    async with Pressroom(
        database, kinds=[shout], apps=BUILT_IN, workers=workers, clock=clock, listen=listen, **options
    ) as press:
        with own_work():  # as a service does before it listens
            service, app = make_service(press)
        yield Stage(press, service, app)


def without_ids(text: str) -> str:
    """An answer without what differs in every one: the request's id, and the id that it was about."""
    return re.sub(r"req_\w{26}|(?:job|wh|msg|[a-z]{2,5})_\w{26}|\b[0-9A-Z]{26}\b", "ID", text)


def all_bytes(database: str, folder: Path) -> bytes:
    """Whatever was written: in every row, and anywhere below."""
    with own_work():
        rows = [looking.rows(database, f'SELECT * FROM "{name}"') for name in looking.tables(database)]
        return str(rows).encode() + b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
