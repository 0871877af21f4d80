"""One process at a time writes a site of a tree. The lease is in the database, which all processes share.

A process renews its lease as long as it lives, also while it writes one large file. One that is killed loses it after `LEASE`
seconds. One that was stopped for longer than that writes nothing any more: before each write it makes sure that half of its
time is left, and asks the database if it is not.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.store import publish_leases
from pressroom.errors import Unavailable
from pressroom.ids import new_uid
from pressroom.store import Database

LEASE = 60.0  # seconds
RENEW_INTERVAL = LEASE / 3  # seconds
POLL = 0.25  # seconds between two tries
LONGEST_WAIT = 900.0  # seconds; a job has an hour


class Superseded(Exception):
    """A later move of the same edition waits: what this one would write is not wanted any more."""


class PublishLease:
    def __init__(self, database: Database, place: str, seq: int) -> None:
        self._database = database
        self._place = place
        self._seq = seq
        self._owner = new_uid()
        self._until = 0.0
        self._wanted = seq

    async def check(self) -> None:
        """Before each write. Raises Superseded, and PublisherUnavailable if the lease was lost."""
        if time.monotonic() >= self._until - LEASE / 2:
            await self.renew()
        if self._wanted > self._seq:
            raise Superseded

    async def renew(self) -> None:
        """Raises PublisherUnavailable if it was lost."""
        asked_at = time.monotonic()
        wanted = await self._database.run(
            partial(publish_leases.renew, self._place, self._owner, int(LEASE * 1000)), name="publish", durable=False
        )
        if wanted is None:
            raise PublisherUnavailable(f"another process has taken over the publishing of {self._place}")
        self._until, self._wanted = asked_at + LEASE, wanted

    async def keep(self) -> None:
        """Renew it until this is cancelled, or the lease is lost: then the next `check` says so."""
        with suppress(PublisherUnavailable):
            while True:
                await asyncio.sleep(RENEW_INTERVAL)
                with suppress(Unavailable):
                    await self.renew()

    async def acquire(self) -> None:
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            asked_at = time.monotonic()
            if await self._database.run(
                partial(publish_leases.acquire, self._place, self._owner, self._seq, int(LEASE * 1000)),
                name="publish",
                durable=False,
            ):
                self._until = asked_at + LEASE
                return
            if asked_at > deadline:
                raise PublisherUnavailable(f"{self._place} is being published by another process")
            await asyncio.sleep(POLL)

    async def release(self) -> None:
        await self._database.run(partial(publish_leases.release, self._place, self._owner), name="publish", durable=False)


@asynccontextmanager
async def publish_lease(database: Database, place: str, seq: int) -> AsyncIterator[PublishLease]:
    lease = PublishLease(database, place, seq)
    await lease.acquire()
    keeping = asyncio.create_task(lease.keep())
    try:
        yield lease
    finally:
        keeping.cancel()
        await asyncio.shield(lease.release())
