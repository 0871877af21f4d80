"""The HTTP service over a queue: its gate, its quotas, its routes and its pages, and those of the apps, put together."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

from pressroom.api import limits, memory
from pressroom.api import serve as server
from pressroom.api import webhooks as webhook_routes
from pressroom.api.access import Gate, is_loopback
from pressroom.api.app import make_app
from pressroom.api.basic import BasicAuth
from pressroom.api.metrics import Metrics
from pressroom.api.routes import Route
from pressroom.api.routing import Application
from pressroom.api.service import Service
from pressroom.api.worker_metrics import WorkerCollector
from pressroom.config import Settings
from pressroom.parts.app_listeners import AppListeners
from pressroom.pressroom import Pressroom
from pressroom.registry import import_kinds
from pressroom.web import routes as web
from pressroom.web import site as web_site
from pressroom.web.sessions import Sessions
from pressroom.web.site import Site


def compile_templates(press: Pressroom, stopping: Callable[[], bool] = lambda: False) -> None:
    """Takes most of a second, once in a process; ends when it is `stopping`."""
    web_site.compile_templates(_app_packages(press), stopping)


type Listening = Callable[[str, bool, Mapping[str, str]], None]


async def serve(settings: Settings, *, works: bool, listening: Listening) -> None:
    """Serve until stopped. `listening` is called once: with the address, with whether no token exists yet that would be let in,
    and with the addresses of apps by what is there."""
    memory.return_large_blocks()
    host, port = settings.address
    listener = server.listen(host, port)
    if settings.home:
        os.makedirs(settings.home, exist_ok=True)
    kinds, schedules = import_kinds(settings.imports)
    async with AsyncExitStack() as stack:
        stack.callback(listener.close)  # also if the database or the artifact store is refused
        press = Pressroom(settings=settings, kinds=kinds, schedules=schedules, workers=settings.workers if works else None)
        await stack.enter_async_context(press)
        if not works:
            await press.artifact_store.check()
        service, application = make_service(press)
        beside = AppListeners(service, [one for app in press.apps.values() for one in app.listeners(service)])
        stack.callback(beside.close)
        await beside.bind()
        server.heed_signals(service, settings.grace)
        shown = f"[{host}]" if ":" in host else host
        closed = not (is_loopback(host) or settings.auth_enabled or await press.tokens.any_holds())
        listening(settings.base_url or f"http://{shown}:{listener.getsockname()[1]}", closed, beside.urls)
        async with asyncio.TaskGroup() as together:
            together.create_task(server.serve(application, service, listener, grace=settings.grace, reserved=beside.reserved))
            together.create_task(beside.serve())
            together.create_task(asyncio.to_thread(compile_templates, press, service.closing.is_set))
            if not works:
                together.create_task(press.local_workers.watch_coverage(service.closing))
            await service.closing.wait()
            await press.finish()


def make_service(press: Pressroom) -> tuple[Service, Application]:
    settings = press.settings
    alone = is_loopback(settings.address[0])
    quotas = limits.Quotas(
        _limit_or_default(settings.rate_limit, None if alone else limits.PER_TOKEN),
        _limit_or_default(settings.rate_limit_address, None if alone else limits.PER_ADDRESS),
        logins=settings.login_limit,
    )
    gate = Gate(
        press.tokens.lookup,
        open_to_loopback=alone,
        basic=BasicAuth(settings.auth_user, settings.auth_pass) if settings.auth_enabled else None,
        quota=quotas,
        own_host=urlsplit(settings.base_url).hostname,
        origins=settings.cors_origins,
    )
    workers = None if press.worker is None else WorkerCollector(press.local_workers)
    formatters = {kind: how for app in press.apps.values() for kind, how in app.job_formatters().items()}
    service = Service(
        press.queue, press.rendering, settings, gate, Metrics(workers), formatters, quotas=quotas, keyring=press.keyring
    )
    sessions = Sessions(gate, press.rendering.database, press.clock, settings.base_url)
    site = Site(service, sessions, press.tokens, press.webhooks, _app_packages(press))
    routes: list[Route] = [route for app in press.apps.values() for route in app.routes(service)]
    routes += webhook_routes.router(service, press.webhooks)
    for app in press.apps.values():
        site.finders.append(app.find)
        site.job_subject_finders.append(app.find_job_subjects)
        if pages := app.pages(site):
            site.add_section(pages)
            routes += pages.routes
    return service, make_app(service, [routes, *web.routers(site)])


def _app_packages(press: Pressroom) -> Sequence[tuple[str, str]]:
    return [(app.name, app.package) for app in press.installed]


def _limit_or_default(limit: int | None, default: int | None) -> int | None:
    return default if limit is None else limit or None
