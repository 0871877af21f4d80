"""Which names this service answers to, and whose web pages may change anything here.

A web page may send requests to any address, also to 127.0.0.1, and by pointing a name of its own there (DNS rebinding) it may
even read the answers. The first shows in `Origin` and `Sec-Fetch-Site`, which browsers add and pages cannot change. The second
shows in `Host`.
"""

import ipaddress
import re
import socket
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pressroom.api.problems import HttpError
from pressroom.config import Settings

ANY = "*"
_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(?P<port>\d{1,5}))?")
_VERSIONS = ("1.0", "1.1", "2", "2.0")
_PORTS = {"http": "80", "https": "443"}


class HostNames:
    """`names` are host names; one that begins with a dot stands for all below it, and `*` for every name.

    `needs_token` is a service that admits no request without a token. A page that was pointed there by a name of its own gains
    nothing, so addresses, names without a dot and the name of this machine are accepted as well.
    """

    def __init__(self, names: Iterable[str], *, needs_token: bool) -> None:
        lowered = {_normalize_host(name) for name in names if name}
        if needs_token:
            lowered |= {_normalize_host(socket.gethostname())}
        self._names = lowered
        self._suffixes = tuple(name for name in lowered if name.startswith("."))
        self._needs_token = needs_token

    def __contains__(self, host: str) -> bool:
        name = _normalize_host(host)
        if ANY in self._names or name in self._names or name.endswith(self._suffixes):
            return True
        address = _parse_ip_address(name)
        if address is not None:
            return address.is_loopback or self._needs_token
        return name == "localhost" or name.endswith(".localhost") or (self._needs_token and "." not in name)


def names_served(settings: Settings, *, needs_token: bool) -> HostNames:
    """The loopback, the address that we listen on, the host of `base_url`, and `allowed_hosts`."""
    names = [settings.address[0], urlsplit(settings.base_url).hostname or "", *settings.allowed_hosts]
    return HostNames(names, needs_token=needs_token)


class HostMiddleware:
    """Refuses requests for names that are not ours, and changes that a page of another site asks for.

    `origins` are the sites that the operator lets in (`cors_origins`). `base_url` is how browsers reach us, where that is set.
    """

    def __init__(self, app: ASGIApp, hosts: HostNames, origins: Collection[str], base_url: str) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = origins
        self._own = {_origin_key(base_url)} if base_url else set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            self._check_target(scope)
            self._check_host(scope, headers)
            if scope["method"] not in _SAFE:
                self._check_origin(headers)
        await self._app(scope, receive, send)

    def _check_target(self, scope: Scope) -> None:
        """`*` and `host:port` are targets that no route has. HTTP/0.9 has neither headers nor a status."""
        if scope.get("http_version", "1.1") not in _VERSIONS:
            raise HttpError(400, "malformed_request", "this service speaks HTTP/1.1")
        if not scope["path"].startswith("/"):
            raise HttpError(400, "malformed_request", "the target of a request begins with /")

    def _check_host(self, scope: Scope, headers: Headers) -> None:
        given = headers.getlist("host")
        if not given and scope.get("http_version") != "1.1":
            return  # HTTP/1.0 needs none, and no browser speaks it
        found = _HOST.fullmatch(given[0]) if len(given) == 1 else None
        if found is None:
            raise HttpError(400, "malformed_request", "a request has one Host header with a name and a port")
        if found["name"] not in self._hosts:
            words = (
                f"this service does not answer to the name {found['name'][:100]!r}; who runs it says in BASE_URL or "
                "PRESSROOM_ALLOWED_HOSTS how it is called"
            )
            raise HttpError(421, "misdirected_request", words)

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is not None:
            is_allowed = self._is_own(origin, headers) or origin in self._origins or ANY in self._origins
        else:
            is_allowed = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
        if not is_allowed:
            words = "a web page of another site sent this; who runs this service names such sites in PRESSROOM_CORS_ORIGINS"
            raise HttpError(403, "forbidden", words)

    def _is_own(self, origin: str, headers: Headers) -> bool:
        key = _origin_key(origin)
        if key is None:
            return False
        # A proxy may speak HTTPS for us, so that the scheme is not compared with that of this connection.
        host = headers.get("host", "")
        return key in self._own or key in {_origin_key(f"{scheme}://{host}") for scheme in _PORTS}


def _origin_key(address: str) -> tuple[str, str, str] | None:
    """Scheme, name and port of an address, or None for what has none, such as `null`."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return parts.scheme, _normalize_host(parts.hostname), str(port) if port is not None else _PORTS[parts.scheme]


def _normalize_host(host: str) -> str:
    name = host.lower().removeprefix("[").removesuffix("]")
    return name.removesuffix(".") if len(name) > 1 else name


def _parse_ip_address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
