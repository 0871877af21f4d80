"""Which project a request means, by its host name and its path; and which host names the edge answers to."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pressroom.api.hosts import HostNames
from pressroom.api.problems import HttpError
from pressroom.apps.docs.edge.answers import RequestHeaders
from pressroom.apps.docs.edge.places import Domains, SitePlace, find_local, host_of
from pressroom.apps.docs.edge.sites import SiteProject, Sites
from pressroom.apps.docs.model import Org

_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(:\d{1,5})?")


class EdgeHosts(NamedTuple):
    """`names` are those it answers to beside the domains of organisations. `shared` is the host name of `[docs] url`, below
    which organisations without a domain have their sites. `forbidden` is host and port of the service's pages."""

    names: HostNames
    shared: str
    forbidden: str


class FoundSite(NamedTuple):
    org: Org
    project: SiteProject
    place: SitePlace


class SiteFinder:
    def __init__(self, sites: Sites, hosts: EdgeHosts) -> None:
        self._sites = sites
        self._hosts = hosts
        self._is_own_name = lru_cache(maxsize=1024)(hosts.names.__contains__)

    def checked_host(self, headers: RequestHeaders) -> str:
        """A browser sends the name that it was given, which may be one that another site has pointed here."""
        given = headers.hosts[0].lower() if len(headers.hosts) == 1 else ""
        host = host_of(given) if _HOST.fullmatch(given) else ""
        if not host:
            raise HttpError(400, "malformed_request", "a request has one Host header with a name and a port")
        if self._hosts.forbidden and given == self._hosts.forbidden:
            raise HttpError(421, "misdirected_request", "sites have an origin of their own; this one is that of the service")
        return host

    async def find(self, host: str, segments: Sequence[str]) -> FoundSite | None:
        """Raises HttpError 421 for a host name that is not served here."""
        domains = await self._sites.domains()
        place = await self._find_place(domains, host, segments)
        org = domains.orgs.get(place.org or "") if place is not None else None
        if place is None or org is None:
            return None
        project = await self._sites.project(org.slug, place.project)
        return None if project is None else FoundSite(org, project, place)

    async def _find_place(self, domains: Domains, host: str, segments: Sequence[str]) -> SitePlace | None:
        if domains.covers(host):
            place = domains.find(host, segments)
            if place is not None or host != self._hosts.shared:
                return place
        elif not self._is_own_name(host):
            words = (
                f"no site has the name {host[:100]!r}; an organisation names its domain, and `[docs] url` that of all others"
            )
            raise HttpError(421, "misdirected_request", words)
        place = find_local(host, segments)
        if place is not None and place.org is None:
            org = await self._sites.only_org_with(place.project)
            return None if org is None else place._replace(org=org)
        # Organisations without a domain share a name; one that has a domain is served there alone.
        if place is not None and host == self._hosts.shared and place.org in domains.orgs:
            return None if domains.orgs[place.org].base_domain else place
        return place
