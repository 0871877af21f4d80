"""What both transports know of httpx."""

from typing import Any

import httpx

from pressroom.client.address import Address
from pressroom.client.talk import Answer, Call, Lost


def options(address: Address, timeout: float) -> dict[str, Any]:
    return {
        "base_url": address.url,
        "headers": address.headers,
        "timeout": httpx.Timeout(timeout),
        "trust_env": not address.is_loopback,
        "follow_redirects": False,  # the token goes to the address that was given, and to no other
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=20),
    }


def request(http: httpx.Client | httpx.AsyncClient, call: Call) -> httpx.Request:
    timeout: Any = httpx.USE_CLIENT_DEFAULT
    if call.timeout is not None:
        timeout = httpx.Timeout(http.timeout.connect, read=call.timeout)
    return http.build_request(
        call.method, call.path, params=call.params or None, headers=call.headers, content=call.body, timeout=timeout
    )


def answer(response: httpx.Response, body: bytes) -> Answer:
    return Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, body)


def lost(reason: httpx.TransportError) -> Lost:
    never_sent = isinstance(reason, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    return Lost(str(reason) or type(reason).__name__, sent=not never_sent)
