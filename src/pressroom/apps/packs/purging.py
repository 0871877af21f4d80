"""The kind `packs.purge`: packs that were deleted longer ago than the retention go, and their files are released. So do old
batches; their packs stay.

The bytes of released files are deleted by the collector of artifacts.
"""

from datetime import timedelta
from functools import partial
from typing import Any

from pressroom.apps.packs import store
from pressroom.apps.packs.batches.store import any_purgeable_batch, purge_batches
from pressroom.apps.packs.settings import PacksSettings
from pressroom.definitions import Kind
from pressroom.kinds.rendering import Rendering
from pressroom.model import OnKey, Work
from pressroom.queue import Queue

BATCHES_AT_ONCE = 1  # each may have ten thousand lines
NAME = "packs.purge"


class DeletedPacks:
    """The job is submitted when something is due: when workers start, when a pack is deleted and when a batch is made. An
    installation that does not use packs has no such job.
    """

    def __init__(self, queue: Queue, rendering: Rendering, settings: PacksSettings) -> None:
        self._queue = queue
        self._rendering = rendering
        self._retention = int(settings.retention * 1000)
        self._batch_retention = int(settings.batch_retention * 1000)
        self.kind = Kind(NAME, self.handle, timeout=None, on_key=OnKey.SKIP, retention=timedelta(days=7))

    async def submit_if_due(self) -> None:
        if await self._rendering.database.read(self._is_due):
            await self._queue.submit(NAME, key=NAME)

    def _is_due(self) -> Work[bool]:
        return (yield from store.any_purgeable(self._retention)) or (yield from any_purgeable_batch(self._batch_retention))

    async def handle(self, job: Any, payload: Any) -> dict[str, int]:  # noqa: ARG002
        """Some at a time, each a transaction of its own, so that others can write in between."""
        purged = 0
        while some := await self._rendering.database.run(partial(store.purge_packs, self._retention), name="packs"):
            purged += some
            await job.progress(purged)
        while await self._rendering.database.run(partial(purge_batches, self._batch_retention, BATCHES_AT_ONCE), name="packs"):
            pass
        return {"purged": purged}
