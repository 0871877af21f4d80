"""The credentials that S3 requests and links are signed with: kept for many callers, and renewed before they expire."""

import asyncio
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from pressroom.base.outages import Outage
from pressroom.clock import Clock
from pressroom.errors import S3CredentialsExpired, S3CredentialsFailed, S3CredentialsMissing, StoreUnavailable

log = logging.getLogger("pressroom.artifacts")

# As botocore does. It is longer than a download link lives, so that links are not cut short as long as renewing works.
RENEW_BEFORE = 15 * 60.0  # seconds before they expire
WAIT_BELOW = 60.0  # seconds; with less time left callers wait for the renewal instead of using what is there
REFRESH_EVERY = 60.0  # seconds after which a source whose credentials say no expiry is read again: a file may be rotated
RETRY_EVERY = 30.0  # seconds between renewals that failed, or brought the same credentials, while those are valid
RETRY_EVERY_WITHOUT = 1.0  # the same while there are no valid credentials


@dataclass(frozen=True)
class Credentials:
    """`expires_at` is in seconds since 1970; None if that is not known. `origin` says where they came from, for people."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    expires_at: float | None = None
    origin: str = ""

    def seconds_left(self, now: float) -> float:
        return math.inf if self.expires_at is None else self.expires_at - now


class CredentialProvider(Protocol):
    def cached(self) -> Credentials:
        """What is there, without any I/O; from any thread. Raises StoreUnavailable if that is nothing, or has expired."""
        ...

    async def current(self) -> Credentials:
        """Credentials that are valid now. Raises StoreUnavailable if there are none."""
        ...


class StaticCredentials:
    """Those of the settings."""

    def __init__(self, access_key: str, secret_key: str) -> None:
        self._credentials = Credentials(access_key, secret_key)

    def cached(self) -> Credentials:
        return self._credentials

    async def current(self) -> Credentials:
        return self._credentials


class RenewedCredentials:
    """Credentials of a source that blocks: it is asked in a thread, and once for all callers that wait at the same time.

    `fetch` returns new credentials or raises StoreUnavailable. If it fails while the old ones are valid, that is only logged.
    """

    def __init__(self, fetch: Callable[[], Credentials], clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._held: Credentials | None = None
        self._renew_at = -math.inf
        self._tried_at = -math.inf
        self._failure: StoreUnavailable | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._outage = Outage("renewing S3 credentials", log)

    def cached(self) -> Credentials:
        if self._held is None:
            raise self._failure or S3CredentialsMissing("the S3 credentials have not been looked for yet")
        if self._held.seconds_left(self._now()) <= 0:
            raise self._expired_error(self._held)
        return self._held

    async def current(self) -> Credentials:
        now = self._now()
        left = -math.inf if self._held is None else self._held.seconds_left(now)
        if self._is_due(now, left):
            renewal = self._start_renewal()
            if left < WAIT_BELOW:
                await asyncio.shield(renewal)  # a caller that is cancelled does not cancel it for the others
        return self.cached()

    def _is_due(self, now: float, left: float) -> bool:
        pause = RETRY_EVERY if left >= WAIT_BELOW else RETRY_EVERY_WITHOUT
        tried_just_now = 0 <= now - self._tried_at < pause  # not negative: the clock may have been set back
        return now >= self._renew_at and not tried_just_now

    def _start_renewal(self) -> "asyncio.Task[None]":
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._renew())
        return self._renewal

    async def _renew(self) -> None:
        try:
            fetched = await asyncio.to_thread(self._fetch)
        except StoreUnavailable as failure:
            self._note_failure(failure)
        except Exception as unexpected:
            log.exception("S3 credentials could not be fetched")
            self._note_failure(S3CredentialsFailed(f"S3 credentials could not be fetched: {type(unexpected).__name__}"))
        else:
            self._accept_fetched(fetched)

    def _note_failure(self, failure: StoreUnavailable) -> None:
        self._failure = failure
        self._tried_at = self._now()
        self._outage.record_failure(failure)

    def _accept_fetched(self, fetched: Credentials) -> None:
        if self._held is None or self._held.origin != fetched.origin:
            log.info("S3 credentials come from %s", fetched.origin)
        now = self._now()
        left = fetched.seconds_left(now)
        self._renew_at = now + (REFRESH_EVERY if math.isinf(left) else left - min(RENEW_BEFORE, left / 2))
        self._tried_at = now  # an instance gets new ones only minutes before the old ones expire; until then it returns those
        self._held = fetched
        self._failure = None
        self._outage.record_success()

    def _expired_error(self, credentials: Credentials) -> S3CredentialsExpired:
        moment = datetime.fromtimestamp(credentials.expires_at or 0, UTC)
        reason = f": {self._failure}" if self._failure is not None else ""
        return S3CredentialsExpired(
            f"the S3 credentials from {credentials.origin} expired at {moment:%Y-%m-%dT%H:%M:%SZ} "
            f"and could not be renewed{reason}"
        )

    def _now(self) -> float:
        return self._clock.now_ms() / 1000
