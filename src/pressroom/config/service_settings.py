"""Settings of the HTTP service."""

import re
from dataclasses import dataclass

from pressroom.config.addresses import is_host_and_port
from pressroom.config.declaration import Alias, DeclaredSettings, ValueCheck, between, setting

_ORIGIN = re.compile(r"\*|https?://[^/?#@\s]+")
_HOST = re.compile(r"\*|\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:]+")
_RATE = between(0, 1_000_000_000, zero="no limit")
_SIZE = ValueCheck(lambda value: 1024 <= value <= 1024**3, "{} bytes are not between 1024 and 1073741824")
_TIMEOUT = between(1, 3600, unit="s")
_CONNECTIONS = between(0, 1_000_000, zero="no limit")
_NOT_HOST_AND_PORT = "{!r} is not HOST:PORT"


def _is_base_url(text: str) -> bool:
    return not text or (text.startswith(("http://", "https://")) and not text.endswith("/"))


@dataclass(frozen=True)
class ServiceSettings(DeclaredSettings):
    listen: str = setting(
        "127.0.0.1:8000",
        "where the service listens; off the loopback every caller needs a token",
        ValueCheck(is_host_and_port, _NOT_HOST_AND_PORT),
    )
    metrics_listen: str = setting(
        "",
        "where `pressroom work` answers `/metrics`, `/livez` and `/readyz`, such as `127.0.0.1:9100`; `work "
        "--metrics` is the same. It asks for no token: name a loopback or a private address. A service shows the "
        "figures of its workers in its own `/metrics` and does not use this setting. Needs the extra `service`",
        ValueCheck(lambda value: not value or is_host_and_port(value), _NOT_HOST_AND_PORT),
    )
    base_url: str = setting(
        "",
        "in front of the links that the service tells, such as `https://docs.example.org`",
        ValueCheck(_is_base_url, "{!r} must begin with http:// or https:// and not end with /"),
        aliases=(Alias("BASE_URL"),),
    )
    auth_enabled: bool = setting(
        False,
        "a name and password (HTTP Basic) instead of a token, for clients that know no other way: they submit into "
        "the default organisation. Writing then needs one or the other, also on the loopback",
        aliases=(Alias("AUTH_ENABLED"),),
    )
    auth_user: str = setting(
        "",
        "the name for `auth_enabled`",
        ValueCheck(lambda value: ":" not in value, "a name has no colon"),
        aliases=(Alias("AUTH_USER"),),
    )
    auth_pass: str = setting(
        "",
        "the password for `auth_enabled`; never shown",
        aliases=(Alias("AUTH_PASS"),),
        secret=True,
    )
    rate_limit: int | None = setting(
        None,
        "requests a minute for each token; 0 is no limit",
        _RATE,
        shown_default="600; none on the loopback",
    )
    rate_limit_address: int | None = setting(
        None,
        "requests a minute from each address (for IPv6 each /64), before anything else is looked at; 0 is no limit. "
        "Behind a proxy all come from its address: set 0 and let the proxy count",
        _RATE,
        shown_default="1200; none on the loopback",
    )
    login_limit: int = setting(
        20,
        "wrong tokens or passwords a minute from each address (for IPv6 each /64), the loopback included; past that "
        "its credentials are not looked at and the answer is 429. 0 is no limit. Behind a proxy all come from its "
        "address: set 0 and let the proxy count",
        _RATE,
    )
    head_limit: int = setting(
        64 * 1024,
        "bytes of a request before its body; more is a 431",
        _SIZE,
    )
    body_limit: int = setting(
        12 * 1024 * 1024,
        "bytes of a body; more is a 413",
        _SIZE,
    )
    form_limit: int = setting(
        64 * 1024,
        "the same where only a few fields are sent: the login, and the forms and requests that hold no source",
        _SIZE,
    )
    head_timeout: float = setting(
        20.0,
        "seconds until the head of a request has come; then it is a 408",
        _TIMEOUT,
    )
    body_timeout: float = setting(
        60.0,
        "seconds after its head until its body has come, and one more for each 32 KB while it comes; then it is a 408, as "
        "after so many without a byte",
        _TIMEOUT,
    )
    keep_alive_timeout: float = setting(
        65.0,
        "seconds for which a connection stays open without a request; longer than those of a proxy in front",
        _TIMEOUT,
    )
    max_connections: int = setting(
        2000,
        "open connections; one more is answered with a 503. 0 is no limit. Each event stream holds one, and each "
        "takes an open file: there are never more than the process may have open (`ulimit -n`), less 200 for other "
        "files and a quarter for each listener of an app",
        _CONNECTIONS,
    )
    max_connections_address: int = setting(
        100,
        "the same from each address (for IPv6 each /64), the loopback not counted; 0 is no limit. Behind a proxy on "
        "another machine all come from its address: set 0",
        _CONNECTIONS,
    )
    cors_origins: tuple[str, ...] = setting(
        (),
        "web pages that may read and submit from a browser: origins such as `https://docs.example.org`, or `*` for "
        "every page that has a token. An origin that is named here is also let in without a token where you would be, "
        "on the loopback",
        ValueCheck(_ORIGIN.fullmatch, "{!r} is not an origin such as https://docs.example.org, or *", of_each=True),
    )
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "further host names that requests may ask for, beside the loopback, the host of `listen` and that of "
        "`base_url`: `press.example.org`, `.example.org` for all below it, or `*` for any. A request for another name "
        "gets `421`, so that a web page cannot reach an open service by a name that it points at 127.0.0.1. A service "
        "that needs tokens also answers to addresses, to names without a dot and to the name of its machine",
        ValueCheck(
            _HOST.fullmatch,
            "{!r} is not a host name without a port, such as press.example.org, .example.org or *",
            of_each=True,
        ),
    )
