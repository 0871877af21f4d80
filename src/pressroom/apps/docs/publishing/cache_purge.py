"""Caches of a CDN forget the pages of an edition that has moved."""

from collections.abc import Collection, Sequence
from typing import Protocol

import msgspec

from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.model import Org, Project
from pressroom.apps.docs.publishing import Publication, PublishedSite, PurgedFiles, ReadFiles, ReadShownSites
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.notify.webhook_client import NoResponse, WebhookClient

SITES_AT_ONCE = 200


class CachePurge(Protocol):
    async def purge(self, keys: Sequence[str], urls: Sequence[str]) -> None:
        """By surrogate keys, and by addresses for caches that do not know those. Raises PublisherUnavailable."""
        ...


class HttpPurge:
    """A POST of `{"surrogate_keys": […], "urls": […]}`, with a bearer token. Addresses are checked as those of webhooks are,
    and redirects are not followed."""

    def __init__(self, url: str, token: str, allow: Collection[str]) -> None:
        self._url = url
        self._token = token
        self._client = WebhookClient(allow)

    async def purge(self, keys: Sequence[str], urls: Sequence[str]) -> None:
        headers = {"Content-Type": "application/json", "User-Agent": "Pressroom"}
        if keys:
            headers["Surrogate-Key"] = " ".join(keys[:50])
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        body = msgspec.json.encode({"surrogate_keys": keys, "urls": urls})
        try:
            response = await self._client.post(self._url, headers, body)
        except NoResponse as reason:
            raise PublisherUnavailable(f"the cache cannot be purged: {reason}") from None
        if not 200 <= response.status < 300:
            raise PublisherUnavailable(f"the cache cannot be purged: it answered {response.status}")


class CachePurger:
    """A publisher that keeps nothing: it comes after those that do.

    Pages of an edition have two surrogate keys, `acme/guide` and `acme/guide/2.0`; those of the project's dashboard have the
    first one alone.
    """

    def __init__(self, cache: CachePurge, urls: PublishedUrls) -> None:
        self._cache = cache
        self._urls = urls

    async def publish(self, publication: Publication) -> None:
        await self.purge_sites(publication.org, [publication.site])

    async def publish_dashboard(self, org: Org, project: Project, read_files: ReadFiles) -> None:  # noqa: ARG002
        url = self._urls.dashboard(org, project.slug)
        await self._cache.purge([f"{org.slug}/{project.slug}"], [url, f"{url}switcher.json"])

    async def reconcile(self, org: Org, read_shown: ReadShownSites) -> Collection[PublishedSite]:  # noqa: ARG002
        return ()

    async def purge_sites(self, org: Org, sites: Collection[PublishedSite]) -> None:
        listed = sorted(sites)
        for first in range(0, len(listed), SITES_AT_ONCE):
            some = listed[first : first + SITES_AT_ONCE]
            keys = [f"{org.slug}/{site}" for site in some]
            await self._cache.purge(keys, [self._urls.edition(org, *site) for site in some])

    async def delete_expired(self, org: Org, now: int) -> PurgedFiles:  # noqa: ARG002
        return PurgedFiles(0, 0)

    async def close(self) -> None:
        return None
