"""The kind `packs.purge`: packs that were deleted longer ago than the retention go, and their files are released. So do old
batches; their packs stay.

The bytes of released files are deleted by the collector of artifacts.
"""

from datetime import timedelta
from functools import partial
from typing import Any

from pressroom.apps.packs import store
from pressroom.apps.packs.batches.store import purge_batches
from pressroom.apps.packs.settings import PacksSettings
from pressroom.definitions import Kind, Schedule
from pressroom.model import OnKey
from pressroom.store import Database

BATCHES_AT_ONCE = 1  # each may have ten thousand lines
NAME = "packs.purge"
SCHEDULE = Schedule("packs: purge deleted packs", "23 * * * *", NAME, key=NAME)


class DeletedPacks:
    """`open` gives it the database."""

    def __init__(self, settings: PacksSettings) -> None:
        self._retention = int(settings.retention * 1000)
        self._batch_retention = int(settings.batch_retention * 1000)
        self.kind = Kind(NAME, self.handle, timeout=None, on_key=OnKey.SKIP, retention=timedelta(days=7))

    def open(self, database: Database) -> None:
        self._database = database

    async def handle(self, job: Any, payload: Any) -> dict[str, int]:  # noqa: ARG002
        """Some at a time, each a transaction of its own, so that others can write in between."""
        purged = 0
        while some := await self._database.run(partial(store.purge_packs, self._retention), name="packs"):
            purged += some
            await job.progress(purged)
        while await self._database.run(partial(purge_batches, self._batch_retention, BATCHES_AT_ONCE), name="packs"):
            pass
        return {"purged": purged}
