"""The application: the shared routes, those of the apps, and what stands around them."""

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI

from pressroom.api import artifacts, cors, docs, events, jobs, operations, queue, schema, workers
from pressroom.api.limits import Limited
from pressroom.api.middleware import Around
from pressroom.api.routing import Application
from pressroom.api.service import Service


def make_app(service: Service, routers: Sequence[APIRouter] = ()) -> FastAPI:
    app = Application(title="Pressroom", docs_url=None, redoc_url=None, openapi_url=None)
    for router in (
        jobs.router(service),  # routes are tried in this order, so the busy ones come first
        *routers,
        events.router(service),
        artifacts.router(service),
        operations.router(service),
        queue.router(service),
        workers.router(service),
        docs.router(service),
    ):
        app.include_router(router)
    app.openapi = lambda: schema.document(app)  # type: ignore[method-assign]
    if service.quotas.counts:
        app.add_middleware(Limited, quotas=service.quotas)
    app.add_middleware(Around, metrics=service.metrics)
    cors.share(app, service.settings.cors_origins)
    return app
