"""Liveness, readiness, health and metrics."""

import asyncio
from typing import Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.dependencies import Dependencies
from pressroom.api.metrics import CONTENT_TYPE
from pressroom.api.problems import HttpError
from pressroom.api.readiness import SUBMIT_FAILED, Readiness
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.schema import binary_response, json_response, responses
from pressroom.api.service import Service
from pressroom.base.dependencies import DependencyStatus
from pressroom.errors import PressroomError
from pressroom.model import VERSION
from pressroom.renderers import catalogue
from pressroom.store.operators.stats import QueueStats


class EngineHealth(msgspec.Struct, frozen=True):
    name: str
    ready: bool
    version: str | None
    install: str | None


class DependencyHealth(msgspec.Struct, frozen=True):
    """`status` is pass, warn (jobs take longer) or fail (jobs wait or are tried again). `code` is in docs/errors.md."""

    name: str
    status: str
    code: str | None


class HealthWarning(msgspec.Struct, frozen=True):
    """Jobs have been ready for a minute, and `no_worker` is running, or none takes their kind: `kind_without_worker`.
    `kinds` is told to viewers."""

    code: Literal["no_worker", "kind_without_worker"]
    kinds: list[str] | None


class Health(msgspec.Struct, frozen=True):
    """`status` is pass, warn when a dependency is not well or there are `warnings`, or fail when jobs cannot be accepted.
    `queued` and `running` are told to viewers."""

    status: str
    version: str
    queued: int | None
    running: int | None
    engines: list[EngineHealth]
    dependencies: list[DependencyHealth]
    warnings: list[HealthWarning]


class HealthAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """`code` says what is wrong, in the words of the errors. `degraded` has the code of each dependency that is not well."""

    status: str
    code: str | None = None
    degraded: dict[str, str] | None = None


_LIVEZ: dict[str, Any] = {
    "responses": {200: json_response(HealthAnswer, "The process runs", example={"status": "pass"})},
}
_READYZ: dict[str, Any] = {
    "responses": {
        200: json_response(
            HealthAnswer, "Send requests", example={"status": "warn", "degraded": {"artifacts": "s3_unreachable"}}
        ),
        503: json_response(HealthAnswer, "Send none", example={"status": "fail", "code": SUBMIT_FAILED}),
    },
}
_HEALTH: dict[str, Any] = {
    "responses": {
        200: json_response(
            Health,
            "All is well",
            example={
                "status": "pass",
                "version": VERSION,
                "queued": 2,
                "running": 1,
                "engines": [{"name": "graphviz", "ready": True, "version": "12.2.1", "install": None}],
                "dependencies": [{"name": "artifacts", "status": "pass", "code": None}],
                "warnings": [],
            },
        ),
        503: json_response(Health, "It is not"),
    },
    "openapi": {"security": [{}, {"token": []}]},
}
_METRICS: dict[str, Any] = {
    "responses": responses(
        {200: binary_response("For Prometheus", "text/plain", example="pressroom_jobs_queued 2\n")}, 401, 403
    ),
}


def router(service: Service) -> Routes:
    routes = Routes("operations")
    api = OperationsApi(service)
    routes.add("/livez", api.livez, "GET", **_LIVEZ)
    routes.add("/readyz", api.readyz, "GET", **_READYZ)
    routes.add("/health", api.health, "GET", **_HEALTH)
    routes.add("/metrics", api.metrics, "GET", **_METRICS)
    return routes


class OperationsApi:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._readiness = Readiness(service)
        self._dependencies = Dependencies(service.settings)

    async def livez(self, _: Request) -> Response:
        return reply(HealthAnswer("pass"))

    async def readyz(self, _: Request) -> Response:
        """Whether a job could be read and submitted a moment ago. No job is made. Jobs are accepted while the artifact store or
        the delivery is down, so these are only named."""
        degraded = {one.name: one.code for one in self._dependencies.latest() if one.code} or None
        cause = await self._readiness.cause()
        status = "fail" if cause else "warn" if degraded else "pass"
        return reply(HealthAnswer(status, cause, degraded), status=503 if cause else 200)

    async def health(self, request: Request) -> Response:
        """The status is public; the numbers of jobs are for viewers."""
        cause, statuses = await asyncio.gather(self._readiness.cause(), self._dependencies.current())
        checked = [DependencyHealth("database", "fail" if cause else "pass", cause), *map(_dependency, statuses)]
        health = await _health(self._service, checked, shows_totals=await _may_view(self._service, request))
        return reply(health, status=503 if health.status == "fail" else 200)

    async def metrics(self, request: Request) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        if not caller.everywhere:
            raise HttpError(403, "forbidden", "figures are of all organisations; this needs a token made with --all-orgs")
        text = self._service.metrics.text(await self._service.queue.stats(), self._service.rendering.presses)
        return Response(text, headers={"Content-Type": CONTENT_TYPE})


async def _may_view(service: Service, request: Request) -> bool:
    """A probe with a token that has expired is still told that all is well."""
    try:
        await service.gate.caller(request, Scope.VIEWER)
    except PressroomError:
        return False
    return True


async def _health(service: Service, checked: list[DependencyHealth], *, shows_totals: bool) -> Health:
    engines = [_engine(engine) for engine in catalogue.engines()]
    try:
        stats = await service.queue.stats()
    except PressroomError:
        return Health("fail", VERSION, None, None, engines, checked, [])
    warnings = _warnings(stats, shows_kinds=shows_totals)
    is_ready = all(one.status == "pass" for one in checked if one.name == "database")
    is_well = all(one.status == "pass" for one in checked) and not warnings
    status = "fail" if not is_ready else "pass" if is_well else "warn"
    if not shows_totals:
        return Health(status, VERSION, None, None, engines, checked, warnings)
    running = sum(line.running for line in stats.running)
    return Health(status, VERSION, stats.queued, running, engines, checked, warnings)


def _warnings(stats: QueueStats, *, shows_kinds: bool) -> list[HealthWarning]:
    if not stats.without_worker:
        return []
    kinds = [one.kind for one in stats.without_worker] if shows_kinds else None
    return [HealthWarning("kind_without_worker" if stats.workers else "no_worker", kinds)]


def _dependency(one: DependencyStatus) -> DependencyHealth:
    """Without Redis workers poll, and jobs take up to a second longer. Without the others jobs do not end."""
    costs_only_time = one.code is not None and one.code.startswith("redis_")
    return DependencyHealth(one.name, "pass" if one.code is None else "warn" if costs_only_time else "fail", one.code)


def _engine(engine: Any) -> EngineHealth:
    missing = engine.missing()
    return EngineHealth(engine.name, missing is None, None if missing else engine.version(), missing and missing.install)
