"""The application: the shared routes, those of the apps, and what stands around them."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from pressroom.api import artifacts, docs, events, jobs, operations, schema
from pressroom.api.limits import Limited
from pressroom.api.middleware import Around
from pressroom.api.problems import HttpError, problem
from pressroom.api.service import Service
from pressroom.errors import PressroomError


def make_app(service: Service, routers: Sequence[APIRouter] = ()) -> FastAPI:
    app = FastAPI(title="Pressroom", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.routers = [app.router]
    for router in (
        jobs.router(service),  # routes are tried in this order, so the busy ones come first
        *routers,
        events.router(service),
        artifacts.router(service),
        operations.router(service),
        docs.router(service),
    ):
        app.include_router(router)
        app.state.routers.append(router)
    app.add_exception_handler(PressroomError, _refused)
    app.add_exception_handler(HTTPException, _unrouted)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.openapi = lambda: schema.document(app)  # type: ignore[method-assign]
    app.add_middleware(Limited, quotas=service.quotas)
    app.add_middleware(Around, metrics=service.metrics)
    return app


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, PressroomError)
    return problem(request, error)


async def _unrouted(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    codes: dict[int, tuple[str, str]] = {
        404: ("not_found", "there is nothing here"),
        405: ("method_not_allowed", "not with this method"),
    }
    code, words = codes.get(error.status_code, ("refused", str(error.detail)))
    headers = {"Allow": _allowed(request)} if error.status_code == 405 else error.headers
    return problem(request, HttpError(error.status_code, code, words, headers))


def _allowed(request: Request) -> str:
    """Of all routes with this path; the framework names only those of the first."""
    every = (route for router in request.app.state.routers for route in router.routes)
    matching = (route for route in every if route.matches(request.scope)[0] is not Match.NONE)
    return ", ".join(sorted({method for route in matching for method in getattr(route, "methods", None) or ()}))


async def _invalid(request: Request, error: Any) -> Response:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return problem(request, HttpError(422, "invalid_argument", f"{where}: {first['msg']}"))
