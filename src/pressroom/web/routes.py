"""Every page under its address."""

from collections.abc import Sequence

from pressroom.api.routes import Routes
from pressroom.web import live, static
from pressroom.web.desk import Desk
from pressroom.web.pages import (
    audit,
    bulk,
    entrance,
    failures,
    find,
    job,
    jobs,
    nowhere,
    overview,
    queues,
    schedules,
    tokens,
    webhooks,
    workers,
)

_PAGES = [
    *(overview, jobs, bulk, job, failures, queues, workers, schedules, webhooks, tokens, audit, find, entrance),
]


def routers(desk: Desk) -> Sequence[Routes]:
    return [live.router(desk), *(page.router(desk) for page in _PAGES), static.router(desk.assets), nowhere.router(desk)]
