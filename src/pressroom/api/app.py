"""The application: the shared routes, those of the apps, and what stands around them."""

from collections.abc import Iterable, Sequence
from itertools import chain

from pressroom.api import artifacts, cors, docs, events, jobs, operations, queue, schema, workers
from pressroom.api.hosts import Guarded, names_served
from pressroom.api.limits import Limited
from pressroom.api.middleware import Around
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
        workers.router(service),
        docs.router(service),
    )
    app = Application([*routes], schema.document)
    if service.quotas.counts:
        app.put_around(Limited, quotas=service.quotas)
    settings = service.settings
    hosts = names_served(settings, needs_token=not service.gate.is_open)
    app.put_around(Guarded, hosts=hosts, origins=settings.cors_origins, base_url=settings.base_url)
    app.put_around(
        Around,
        metrics=service.metrics,
        body_limit=settings.body_limit,
        form_limit=settings.form_limit,
        head_limit=settings.head_limit,
    )
    cors.share(app, settings.cors_origins)
    return app
