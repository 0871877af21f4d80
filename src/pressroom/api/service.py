"""What the routes have in common: the queue, the renderings, who may do what, and whether we are closing."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request

from pressroom.api.access import Gate
from pressroom.api.limits import Quotas
from pressroom.api.metrics import Metrics
from pressroom.api.views import JobFormatter
from pressroom.config import Settings
from pressroom.kinds.rendering import Rendering
from pressroom.queue import Queue
from pressroom.sealing import Keyring


@dataclass
class Service:
    queue: Queue
    rendering: Rendering
    settings: Settings
    gate: Gate
    metrics: Metrics
    job_formatters: Mapping[str, JobFormatter] = field(default_factory=dict)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    keyring: Keyring = field(default_factory=Keyring)
    quotas: Quotas = field(default_factory=lambda: Quotas(None, None))

    @property
    def base_url(self) -> str:
        return self.settings.base_url

    def address_for(self, request: Request) -> str:
        """The base URL for links: from the settings, or else that of the request."""
        return self.base_url or str(request.base_url).rstrip("/")
