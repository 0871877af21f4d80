"""What the routes of the render service have in common: presses, slots, who may use them, and whether we are closing."""

import asyncio
import base64
import hmac
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.requests import Request

from pressroom.api.access import Caller, Gate, Scope, is_loopback
from pressroom.api.disconnects import cancel_on_disconnect
from pressroom.api.limits import Quotas
from pressroom.api.problems import HttpError
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.config import Settings
from pressroom.errors import Backpressure, InvalidSettings, PressroomError, QueueClosed
from pressroom.render_service.metrics import RenderServiceMetrics
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.sandbox.engine_pools import CallerEnginePools, EnginePools
from pressroom.renderers.sandbox.fair_queue import RenderCaller
from pressroom.submission.fair_slots import RETRY_AFTER, FairSlots

CLIENT = Caller("render client", Scope.VIEWER, token="render")  # noqa: S106 - not a token, but which one it was
_UNAUTHORIZED = "the token of this render service is needed: Authorization: Bearer ..., as RENDER_TOKEN has it"


class TokenAsPassword:
    """HTTP Basic with any name, for clients of Gotenberg: they know no tokens."""

    def __init__(self, expected: bytes) -> None:
        self._expected = expected

    def caller(self, credentials: str) -> Caller | None:
        try:
            _, _, password = base64.b64decode(credentials, validate=True).partition(b":")
        except ValueError:
            return None
        return CLIENT if hmac.compare_digest(password, self._expected) else None


@dataclass
class RenderService:
    settings: Settings
    presses: EnginePools
    slots: FairSlots
    concurrent: int
    gate: Gate
    metrics: RenderServiceMetrics
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def admit(self, request: Request) -> None:
        """Raises HttpError 401, or QueueClosed. Before the body is read."""
        await self.gate.caller(request, Scope.VIEWER)
        if self.closing.is_set():
            raise QueueClosed("the service is closing")

    async def render(self, request: Request, wanted: RenderRequest) -> Rendered:
        """In a slot, until the client disconnects. Raises HttpError 429 if too many wait for a slot already."""
        plan = documents.make_plan(wanted)
        plan.reader.check(wanted.source, plan.output, plan.options)
        if plan.printer is not None:
            plan.printer.check(b"", "pdf", plan.print_options or {})
        label = (plan.printer or plan.reader).name
        rendered = await self.run(request, label, documents.render(self.engine_pools_for(request), plan))
        return msgspec.structs.replace(rendered, details=rendered.details | {"engines": documents.engines_of(plan)})

    async def run(self, request: Request, label: str, work: Coroutine[Any, Any, Rendered]) -> Rendered:
        """Work that holds a slot, counted under the name of an engine."""
        outcome = "cancelled"
        try:
            rendered = await cancel_on_disconnect(request, self._in_slot(request, work))
            outcome = "completed"
        except Backpressure as full:
            outcome = full.code
            raise HttpError(429, full.code, "all slots are taken, and as many wait as may", _RETRY_AFTER) from None
        except PressroomError as error:
            outcome = error.code
            raise
        finally:
            work.close()
            self.metrics.renders.labels(label, outcome).inc()
        return rendered

    async def _in_slot(self, request: Request, work: Coroutine[Any, Any, Rendered]) -> Rendered:
        async with self.slots.hold_slot(_organisation(request)):
            return await work

    def engine_pools_for(self, request: Request) -> CallerEnginePools:
        is_background = request.headers.get("pressroom-tier") == "background"
        return self.presses.for_caller(RenderCaller(is_background, _organisation(request)))


_RETRY_AFTER = {"Retry-After": str(RETRY_AFTER)}


def make_service(settings: Settings) -> RenderService:
    """Raises InvalidSettings for an address that others can reach and no token."""
    host = settings.address[0]
    token = settings.render_token
    if not token and not is_loopback(host):
        raise InvalidSettings(
            [f"render_token: {settings.listen} can be reached from other machines; set RENDER_TOKEN, or listen on 127.0.0.1"]
        )
    room = settings.sections.get("diagrams")
    if not isinstance(room, DiagramsSettings):
        room = DiagramsSettings()
    slots = FairSlots(room.max_concurrent, room.max_waiting)
    presses = EnginePools(settings.presses or None)
    metrics = RenderServiceMetrics(presses, slots, room.max_concurrent)
    return RenderService(settings, presses, slots, room.max_concurrent, _make_gate(settings), metrics)


def _make_gate(settings: Settings) -> Gate:
    expected = settings.render_token.encode()

    async def lookup(given: str) -> Caller | None:
        return CLIENT if expected and hmac.compare_digest(given.encode(), expected) else None

    quotas = Quotas(None, None, logins=settings.login_limit)
    basic = TokenAsPassword(expected) if expected else None
    return Gate(lookup, open_to_loopback=not expected, basic=basic, quota=quotas, unauthorized=_UNAUTHORIZED)


def _organisation(request: Request) -> str:
    """As whose render it takes its turn. The token is one for all, so this is for fairness and for nothing else."""
    return request.headers.get("pressroom-org", "")[:64]
