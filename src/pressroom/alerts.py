"""Alerts of a queue: list them, acknowledge them, and delete old ones that were acknowledged."""

from collections.abc import Sequence
from functools import partial

from pressroom.errors import InvalidArgument
from pressroom.store import Database
from pressroom.store.alerts import alerts as store
from pressroom.store.alerts.alerts import Alert
from pressroom.store.operators.audit import AuditEntry

PAGE_LIMIT = 200
FORGET_BATCH = 1_000


class Alerts:
    """`org_id` leaves other organisations' alerts out; "" are those without one, and None are all organisations'."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self,
        *,
        org_id: str | None = None,
        is_open: bool | None = None,
        kind: str | None = None,
        before: int = store.NEWEST,
        limit: int = 50,
    ) -> Sequence[Alert]:
        """Newest first; open ones, acknowledged ones, or both. `before` is the id of the last one of the page before."""
        if not 1 <= limit <= PAGE_LIMIT + 1:
            raise InvalidArgument(f"limit is a whole number from 1 to {PAGE_LIMIT}")
        unit = partial(store.list_alerts, org_id, is_open=is_open, kind=kind, before=before, limit=limit)
        return await self._database.read(unit)

    async def get(self, id: int) -> Alert:
        return await self._database.read(partial(store.find, id))

    async def count_open(self, org_id: str | None = None) -> int:
        return await self._database.read(partial(store.count_open, org_id))

    async def ack(self, id: int, entry: AuditEntry) -> Alert:
        """Acknowledge one. The entry of the audit log says who did so; the first who does is the one that stays."""
        return await self._database.run(partial(store.ack, id, entry), name="alert")

    async def ack_all(
        self, entry: AuditEntry, *, org_id: str | None = None, kind: str | None = None, until: int | None = None
    ) -> int:
        """Acknowledge those that are open, but none that failed again after `until`, in milliseconds. Returns how many."""
        return await self._database.run(partial(store.ack_all, org_id, entry, kind=kind, until=until), name="alert")

    async def forget(self, kept_for: float) -> int:
        """Delete those that were acknowledged more than `kept_for` seconds ago."""
        age, deleted = int(kept_for * 1000), 0
        while await self._database.read(partial(store.any_old, age)):
            deleted += await self._database.run(partial(store.forget, age, FORGET_BATCH), name="prune", durable=False)
        return deleted
