"""The service over a queue: its gate, its quotas, its routes and its pages, put together."""

from functools import cache, partial
from urllib.parse import urlsplit

from pressroom.api import limits
from pressroom.api import webhooks as webhook_routes
from pressroom.api.access import Gate, is_loopback
from pressroom.api.app import make_app
from pressroom.api.basic import Basic
from pressroom.api.metrics import Metrics
from pressroom.api.routing import Application
from pressroom.api.service import Service
from pressroom.api.worker_metrics import WorkerCollector
from pressroom.apps.diagrams import compare, kroki, playground, playground_names
from pressroom.apps.diagrams import renders as diagrams
from pressroom.apps.diagrams import routes as diagram_routes
from pressroom.apps.wiki import pages as wiki
from pressroom.web import desk as web_desk
from pressroom.web import routes as web
from pressroom.web.desk import Desk
from pressroom.web.door import Door
from pressroom.wiring import Pressroom

APPS = ("pressroom.apps.diagrams", "pressroom.apps.wiki")


@cache
def compile_templates() -> None:
    """Takes most of a second, once in a process."""
    web_desk.compile_templates(APPS)


def make_service(press: Pressroom) -> tuple[Service, Application]:
    settings = press.settings
    alone = is_loopback(settings.address[0])
    quotas = limits.Quotas(
        _limit(settings.rate_limit, None if alone else limits.PER_TOKEN),
        _limit(settings.rate_limit_address, None if alone else limits.PER_ADDRESS),
        logins=settings.login_limit,
    )
    gate = Gate(
        press.tokens.lookup,
        open_to_loopback=alone,
        basic=Basic(settings.auth_user, settings.auth_pass) if settings.auth_enabled else None,
        quota=quotas,
        own_host=urlsplit(settings.base_url).hostname,
        origins=settings.cors_origins,
    )
    base_url = settings.base_url
    voices = {diagrams.NAME: partial(press.diagrams.speak, base_url)}
    workers = None if press.worker is None else WorkerCollector(press)
    service = Service(press, press.rendering, settings, gate, Metrics(workers), voices, quotas=quotas, keyring=press.keyring)
    door = Door(gate, press.rendering.database, press.clock, base_url)
    desk = Desk(service, door, press.tokens, press.webhooks, APPS)
    routers = [
        diagram_routes.router(service, press.diagrams),
        kroki.router(service, press.diagrams),
        webhook_routes.router(service, press.webhooks),
        playground.router(desk, press.diagrams),
        playground_names.router(desk),
        compare.router(desk),
        wiki.router(desk, press.articles),
        *web.routers(desk),
    ]
    return service, make_app(service, routers)


def _limit(wanted: int | None, usual: int | None) -> int | None:
    return usual if wanted is None else wanted or None
