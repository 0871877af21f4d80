"""The render service put together, and served until it is stopped."""

import asyncio
from collections.abc import Callable

from pressroom.api import memory, schema
from pressroom.api import serve as server
from pressroom.api.hosts import HostMiddleware, names_served
from pressroom.api.middleware import RequestMiddleware
from pressroom.api.routing import Application
from pressroom.config import Settings
from pressroom.render_service import operations, render_routes
from pressroom.render_service.gotenberg import routes as gotenberg
from pressroom.render_service.service import RenderService, make_service


def make_app(service: RenderService) -> Application:
    settings = service.settings
    routes = [*render_routes.router(service), *gotenberg.router(service), *operations.router(service)]
    app = Application(routes, schema.document)
    hosts = names_served(settings, needs_token=not service.gate.is_open)
    app.add_middleware(HostMiddleware, hosts=hosts, origins=(), base_url="")
    app.add_middleware(
        RequestMiddleware,
        metrics=service.metrics,
        body_limit=settings.body_limit,
        form_limit=settings.form_limit,
        head_limit=settings.head_limit,
    )
    return app


async def serve(settings: Settings, *, listening: Callable[[str], None]) -> None:
    """Serve until stopped. `listening` is called with the address once it is bound."""
    memory.return_large_blocks()
    service = make_service(settings)
    listener = server.listen(*settings.address, setting="--listen")
    try:
        server.heed_signals(service, settings.grace)
        listening(server.url_of(listener))
        await server.serve(make_app(service), service, listener, grace=settings.grace)
    finally:
        listener.close()
        await asyncio.shield(service.presses.close())
