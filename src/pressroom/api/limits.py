"""How many requests a minute: for each token, and for each address before it is known whose it is. And how many wrong guesses.

Token buckets in memory; a restart resets them.
"""

import ipaddress
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from cachetools import LRUCache
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pressroom.api.access import Caller
from pressroom.api.problems import HttpError, problem

PER_TOKEN = 600
PER_ADDRESS = 1200

_WINDOW = 60
MAX_KEYS = 10_000
_UNCOUNTED = ("/livez", "/readyz")


class QuotaState(NamedTuple):
    """A caller's quota under one policy. `wait` is seconds until all is restored or, when refused, until the next try."""

    policy: str
    quota: int
    left: int
    wait: int
    refused: bool


class Buckets:
    """One policy: `quota` requests a minute for every key."""

    def __init__(self, policy: str, quota: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy
        self._quota = quota
        self._clock = clock
        # The key that is evicted was used longest ago, and its bucket had the most time to fill up again.
        self._levels: LRUCache[str, tuple[float, float]] = LRUCache(MAX_KEYS)

    def wait(self, key: str) -> int:
        """Seconds until a request is allowed, without counting one."""
        level = self._level(key, self._clock())
        return 0 if level >= 1 else math.ceil((1 - level) * _WINDOW / self._quota)

    def take(self, key: str) -> QuotaState:
        now = self._clock()
        level = self._level(key, now)
        refused = level < 1
        if not refused:
            level -= 1
        self._levels[key] = (level, now)
        missing = (1 if refused else self._quota) - level
        return QuotaState(self._policy, self._quota, int(level), math.ceil(missing * _WINDOW / self._quota), refused)

    def _level(self, key: str, now: float) -> float:
        if key not in self._levels:
            return float(self._quota)
        level, then = self._levels[key]
        return min(float(self._quota), level + max(0.0, now - then) * self._quota / _WINDOW)

    def __len__(self) -> int:
        return len(self._levels)


class Quotas:
    """The limits of a service. None is no limit."""

    def __init__(
        self,
        per_token: int | None,
        per_address: int | None,
        clock: Callable[[], float] = time.monotonic,
        *,
        logins: int | None = None,
    ) -> None:
        self.tokens = Buckets("token", per_token, clock) if per_token else None
        self.addresses = Buckets("address", per_address, clock) if per_address else None
        self.logins = Buckets("login", logins, clock) if logins else None

    @property
    def counts(self) -> bool:
        return self.tokens is not None or self.addresses is not None

    def charge(self, request: Request, caller: Caller) -> None:
        """Once for a request, however often it is asked who sent it."""
        if self.tokens is None or caller.token is None:
            return
        if all(one.policy != "token" for one in _quota_states(request.scope)):
            refuse_or_note(request.scope, self.tokens.take(caller.token))

    def refuse_guesser(self, request: Request) -> None:
        if self.logins is None or request.client is None:
            return
        if wait := self.logins.wait(network_of(request.client.host)):
            words = f"too many wrong tokens or passwords came from this address; try again in {wait} s"
            raise HttpError(429, "quota_exceeded", words, {"Retry-After": str(wait)})

    def note_wrong_guess(self, request: Request) -> None:
        if self.logins is not None and request.client is not None:
            self.logins.take(network_of(request.client.host))

    def charge_address(self, scope: Scope) -> None:
        client = scope.get("client")
        if self.addresses is not None and client is not None and scope["path"] not in _UNCOUNTED:
            refuse_or_note(scope, self.addresses.take(network_of(client[0])))


class RateLimitMiddleware:
    """Counts by address before anything else is looked at, and tells on every answer how the caller stands."""

    def __init__(self, app: ASGIApp, quotas: Quotas) -> None:
        self._app = app
        self._quotas = quotas

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and (states := _quota_states(scope)):
                message["headers"] = [*message.get("headers", ()), *_headers(states)]
            await send(message)

        try:
            self._quotas.charge_address(scope)
        except HttpError as refusal:
            await problem(Request(scope), refusal)(scope, receive, answer)
            return
        await self._app(scope, receive, answer)


def refuse_or_note(scope: Scope, state: QuotaState) -> None:
    """Raises the 429 if it is one. Every answer tells how the caller stands, a refusal too."""
    _quota_states(scope).append(state)
    if state.refused:
        words = f"more than {state.quota:,} requests a minute for this {state.policy}; try again in {state.wait} s"
        raise HttpError(429, "quota_exceeded", words, {"Retry-After": str(state.wait)})


def _quota_states(scope: Scope) -> list[QuotaState]:
    scope_state: dict[str, Any] = scope.setdefault("state", {})
    states: list[QuotaState] = scope_state.setdefault("quotas", [])
    return states


def _headers(states: list[QuotaState]) -> list[tuple[bytes, bytes]]:
    """draft-ietf-httpapi-ratelimit-headers-11."""
    policies = ", ".join(f'"{one.policy}";q={one.quota};w={_WINDOW}' for one in states)
    levels = ", ".join(f'"{one.policy}";r={one.left};t={one.wait}' for one in states)
    return [(b"ratelimit-policy", policies.encode()), (b"ratelimit", levels.encode())]


def network_of(host: str) -> str:
    """The /64 of an IPv6 address, because a client usually has all of it; an IPv4 address itself."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.IPv6Network((address, 64), strict=False))
    return host
