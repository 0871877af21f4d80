"""How a worker is notified of ready jobs. A notification may be repeated or lost: the store decides."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from pressroom.definitions import Kind, MessageFields
from pressroom.model import Row, Submitted


class JobNotice(msgspec.Struct, frozen=True):
    """A job that may start. Its payload comes along only if its kind has `message_fields`."""

    uid: str
    kind: str
    tier: int
    payload: str | None = None
    message_fields: MessageFields | None = None


def make_notices(rows: Iterable[Row], kinds: Mapping[str, Kind]) -> list[JobNotice]:
    """From rows of uid, kind, tier and payload."""
    return [
        JobNotice(uid, kind, tier, payload, kinds[kind].message_fields if kind in kinds else None)
        for uid, kind, tier, payload in rows
    ]


type Waiting = Callable[[], Awaitable[list[JobNotice]]]


class Offer:
    """A job that a delivery names to a worker. A worker calls one of the three methods, or `accept` and later `settle`."""

    def __init__(self, uid: str, tier: int) -> None:
        self.uid = uid
        self.tier = tier

    def accept(self) -> None:
        """The job is claimed: if the worker dies, its lease expires."""

    def refuse(self, retry_after: float | None) -> None:
        """The job cannot be claimed now. `retry_after`: in how many seconds it may be; None if never."""

    def settle(self, retry_after: float | None) -> None:
        """The attempt has ended. `retry_after`: in how many seconds the next one is due; None if there is none."""


class Taker(Protocol):
    """A worker, as a delivery sees it."""

    @property
    def name(self) -> str: ...

    @property
    def kinds(self) -> Collection[str]: ...

    @property
    def slots(self) -> int: ...

    def expect_jobs(self) -> None:
        """Jobs may have become ready: claim some, unless the delivery names every job."""
        ...

    def offer(self, offer: Offer) -> None: ...

    def free_slots(self) -> tuple[int, int]:
        """In all, and for background work, which may not take the last one."""
        ...

    async def slot_freed(self) -> None:
        """Returns when there may be more room than there was."""
        ...


class Delivery(Protocol):
    """A worker waits at least `min_poll_interval` seconds between two polls for jobs that were not announced to it."""

    @property
    def min_poll_interval(self) -> float: ...

    @property
    def fires_schedules(self) -> bool:
        """Whether it fires the schedules. Then the maintenance fires only the ticks that it has missed."""
        ...

    async def open(self) -> None:
        """Before anything else: make what it needs, if it is not there."""
        ...

    def announce(self, jobs: Sequence[Submitted]) -> None:
        """Say that these jobs wait, or, if none is named, that some may. Called after they were committed; must not block
        and must not raise."""
        ...

    async def announce_again(self, kinds: Iterable[str], waiting: Waiting) -> None:
        """Some jobs of these kinds wait. Say so once more if it may have been forgotten; `waiting` tells which they are."""
        ...

    async def serve(self, taker: Taker) -> None:
        """Bring work to a worker until cancelled."""
        ...

    async def close(self) -> None: ...
