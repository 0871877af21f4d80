"""The HTTP endpoint of a worker process: `/metrics`, `/livez` and `/readyz`, and nothing else.

It asks for no token and tells nothing of jobs but totals. Slow and oversized requests meet the limits of the service.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from prometheus_client import CollectorRegistry, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pressroom.api.dependencies import Dependencies
from pressroom.api.metrics import CONTENT_TYPE, PressCollector, RequestDurations, add_build_info
from pressroom.api.middleware import RequestMiddleware
from pressroom.api.operations import HealthAnswer
from pressroom.api.problems import HttpError
from pressroom.api.readiness import SharedCheck
from pressroom.api.replies import reply
from pressroom.api.routes import Route
from pressroom.api.serve import run_server
from pressroom.api.worker_metrics import WorkerCollector, Workers
from pressroom.config import Settings
from pressroom.renderers.sandbox.engine_pools import EnginePools

log = logging.getLogger("pressroom.api")

MAX_CONNECTIONS = 64  # a scraper and a few probes; more would only take open files from the worker
STOP_GRACE = 1.0  # seconds that a response may still take when the worker has stopped
DATABASE_FAILED = "database_failed"


class WorkerProcess(Workers, Protocol):
    @property
    def claim_problem(self) -> str | None:
        """The code of what keeps the workers from claiming jobs, as far as it is known without asking the database."""
        ...

    async def check_database(self) -> None:
        """Raises PressroomError if the database cannot be read now."""
        ...


class WorkerEndpoint:
    def __init__(self, process: WorkerProcess, registry: CollectorRegistry, dependencies: Dependencies) -> None:
        self._process = process
        self._dependencies = dependencies
        self._registry = registry
        self._database = SharedCheck(process.check_database, unexpected=DATABASE_FAILED)
        routes = (
            Route("/metrics", ("GET",), self._metrics),
            Route("/livez", ("GET",), self._livez),
            Route("/readyz", ("GET",), self._readyz),
        )
        self._routes = {route.path: route for route in routes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        route = self._routes.get(scope["path"])
        if route is None:
            raise HttpError(404, "not_found", f"there is nothing here but {', '.join(self._routes)}")
        scope["route"] = route
        if scope["method"] not in route.methods:
            raise HttpError(405, "method_not_allowed", "not with this method", {"Allow": ", ".join(route.methods)})
        response = await route.handler(Request(scope, receive, send))
        await response(scope, receive, send)

    async def _metrics(self, _: Request) -> Response:
        return Response(generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE})

    async def _livez(self, _: Request) -> Response:
        return reply(HealthAnswer("pass"))

    async def _readyz(self, _: Request) -> Response:
        """Whether it claims jobs. Jobs wait or are tried again while another server is down, so these are only named."""
        degraded = {one.name: one.code for one in self._dependencies.latest() if one.code} or None
        cause = self._process.claim_problem or await self._database.cause()
        status = "fail" if cause else "warn" if degraded else "pass"
        return reply(HealthAnswer(status, cause, degraded), status=503 if cause else 200)


def make_worker_endpoint(process: WorkerProcess, settings: Settings, presses: Callable[[], EnginePools]) -> ASGIApp:
    registry = CollectorRegistry()
    registry.register(WorkerCollector(process))
    registry.register(PressCollector(presses))
    add_build_info(registry)
    endpoint = WorkerEndpoint(process, registry, Dependencies(settings))
    return RequestMiddleware(
        endpoint,
        RequestDurations(registry),
        body_limit=settings.form_limit,
        form_limit=settings.form_limit,
        head_limit=settings.head_limit,
    )


@asynccontextmanager
async def serve_worker_endpoint(
    process: WorkerProcess, settings: Settings, presses: Callable[[], EnginePools], listener: socket.socket
) -> AsyncIterator[None]:
    """For as long as the block lasts. If the server fails, that is logged and the worker goes on."""
    closing = asyncio.Event()
    app = make_worker_endpoint(process, settings, presses)
    serving = asyncio.create_task(
        run_server(app, settings, listener, closing, grace=STOP_GRACE, max_connections=MAX_CONNECTIONS),
        name="pressroom-worker-endpoint",
    )
    serving.add_done_callback(_log_failure)
    try:
        yield
    finally:
        closing.set()
        await asyncio.wait({serving})


def _log_failure(serving: "asyncio.Task[None]") -> None:
    if not serving.cancelled() and (error := serving.exception()) is not None:
        log.error("the worker's metrics endpoint failed", exc_info=error)
