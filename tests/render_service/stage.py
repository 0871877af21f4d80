"""A render service on the loopback, both transports of the client side, and a server that only pretends."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from pressroom.api import serve as server
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.config import Settings
from pressroom.render_client import DocumentRenderer
from pressroom.render_client.local import LocalRenderer
from pressroom.render_client.remote import RemoteRenderer
from pressroom.render_service.service import RenderService, make_service
from pressroom.render_service.serving import make_app
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.sandbox.engine_pools import EnginePools

TOKEN = "a-token-for-tests-0123"
PATIENCE = 600.0  # seconds, on a busy machine
HELLO = "<!DOCTYPE html><html lang=en><title>Hello</title><h1>Hello</h1>"
SLOW = "<!DOCTYPE html><title>Slow</title>" + "<p>many <b>words</b> of a long page</p>" * 200_000  # renders for many seconds


def html(source: str | bytes, **options: Any) -> RenderRequest:
    return RenderRequest("html", "pdf", source.encode() if isinstance(source, str) else source, options)


@dataclass
class Stage:
    service: RenderService
    url: str

    def client(self, token: str = "", **options: Any) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, trust_env=False, timeout=PATIENCE, **options)

    def renders(self, outcome: str, engine: str = "html") -> float:
        """How many renders have ended like this."""
        name = "pressroom_render_service_renders_total"
        return self.service.metrics.registry.get_sample_value(name, {"engine": engine, "outcome": outcome}) or 0

    @property
    def is_rendering(self) -> bool:
        """Whether a press has something to do."""
        return any(process.waiting for pool in self.service.presses.pools().values() for process in pool.processes)

    @property
    def is_idle(self) -> bool:
        """Whether no slot is taken and no press renders."""
        return self.service.slots.free == self.service.concurrent and not self.is_rendering


@asynccontextmanager
async def on_stage(*, concurrent: int = 4, waiting: int = 50, **settings: Any) -> AsyncIterator[Stage]:
    room = DiagramsSettings(max_concurrent=concurrent, max_waiting=waiting)
    settings = {"presses": 1, "login_limit": 0, "listen": "127.0.0.1:0"} | settings
    service = make_service(Settings(sections={"diagrams": room}, **settings))
    listener = server.listen("127.0.0.1", 0)
    serving = asyncio.create_task(server.serve(make_app(service), service, listener, grace=1.0))
    try:
        yield Stage(service, server.url_of(listener))
    finally:
        service.closing.set()
        await serving
        listener.close()
        await service.presses.close()


@asynccontextmanager
async def transport(name: str) -> AsyncIterator[DocumentRenderer]:
    """`local` or `remote`."""
    if name == "local":
        presses = EnginePools(1)
        try:
            yield LocalRenderer(lambda job: presses)
        finally:
            await presses.close()
        return
    async with on_stage(render_token=TOKEN) as stage, remote(stage.url, token=TOKEN) as renderer:
        yield renderer


@asynccontextmanager
async def remote(url: str, **options: Any) -> AsyncIterator[RemoteRenderer]:
    renderer = RemoteRenderer(url, **({"timeout": PATIENCE} | options))
    try:
        yield renderer
    finally:
        await renderer.close()


type Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]


@asynccontextmanager
async def pretended_service(answer: bytes | Behaviour) -> AsyncIterator[str]:
    """No render service, but a server that reads a request and writes these bytes, whatever was asked. Yields its address."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            await reader.readexactly(int(lengths[0].partition(b":")[2]) if lengths else 0)
            if callable(answer):
                await answer(reader, writer)
            else:
                writer.write(answer)
                await writer.drain()
        finally:
            writer.close()

    serving = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with serving:
        yield f"http://127.0.0.1:{serving.sockets[0].getsockname()[1]}"


def response(status: str, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
