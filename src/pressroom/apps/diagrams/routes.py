"""`POST /render` and `GET /d/{shortlink}`."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.artifacts import send
from pressroom.api.schema import answers, sends
from pressroom.api.service import Service
from pressroom.apps.diagrams.renders import Diagrams


def router(service: Service, diagrams: Diagrams) -> APIRouter:  # noqa: ARG001
    routes = APIRouter(tags=["diagrams"])

    @routes.get("/d/{shortlink}", operation_id="get_diagram", responses=answers({200: sends("The bytes", "*/*")}, 404))
    async def get_diagram(request: Request, shortlink: str) -> Response:
        """Whoever has the link may see it: it cannot be guessed."""
        artifact = await service.rendering.artifact(shortlink)
        return await send(service, request, artifact, cache="public, max-age=300")

    return routes
