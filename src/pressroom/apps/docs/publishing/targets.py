"""Which folders, hosts and addresses a service may name: what an organisation says must not lead into the operator's network.

A host that is not named in `publish_allow` has to be public and spoken to with TLS, whose certificate is checked: an answer of
DNS that changes later leads to a server that has none for the name.
"""

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pressroom.app import Core
from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.errors import InvalidArgument
from pressroom.notify.addresses import AddressRefused, parse_target, resolve_by_system, resolve_public

_REDIS = re.compile(r"rediss?://[^/?#@\s]+(/[0-9]{0,4})?", re.IGNORECASE)
_LIKE_HTTP = {"redis": "http", "rediss": "https", "http": "http", "https": "https"}


def check_target(provider: str, config: dict[str, Any], core: Core) -> None:
    """Raises InvalidArgument."""
    if "path" in config:
        _check_folder(provider, config["path"], core.app_settings.publish_allow)
    for field in ("endpoint", "url"):
        if field in config:
            _parse(provider, field, config[field], allowed_hosts(provider, core))


async def require_public(provider: str, url: str, core: Core) -> None:
    """Before a connection to a host. Raises PublisherUnavailable."""
    try:
        target = parse_target(_like_http(url), allowed_hosts(provider, core))
        await resolve_public(target, resolve_by_system)
    except AddressRefused as reason:
        raise PublisherUnavailable(f"{provider}: {_own_words(reason)}") from None
    except OSError:
        raise PublisherUnavailable(f"{provider}: the name of its host was not found") from None


def allowed_hosts(provider: str, core: Core) -> Collection[str]:
    """A cache is purged by a POST, as webhooks are sent."""
    more = core.settings.webhook_allow if provider == "http_purge" else ()
    return (*core.app_settings.publish_allow, *more)


def _check_folder(provider: str, path: str, allow: Collection[str]) -> None:
    wanted = Path(os.path.realpath(path))
    roots = [Path(os.path.realpath(one)) for one in allow if one.startswith("/")]
    if not path.startswith("/") or not any(wanted.is_relative_to(root) for root in roots):
        raise InvalidArgument(f"config of {provider}: the folder is not below one that the operator allows (publish_allow)")


def _parse(provider: str, field: str, url: str, allow: Collection[str]) -> None:
    scheme = urlsplit(url).scheme.lower() if url.isascii() and url.isprintable() else ""
    if provider == "redis" and not _REDIS.fullmatch(url):
        # A query could turn off what the certificate is checked for.
        raise InvalidArgument(f"config of {provider}: {field} is an address such as rediss://kv.example.org:6379/0")
    schemes = ("redis", "rediss") if provider == "redis" else ("http", "https")
    if scheme not in schemes:
        raise InvalidArgument(f"config of {provider}: {field} begins with {' or '.join(f'{one}://' for one in schemes)}")
    try:
        parse_target(_like_http(url), allow)
    except AddressRefused as reason:
        raise InvalidArgument(f"config of {provider}: {field}: {_own_words(reason)}") from None


def _like_http(url: str) -> str:
    scheme, _, rest = url.partition("://")
    like, default = _LIKE_HTTP.get(scheme.lower(), scheme), ":6379"
    if not scheme.lower().startswith("redis"):
        return f"{like}://{rest}"
    host, slash, path = rest.partition("/")
    return f"{like}://{host if ':' in host.rpartition(']')[2] else host + default}{slash}{path}"


def _own_words(reason: AddressRefused) -> str:
    return str(reason).replace("webhook_allow", "publish_allow").replace("https://, unless", "https:// or rediss://, unless")
