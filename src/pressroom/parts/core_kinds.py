"""The kinds that the core brings: renders, deliveries to webhooks, and work on many jobs."""

from datetime import timedelta
from functools import partial

from pressroom.backends.queue_backend import QueueBackend
from pressroom.base.lifecycle import Lifecycle
from pressroom.clock import Clock
from pressroom.config import Settings
from pressroom.definitions import Kind
from pressroom.kinds.alert_webhook import alert_webhook_of
from pressroom.kinds.bulk import Bulk
from pressroom.kinds.rendering import Rendering
from pressroom.kinds.webhooks import Webhooks
from pressroom.parts.artifact_store import ConfiguredArtifactStore
from pressroom.queue import Queue
from pressroom.render_client import make_document_renderer
from pressroom.sealing import Keyring


class CoreKinds(Lifecycle):
    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        keyring: Keyring,
        backend: QueueBackend,
        queue: Queue,
        artifact_store: ConfiguredArtifactStore,
    ) -> None:
        lifetime = timedelta(seconds=settings.cache_ttl)
        self.rendering = Rendering(
            presses=settings.presses,
            cache_for=lifetime,
            clock=clock,
            make_document_renderer=partial(make_document_renderer, settings),
        )
        self.webhooks = Webhooks(
            clock,
            allow=settings.webhook_allow,
            base_url=settings.base_url,
            keyring=keyring,
            alert_webhook=alert_webhook_of(settings),
        )
        self.bulk = Bulk()
        self._settings = settings
        self._backend = backend
        self._queue = queue
        self._artifact_store = artifact_store

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return self.rendering.kind, self.webhooks.kind, self.bulk.kind

    @property
    def kinds_without_apps(self) -> tuple[Kind, ...]:
        """For a press that was given kinds and no apps: it has these kinds, and no more than its settings need."""
        return (self.webhooks.kind,) if self._settings.alert_webhook_url else ()

    async def open(self) -> None:
        self.rendering.open(self._backend.database, self._artifact_store.make_store)
        self.webhooks.open(self._backend.database, self._backend.wake_local_workers)
        self.bulk.open(self._backend.database, self._queue)

    async def close(self) -> None:
        await self.rendering.close()
