"""Which publishers an organisation has: what its slots, their services and the credentials of those say."""

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pressroom.app import Core
from pressroom.apps.docs.credentials.model import OrgService, StoredCredential
from pressroom.apps.docs.errors import KeysUnavailable, PublisherUnavailable, ServiceNotFound
from pressroom.apps.docs.model import Org
from pressroom.apps.docs.publishing import Publisher
from pressroom.apps.docs.publishing.targets import allowed_hosts, check_target, require_public
from pressroom.apps.docs.store import credentials as rows
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import CannotUnseal, InvalidArgument, PackageMissing
from pressroom.model import Work

if TYPE_CHECKING:
    from pressroom.apps.docs.operations.credentials import OrgCredentials

log = logging.getLogger("pressroom.docs")

SLOTS_IN_ORDER = ("publishing_store", "cdn_service")  # caches forget a page when the new one is there

type _Config = tuple[OrgService, StoredCredential | None]


class Publishers:
    """Connections are kept until the app stops, one set for each service as it is configured."""

    def __init__(self, core: Core, credentials: "OrgCredentials") -> None:
        self._core = core
        self._credentials = credentials
        self._made: dict[tuple[Any, ...], Publisher] = {}

    async def of(self, org: Org) -> list[Publisher]:
        """In the order in which they are called. None for an organisation whose editions our own edge alone serves: it reads
        the database. Raises PublisherUnavailable."""
        labels = [org.slots[slot] for slot in SLOTS_IN_ORDER if org.slots.get(slot)]
        return [await self._publisher(config) for config in await self._read_configs(org, labels)] if labels else []

    async def close(self) -> None:
        """Close the connections of all publishers."""
        for publisher in self._made.values():
            await publisher.close()
        self._made.clear()

    async def _read_configs(self, org: Org, labels: list[str]) -> list[_Config]:
        def unit() -> Work[list[_Config]]:
            found: list[_Config] = []
            for label in labels:
                service = yield from rows.get_service(org.slug, label)
                named = service.credential_label
                found.append((service, None if named is None else (yield from rows.get_credential(org.slug, named))))
            return found

        try:
            return await self._core.database.read(unit)
        except ServiceNotFound:
            raise PublisherUnavailable(
                f"a service that {org.slug} publishes with does not exist: {', '.join(labels)}"
            ) from None

    async def _publisher(self, config: _Config) -> Publisher:
        service, credential = config
        secret_of = None if credential is None else (credential.label, credential.date_changed, credential.date_created)
        key = (service.org, service.label, service.date_created, service.date_changed, secret_of)
        if key not in self._made:
            publisher = await self._make(service)
            if self._made.setdefault(key, publisher) is not publisher:  # another call was quicker
                await publisher.close()
        return self._made[key]

    async def _make(self, service: OrgService) -> Publisher:
        try:
            check_target(service.provider, service.config, self._core)  # what the operator allows may have changed
            for field in ("endpoint", "url"):
                if field in service.config:
                    await require_public(service.provider, service.config[field], self._core)
            return self._connect(service, await self._secret(service))
        except (KeysUnavailable, CannotUnseal, InvalidArgument, PackageMissing) as reason:
            log.warning("the service %s of %s cannot be used: %s", service.label, service.org, reason)
            raise PublisherUnavailable(f"the service {service.label} cannot be used: {reason}") from None

    async def _secret(self, service: OrgService) -> dict[str, str]:
        if service.credential_label is None:
            return {}
        return await self._credentials.open_secret(service.org, service.credential_label)

    def _connect(self, service: OrgService, secret: dict[str, str]) -> Publisher:
        core, config = self._core, service.config
        match service.provider:
            case "redis":
                try:
                    from pressroom.apps.docs.publishing.key_value import RedisPublisher
                except ImportError:
                    raise PackageMissing("redis", "redis") from None
                password = secret.get("token", "")
                return RedisPublisher(config["url"], core.clock, prefix=config["prefix"], user=config["user"], secret=password)
            case "http_purge":
                from pressroom.apps.docs.publishing.cache_purge import CachePurger, HttpPurge

                cache = HttpPurge(config["url"], secret.get("token", ""), allowed_hosts(service.provider, core))
                return CachePurger(cache, PublishedUrls(core.app_settings))
            case "folder":
                from pressroom.apps.docs.publishing.places import FolderPlace
                from pressroom.apps.docs.publishing.tree import TreePublisher

                place = FolderPlace(Path(config["path"]))
                return TreePublisher(place, core.database, lambda: core.rendering.blobs, core.clock)
            case "aws_s3" | "cloudflare_r2" | "minio":
                return self._connect_bucket(service, secret)
        raise PublisherUnavailable(f"this version cannot publish with {service.provider}")

    def _connect_bucket(self, service: OrgService, secret: dict[str, str]) -> Publisher:
        from pressroom.apps.docs.publishing.tree import TreePublisher

        try:
            from pressroom.apps.docs.publishing.bucket_place import BucketPlace
        except ImportError:
            raise PackageMissing("obstore", "s3") from None
        config = service.config
        place = BucketPlace(
            config["bucket"],
            endpoint=config.get("endpoint"),
            region=config["region"],
            access_key=secret["access_key_id"],
            secret_key=secret["secret_access_key"],
            prefix=config["prefix"],
        )
        return TreePublisher(place, self._core.database, partial(getattr, self._core.rendering, "blobs"), self._core.clock)
