"""Where the service is, and what opens its door."""

import ipaddress
import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pressroom.errors import InvalidArgument
from pressroom.model import VERSION

DEFAULT = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class Address:
    url: str
    token: str | None = field(repr=False)

    @property
    def is_loopback(self) -> bool:
        """This very machine: a proxy that the environment names cannot reach it, and must not see what is sent to it."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def headers(self) -> dict[str, str]:
        ours = {"User-Agent": f"pressroom-client/{VERSION}", "Accept": "application/json, */*;q=0.5"}
        return ours | ({"Authorization": f"Bearer {self.token}"} if self.token else {})


def resolve_address(url: str | None, token: str | None) -> Address:
    """As given, or as PRESSROOM_URL and PRESSROOM_TOKEN say."""
    address = (url or os.environ.get("PRESSROOM_URL") or DEFAULT).rstrip("/")
    secret = token or os.environ.get("PRESSROOM_TOKEN") or None
    parts = urlsplit(address)
    try:
        is_valid = parts.scheme in ("http", "https") and parts.hostname and not parts.query and (parts.port or 1) > 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise InvalidArgument(f"{address!r} is not the address of a service; it looks like {DEFAULT}")
    if secret is not None and not (secret.isascii() and secret.isprintable() and " " not in secret):
        raise InvalidArgument("the token has characters that no token has; was more than the token copied?")
    return Address(address, secret)
