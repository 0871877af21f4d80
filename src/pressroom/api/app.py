"""The application: the shared routes, those of the apps, and what stands around them."""

from collections.abc import Iterable, Sequence
from itertools import chain

from pressroom.api import alerts, artifacts, cors, docs, events, jobs, operations, queue, schema, workers
from pressroom.api.hosts import HostMiddleware, names_served
from pressroom.api.limits import RateLimitMiddleware
from pressroom.api.middleware import RequestMiddleware
from pressroom.api.routes import Route
from pressroom.api.routing import Application
from pressroom.api.service import Service


def make_app(service: Service, others: Sequence[Iterable[Route]] = ()) -> Application:
    routes = chain(
        jobs.router(service),  # routes are tried in this order, so the busy ones come first
        *others,
        events.router(service),
        artifacts.router(service),
        operations.router(service),
        queue.router(service),
        alerts.router(service),
        workers.router(service),
        docs.router(service),
    )
    app = Application([*routes], schema.document)
    if service.quotas.counts:
        app.add_middleware(RateLimitMiddleware, quotas=service.quotas)
    settings = service.settings
    hosts = names_served(settings, needs_token=not service.gate.is_open)
    app.add_middleware(HostMiddleware, hosts=hosts, origins=settings.cors_origins, base_url=settings.base_url)
    app.add_middleware(
        RequestMiddleware,
        metrics=service.metrics,
        body_limit=settings.body_limit,
        form_limit=settings.form_limit,
        head_limit=settings.head_limit,
    )
    cors.add_cors(app, settings.cors_origins)
    return app
