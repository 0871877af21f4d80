"""Liveness, readiness, health and metrics of the render service."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.metrics import CONTENT_TYPE
from pressroom.api.operations import HealthAnswer
from pressroom.api.problems import HttpError
from pressroom.api.readiness import SharedCheck
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.errors import EngineMissing, QueueClosed
from pressroom.model import VERSION
from pressroom.render_service.service import RenderService
from pressroom.renderers import Engine, catalogue
from pressroom.renderers.documents import PRINTERS

FIRST_RENDER_FAILED = "first_render_failed"


class PrinterHealth(msgspec.Struct, frozen=True):
    name: str
    ready: bool
    install: str | None = None


class RenderServiceHealth(msgspec.Struct, frozen=True):
    """`authorized` is whether a render with the credentials of this request would be accepted."""

    status: str
    version: str
    authorized: bool
    slots: int
    busy: int
    waiting: int
    printers: list[PrinterHealth]
    code: str | None = None


class FirstRender:
    """Ready once a press has printed something: a machine where no press can start would answer every render with an error."""

    def __init__(self, service: RenderService) -> None:
        self._service = service
        self._check = SharedCheck(self._render_once, unexpected=FIRST_RENDER_FAILED)
        self._has_rendered = False

    async def cause(self) -> str | None:
        """The code of what keeps us from rendering, or None."""
        if self._service.closing.is_set():
            return QueueClosed.code
        return None if self._has_rendered else await self._check.cause()

    async def _render_once(self) -> None:
        printers = [catalogue.get_engine(name) for name in PRINTERS]
        installed = [printer for printer in printers if printer.missing() is None]
        if not installed:
            raise EngineMissing("no printer is installed")
        await self._service.presses.render(installed[0], installed[0].sample.encode(), "pdf")
        self._has_rendered = True


def router(service: RenderService) -> Routes:
    routes = Routes("operations")
    api = RenderServiceOperations(service)
    routes.add("/livez", api.livez, "GET")
    routes.add("/readyz", api.readyz, "GET")
    routes.add("/health", api.health, "GET", "POST", small_body=True)
    routes.add("/metrics", api.metrics, "GET")
    routes.add("/version", api.version, "GET")
    return routes


class RenderServiceOperations:
    def __init__(self, service: RenderService) -> None:
        self._service = service
        self._first_render = FirstRender(service)

    async def livez(self, _: Request) -> Response:
        return reply(HealthAnswer("pass"))

    async def readyz(self, _: Request) -> Response:
        cause = await self._first_render.cause()
        return reply(HealthAnswer("fail" if cause else "pass", cause), status=503 if cause else 200)

    async def health(self, request: Request) -> Response:
        authorized = await _is_authorized(self._service, request)
        cause = await self._first_render.cause()
        told = RenderServiceHealth(
            status="fail" if cause else "pass",
            version=VERSION,
            authorized=authorized,
            slots=self._service.concurrent,
            busy=self._service.concurrent - self._service.slots.free,
            waiting=self._service.slots.waiting,
            printers=[_printer(catalogue.get_engine(name)) for name in PRINTERS],
            code=cause,
        )
        return reply(told, status=503 if cause else 200)

    async def metrics(self, request: Request) -> Response:
        await self._service.gate.caller(request, Scope.VIEWER)
        return Response(self._service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def version(self, _: Request) -> Response:
        """As clients of Gotenberg ask for it."""
        return Response(VERSION, media_type="text/plain")


async def _is_authorized(service: RenderService, request: Request) -> bool:
    try:
        await service.gate.caller(request, Scope.VIEWER)
    except HttpError:
        return False
    return True


def _printer(engine: type[Engine]) -> PrinterHealth:
    missing = engine.missing()
    return PrinterHealth(engine.name, missing is None, None if missing is None else missing.install)
