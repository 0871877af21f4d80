"""The edge, made of the parts of a process; and where it listens."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pressroom.api.hosts import HostNames
from pressroom.api.limits import Quotas
from pressroom.api.tokens import Tokens
from pressroom.app import Core
from pressroom.apps.docs.edge.application import Edge, EdgeHosts
from pressroom.apps.docs.edge.contents import Contents
from pressroom.apps.docs.edge.places import host_of
from pressroom.apps.docs.edge.readers import ReaderLinks, Readers
from pressroom.apps.docs.edge.sites import Sites
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.config import Settings

if TYPE_CHECKING:
    from pressroom.apps.docs.dashboards.dashboards import Dashboards


def make_edge(core: Core, dashboards: "Dashboards", clock: Callable[[], float] = time.monotonic) -> Edge:
    """Once the database is open. By the `clock` it knows when to look again."""
    settings: DocsSettings = core.app_settings
    quotas = Quotas(None, None, logins=core.settings.login_limit)
    return Edge(
        Sites(lambda: core.database, clock),
        Contents(lambda: core.rendering.blobs),
        dashboards,
        Readers(Tokens(core.database, core.clock).lookup, ReaderLinks(core.keyring, core.clock), quotas),
        PublishedUrls(settings),
        edge_hosts(core.settings, settings),
        core.settings.head_limit,
    )


def edge_hosts(settings: Settings, docs: DocsSettings) -> EdgeHosts:
    shared = host_of(urlsplit(docs.url).netloc)
    names = [shared, host_of(docs.listen), *settings.allowed_hosts]
    pages = urlsplit(settings.base_url).netloc.rpartition("@")[2].lower()
    # Every request for what is not public needs a token, and nothing else is asked for one: the names need no more care than
    # that of a service which admits nobody without a token.
    return EdgeHosts(HostNames(names, needs_token=True), shared, pages)
