"""Serve until told to stop, then stop in order: no longer ready, streams closed, requests finished."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Iterator
from typing import Protocol

import uvicorn
from starlette.types import ASGIApp

from pressroom.api.connections import Connections, connections_possible, protocol_of
from pressroom.api.loop_watchdog import watching_loop
from pressroom.api.metrics import LoopMetrics
from pressroom.config import Settings
from pressroom.errors import Unusable

log = logging.getLogger("pressroom")


class HttpService(Protocol):
    """What is served: its settings, its figures, and the event that ends it."""

    @property
    def settings(self) -> Settings: ...

    @property
    def metrics(self) -> LoopMetrics: ...

    @property
    def closing(self) -> asyncio.Event: ...


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Not uvicorn's: it raises them again once it has stopped, which would end us before the workers have."""
        yield


def heed_signals(service: HttpService, grace: float) -> None:
    """SIGTERM and SIGINT let the service stop. A second one ends the process there and then.

    Before the address is printed: a process that reads it may stop this one at once.
    """
    loop = asyncio.get_running_loop()

    def stop() -> None:
        log.info("stopping; what runs has %g s to finish", grace)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)  # the second one ends it the hard way; leases take care of the rest
        # uvicorn waits for open responses, and an event stream never ends by itself: it must be told.
        service.closing.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


async def serve(app: ASGIApp, service: HttpService, listener: socket.socket, *, grace: float, reserved: int = 0) -> None:
    """Until `service.closing` is set. So many open files are `reserved` for other listeners."""
    metrics, settings = service.metrics, service.settings
    with watching_loop(began=metrics.loop_holds.inc, ended=metrics.loop_was_held):
        most = connections_possible(settings.max_connections, reserved)
        await run_server(app, settings, listener, service.closing, grace=grace, max_connections=most)


async def run_server(
    app: ASGIApp,
    settings: Settings,
    listener: socket.socket,
    closing: asyncio.Event,
    *,
    grace: float,
    max_connections: int,
) -> None:
    """Until `closing` is set. It is set if the server ends by itself, too."""
    connections = Connections(
        head_limit=settings.head_limit,
        head_timeout=settings.head_timeout,
        body_timeout=settings.body_timeout,
        most=connections_possible(max_connections),
        most_per_address=settings.max_connections_address,
    )
    config = uvicorn.Config(
        app,
        http=protocol_of(connections),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        lifespan="off",
        timeout_graceful_shutdown=max(1, int(grace)),
        timeout_keep_alive=int(settings.keep_alive_timeout),
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    stopping = asyncio.create_task(closing.wait())
    async with connections.sweeping():
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            closing.set()
            server.should_exit = True
            await serving


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def listen(host: str, port: int, *, setting: str = "PRESSROOM_LISTEN") -> socket.socket:
    """Bound before anything is said, so that the address that is printed is the one that answers."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or answers wait for their acknowledgement
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as reason:
        listener.close()
        raise Unusable(f"cannot listen on {host}:{port}: {reason.strerror}; name another address in {setting}") from None
    listener.setblocking(False)
    return listener
