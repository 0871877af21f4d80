"""The artifact store and the delivery, probed at most every few seconds, however many requests ask for the result."""

import asyncio
import logging
import time

from pressroom import backends
from pressroom.base.dependencies import DependencyStatus, run_probe
from pressroom.config import Settings

log = logging.getLogger("pressroom.api")

FRESH = 10.0  # seconds for which a result is passed on: requests without a token must not make traffic to S3 or Redis


class Dependencies:
    """One probe serves all requests that come while it runs and for `FRESH` seconds after it. It only reads from S3."""

    def __init__(self, settings: Settings) -> None:
        self._probes = backends.dependency_probes(settings, write=False)
        self._check: asyncio.Task[list[DependencyStatus]] | None = None
        self._checked_at = 0.0
        self._latest: list[DependencyStatus] = []

    async def current(self) -> list[DependencyStatus]:
        """Waits for a probe if the last one is too old."""
        return await asyncio.shield(self._start_if_due())

    def latest(self) -> list[DependencyStatus]:
        """The last result; starts a probe if it is too old, and does not wait for it. Empty before the first one has ended."""
        self._start_if_due()
        return self._latest

    def _start_if_due(self) -> "asyncio.Task[list[DependencyStatus]]":
        if self._check is None or (self._check.done() and time.monotonic() - self._checked_at >= FRESH):
            self._check = asyncio.create_task(self._check_all())
        return self._check

    async def _check_all(self) -> list[DependencyStatus]:
        statuses = await asyncio.gather(*(run_probe(name, probe) for name, probe in self._probes.items()))
        before = {one.name: one.code for one in self._latest}
        for one in statuses:
            if one.code != before.get(one.name):
                log.log(logging.WARNING if one.code else logging.INFO, "%s: %s: %s", one.name, one.code or "pass", one.detail)
        self._latest, self._checked_at = list(statuses), time.monotonic()
        return self._latest
