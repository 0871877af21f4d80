"""The edge, made of the parts of a process; and where it listens."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pressroom.api.hosts import HostNames
from pressroom.api.limits import Quotas
from pressroom.api.tokens import Tokens
from pressroom.app import Core
from pressroom.apps.docs.edge.application import Edge
from pressroom.apps.docs.edge.contents import Contents
from pressroom.apps.docs.edge.hosts import EdgeHosts, SiteFinder
from pressroom.apps.docs.edge.places import host_of
from pressroom.apps.docs.edge.project_site import ProjectSite
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
    sites, contents = Sites(lambda: core.database, clock), Contents(lambda: core.rendering.blobs)
    hosts, urls = edge_hosts(core.settings, settings), PublishedUrls(settings)
    return Edge(
        sites,
        SiteFinder(sites, hosts),
        ProjectSite(sites, contents, dashboards, urls, has_own_url=bool(hosts.shared)),
        Readers(Tokens(core.database, core.clock).lookup, ReaderLinks(core.keyring, core.clock), quotas),
        urls,
        core.settings.head_limit,
    )


def edge_hosts(settings: Settings, docs: DocsSettings) -> EdgeHosts:
    shared = host_of(urlsplit(docs.url).netloc)
    names = [shared, host_of(docs.listen), *settings.allowed_hosts]
    pages = urlsplit(settings.base_url).netloc.rpartition("@")[2].lower()
    # What is not public needs a token at every host name, so that DNS rebinding gains nothing here.
    return EdgeHosts(HostNames(names, needs_token=True), shared, pages)
