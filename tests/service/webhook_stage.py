"""What the webhook tests are staged with: a receiver that really listens, its certificate, and a service around a press."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx

from pressroom import Pressroom, kind
from pressroom.api import webhooks
from pressroom.api.access import Caller, Gate, Scope
from pressroom.api.app import make_app
from pressroom.api.metrics import Metrics
from pressroom.api.routing import Application
from pressroom.api.service import Service
from pressroom.app import BUILT_IN
from pressroom.notify.webhook_client import WebhookClient

NAME = "hooks.example.com"  # what the certificate is for
ALL = ["job.completed", "job.completed_with_errors", "job.failed", "job.cancelled", "alert.raised"]


@kind("shout", max_attempts=1)
async def shout(job: Any, payload: Any) -> Any:
    if payload == "fail":
        raise ValueError("failed as it was told to")
    return payload


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers with what is in `script`, then with 204. What came is in `received`."""

    port: int = 0
    received: list[Received] = field(default_factory=list)
    script: list[bytes] = field(default_factory=list)
    connections: int = 0
    hold: float = 0.0
    gate: asyncio.Event | None = None  # before it answers
    busy: int = 0
    busiest: int = 0

    @property
    def ids(self) -> list[str]:
        return [one.headers["webhook-id"] for one in self.received]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.strip().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers["content-length"]))
            self.received.append(Received(first.split()[1], headers, body))
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
            await asyncio.sleep(self.hold)
            if self.gate is not None:
                await self.gate.wait()
            self.busy -= 1
            writer.write(self.script.pop(0) if self.script else answer(204))
            await writer.drain()
        except (OSError, EOFError):
            pass
        finally:
            writer.close()


def answer(status: int, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@asynccontextmanager
async def receiving(*, tls: bool = False) -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=_server_tls() if tls else None)
    receiver.port = server.sockets[0].getsockname()[1]
    async with server:
        yield receiver


@cache
def certificate() -> Path:
    """A certificate for NAME that signs itself, with its key in the same file."""
    folder = Path(mkdtemp())
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=test"
    extra = ["-addext", f"subjectAltName=DNS:{NAME}", "-keyout", folder / "both.pem", "-out", folder / "certificate.pem"]
    subprocess.run([*command.split(), *extra], check=True, capture_output=True)
    with (folder / "both.pem").open("ab") as both:
        both.write((folder / "certificate.pem").read_bytes())
    return folder / "both.pem"


def _server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate())
    return context


def trusting() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate()))


class Resolver:
    """Answers in turn; the last answer stays. Counts how often it was asked."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@dataclass
class Stage:
    press: Pressroom
    app: Application
    receiver: Receiver

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.receiver.port}/hook"

    def client(self, org: str | None = "acme", scope: Scope = Scope.OPERATOR) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=self.app)
        headers = {"Authorization": f"Bearer {scope.name}:{org or ''}"}
        return httpx.AsyncClient(transport=transport, base_url="http://press.test", headers=headers)

    async def webhook(self, org: str | None = "acme", **how: Any) -> dict[str, Any]:
        async with self.client(org) as client:
            made = await client.post("/webhooks", json={"url": self.url, "events": ALL} | how)
        assert made.status_code == 201, made.text
        return made.json()

    async def get(self, path: str, org: str | None = "acme") -> Any:
        async with self.client(org) as client:
            return (await client.get(path)).json()

    async def post(self, path: str, org: str | None = "acme") -> httpx.Response:
        async with self.client(org) as client:
            return await client.post(path)

    async def delivery(self, webhook: dict[str, Any]) -> dict[str, Any] | None:
        """The newest."""
        found = (await self.get(f"/webhooks/{webhook['id']}/deliveries"))["items"]
        return found[0] if found else None

    async def ended(self, payload: Any = "hi", org: str | None = "acme") -> Any:
        """A job that has ended."""
        return await self.press.wait_until_ended(await self.press.submit("shout", payload, org_id=org), timeout=60)


async def _lookup(token: str) -> Caller | None:
    scope, _, org = token.partition(":")
    return Caller(token, Scope[scope], org or None)


@asynccontextmanager
async def on_stage(database: str, *, tls: bool = False, workers: int | None = 2, **options: Any) -> AsyncIterator[Stage]:
    async with receiving(tls=tls) as receiver:
        allow = (f"127.0.0.1:{receiver.port}", f"{NAME}:{receiver.port}")
        options = {"poll_interval": 0.01, "webhook_allow": allow, "base_url": "https://press.test"} | options
        async with Pressroom(database, kinds=[shout], apps=BUILT_IN, workers=workers, **options) as press:
            if tls:
                press.webhooks.client = WebhookClient(allow, tls=trusting(), resolve=Resolver(["127.0.0.1"]))
            service = Service(press.queue, press.rendering, press.settings, Gate(_lookup), Metrics())
            yield Stage(press, make_app(service, [webhooks.router(service, press.webhooks)]), receiver)
