"""The artifact store that the settings name, and whether it is the one that the database records."""

import asyncio
import logging
import tempfile
from functools import partial

from pressroom import backends
from pressroom.artifact_lifecycle.checked_store import CheckedStore, require_same_store
from pressroom.artifacts import Blobs
from pressroom.backends.queue_backend import QueueBackend
from pressroom.base.lifecycle import Lifecycle, retry_while_busy
from pressroom.clock import Clock
from pressroom.config import Settings
from pressroom.errors import StoreUnavailable
from pressroom.store.artifacts import store_identity

log = logging.getLogger("pressroom")


class ConfiguredArtifactStore(Lifecycle):
    """With `checks` it is compared when it is opened: workers must not put artifacts into another store than others read."""

    def __init__(self, settings: Settings, clock: Clock, backend: QueueBackend, *, checks: bool) -> None:
        self._settings = settings
        self._clock = clock
        self._backend = backend
        self._checks = checks
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    async def open(self) -> None:
        if self._checks:
            await self.check()

    def make_store(self) -> Blobs:
        """A temporary folder if the settings name none: it is deleted when the queue is closed."""
        folder = self._settings.artifact_folder
        if not folder and not self._settings.s3_bucket:
            self._temporary = tempfile.TemporaryDirectory(prefix="pressroom-artifacts-", ignore_cleanup_errors=True)
            return backends.make_artifact_store(self._settings, self._temporary.name, self._clock)
        store = backends.make_artifact_store(self._settings, folder, self._clock)
        return CheckedStore(store, self._backend.database, self._settings.artifact_location)

    async def check(self) -> None:
        """Raises ArtifactStoreMismatch if the settings name another artifact store than the one that the database records.

        Makes no folder. A store that is out of reach is checked at its first use: jobs wait for it.
        """
        recorded = await retry_while_busy(partial(self._backend.database.read, store_identity.find))
        if recorded is None or not (self._settings.artifact_folder or self._settings.s3_bucket):
            return
        try:
            found = await backends.read_artifact_store_id(self._settings, self._clock)
        except StoreUnavailable as reason:
            log.warning("the artifact store could not be checked, and is at its first use: %s", reason)
            return
        require_same_store(recorded, found, self._settings.artifact_location)

    async def adopt(self, store: Blobs) -> None:
        """Record `store`, which `make` returned, as the one of this database, whatever was recorded."""
        if isinstance(store, CheckedStore):
            await store.adopt_store()

    async def close(self) -> None:
        if self._temporary is not None:
            await asyncio.to_thread(self._temporary.cleanup)
            self._temporary = None
