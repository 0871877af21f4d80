"""Addresses that a webhook may be sent to: public ones only, unless the operator allows the host (against SSRF).

Two steps: `parse_target` checks the URL, and `resolve_public` resolves its name once and checks every address. The client
connects to those addresses without resolving the name again, so that a DNS answer that changes in between (rebinding) has no
effect. Redirects are not followed: their target would be unchecked.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv4Address, IPv6Address

import msgspec

from pressroom.errors import Refused

MAX_URL_LENGTH = 2048
PORTS = {"https": 443, "http": 80}
LOWEST_PORT = 1024  # below it, except for 443, other services listen, which might accept a POST as their protocol

type Address = IPv4Address | IPv6Address

# Finds the addresses of a name, as text.
type Resolver = Callable[[str, int], Awaitable[Iterable[str]]]

_URL = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?P<port>:[0-9]{1,5})?(?P<path>[/?][^#]*)?", re.I
)
_NAME = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")  # a browser or libc would read it as an IPv4 address

# Python's `is_global` knows most of these, in some versions. The list is ours, so that an upgrade cannot shorten it.
_NOT_PUBLIC_4 = [
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
]
# Global unicast is 2000::/3: outside it are ::, ::1, ::/96, 64:ff9b::/96, 100::/64, fc00::/7, fe80::/10, fec0::/10, ff00::/8.
_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_6 = [
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo, benchmarks, ORCHID and others
        "2001:db8::/32",
        "2002::/16",  # 6to4: an IPv4 address in disguise
        "3fff::/20",
    )
]


_threads = ThreadPoolExecutor(4, thread_name_prefix="pressroom-names")


class AddressRefused(Refused):
    code = "address_refused"
    status = 422


class WebhookTarget(msgspec.Struct, frozen=True):
    """An address that was read and may be tried. `trusted` is one that the operator named."""

    scheme: str
    host: str
    port: int
    path: str
    trusted: bool = False

    @property
    def ip_address(self) -> Address | None:
        return _parse_ip(self.host)

    @property
    def authority(self) -> str:
        """The Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def parse_target(url: str, allow: Collection[str] = ()) -> WebhookTarget:
    """Read an address as strictly as can be: what two programs might read differently is refused.

    `allow` names hosts, as `host` or `host:port`, that may be private and may be spoken to without TLS.
    """
    if len(url) > MAX_URL_LENGTH:
        raise AddressRefused(f"the address has {len(url):,} characters; the limit is {MAX_URL_LENGTH:,}")
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise AddressRefused("the address has characters that must be encoded; write names as xn--… and the rest as %XX")
    if "#" in url:
        raise AddressRefused("the address has a fragment (#…), which is never sent; leave it out")
    if "@" in re.split(r"[/?]", url.partition("://")[2])[0]:
        raise AddressRefused("the address holds a user name or password; leave them out")
    found = _URL.fullmatch(url)
    if found is None:
        raise AddressRefused("that is not an address such as https://example.org/hooks")
    scheme, host = found["scheme"].lower(), _parse_host(found["host"].lower())
    if scheme not in PORTS:
        raise AddressRefused("the address must begin with https://, unless its host is named in webhook_allow")
    port = int(found["port"][1:]) if found["port"] else PORTS[scheme]
    path = found["path"] or "/"
    target = WebhookTarget(scheme, host, port, path if path.startswith("/") else f"/{path}", _is_allowed(host, port, allow))
    if not target.trusted:
        _check_public(target)
    return target


async def resolve_public(target: WebhookTarget, resolve: Resolver) -> list[Address]:
    """The addresses to dial: all that the name has, or none if one of them is not public."""
    literal = target.ip_address
    given = (
        [literal] if literal else [_unmap_ipv4(ipaddress.ip_address(one)) for one in await resolve(target.host, target.port)]
    )
    if not given:
        raise AddressRefused("the name of the host has no addresses")
    if not target.trusted and not all(map(is_public, given)):
        raise AddressRefused("the name of the host leads to an address that is not public")
    return list(dict.fromkeys(given))


async def resolve_by_system(host: str, port: int) -> list[str]:
    """The resolver of the system, in threads of its own: a slow name server must not block other work."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_threads, look_up)
    return [str(address[0]) for *_, address in found]


def is_public(address: Address) -> bool:
    """Whether it is globally routable unicast. An IPv4 address mapped into IPv6 is judged as IPv4."""
    address = _unmap_ipv4(address)
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in _NOT_PUBLIC_4)
    return address.is_global and address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)


def _parse_host(host: str) -> str:
    if host.startswith("["):
        try:
            return str(_unmap_ipv4(IPv6Address(host[1:-1])))
        except ValueError:
            raise AddressRefused("the address has brackets around what is not an IPv6 address") from None
    if host.endswith("."):
        raise AddressRefused("the name of the host ends with a dot; leave it out")
    if _NUMBER.fullmatch(host):
        try:
            return str(IPv4Address(host))  # four decimal numbers without leading zeros, and nothing else
        except ValueError:
            raise AddressRefused("an IPv4 address is four decimal numbers, such as 192.0.2.1") from None
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise AddressRefused("the name of the host is not one that can be")
    return host


def _is_allowed(host: str, port: int, allow: Collection[str]) -> bool:
    shown = f"[{host}]" if ":" in host else host
    return shown in allow or f"{shown}:{port}" in allow


def _check_public(target: WebhookTarget) -> None:
    if target.scheme != "https":
        raise AddressRefused("the address must begin with https://, unless its host is named in webhook_allow")
    if target.port != PORTS["https"] and not LOWEST_PORT <= target.port <= 65_535:
        raise AddressRefused(f"the port is 443, or one from {LOWEST_PORT} to 65535")
    literal = target.ip_address
    if literal is None and ("." not in target.host or target.host.endswith(".localhost")):
        raise AddressRefused("the name of the host is a local one")
    if literal is not None and not is_public(literal):
        raise AddressRefused("the address is not a public one")


def _parse_ip(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _unmap_ipv4(address: Address) -> Address:
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
