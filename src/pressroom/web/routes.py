"""Every page under its address."""

from collections.abc import Sequence

from pressroom.api.routes import Routes
from pressroom.web import live, static
from pressroom.web.pages import (
    alerts,
    audit,
    bulk,
    failures,
    find,
    job,
    jobs,
    login,
    not_found,
    overview,
    queues,
    schedules,
    tokens,
    webhooks,
    workers,
)
from pressroom.web.site import Site

_PAGES = [
    *(overview, jobs, bulk, job, alerts, failures, queues, workers, schedules, webhooks, tokens, audit, find, login),
]


def routers(site: Site) -> Sequence[Routes]:
    return [live.router(site), *(page.router(site) for page in _PAGES), static.router(site.assets), not_found.router(site)]
