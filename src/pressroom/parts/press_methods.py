"""What an application calls on a `Pressroom`: the methods of its queue, and renders."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from pressroom.alerts import Alerts
from pressroom.app import RunningApp
from pressroom.base.forwarded_method import ForwardedMethod
from pressroom.definitions import Kind
from pressroom.errors import NotFound
from pressroom.kinds import rendering
from pressroom.kinds.rendering import Rendering
from pressroom.model import Submitted
from pressroom.overview import Overview
from pressroom.queue import Queue
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.store.artifacts.artifacts import Artifact

type Bytes = bytes  # inside PressMethods, `bytes` is a method


class PressMethods:
    queue: Queue
    rendering: Rendering
    apps: Mapping[str, RunningApp]

    submit = ForwardedMethod("queue", Queue.submit)
    submit_many = ForwardedMethod("queue", Queue.submit_many)
    get = ForwardedMethod("queue", Queue.get)
    list = ForwardedMethod("queue", Queue.list)
    get_queue_position = ForwardedMethod("queue", Queue.get_queue_position)
    stats = ForwardedMethod("queue", Queue.stats)
    check_submit = ForwardedMethod("queue", Queue.check_submit)
    wait_until_ended = ForwardedMethod("queue", Queue.wait_until_ended)
    wait = ForwardedMethod("queue", Queue.wait)
    watch = ForwardedMethod("queue", Queue.watch)
    history = ForwardedMethod("queue", Queue.history)
    events = ForwardedMethod("queue", Queue.events)
    cancel = ForwardedMethod("queue", Queue.cancel)
    retry = ForwardedMethod("queue", Queue.retry)
    pause = ForwardedMethod("queue", Queue.pause)
    resume = ForwardedMethod("queue", Queue.resume)
    scale = ForwardedMethod("queue", Queue.scale)
    members = ForwardedMethod("queue", Queue.members)
    worker_coverage = ForwardedMethod("queue", Queue.worker_coverage)
    transaction = ForwardedMethod("queue", Queue.transaction)
    schedules = ForwardedMethod("queue", Queue.schedules)
    workers = ForwardedMethod("queue", Queue.workers)
    for_schedule = ForwardedMethod("queue", Queue.for_schedule)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds that this process knows."""
        return self.queue.kinds

    @property
    def alerts(self) -> Alerts:
        """Jobs that failed for good, of kinds that raise alerts."""
        return self.queue.alerts

    @property
    def overview(self) -> Overview:
        """What an operator asks: what waits, runs, conflicts and fails."""
        return self.queue.overview

    def app(self, name: str) -> Any:
        """A running app, as its `make` returned it. Raises NotFound for one that is not in use."""
        if name not in self.apps:
            raise NotFound(f"the app {name!r} is not in use here; in use are {', '.join(self.apps) or 'none'}")
        return self.apps[name]

    async def render(
        self,
        language: str,
        source: str | Bytes,
        output: str,
        *,
        options: Mapping[str, Any] | None = None,
        engine: str | None = None,
        filename: str | None = None,
        **submit_options: Any,
    ) -> Submitted:
        """Queue a render; `wait` for it returns the artifact's uid and short link. `submit_options` is as for `submit`: tier,
        key, org_id.

        What was rendered before, from the same source with the same options by the same version, is the answer at once.
        """
        asked = RenderRequest(language, output, rendering.source_for_payload(source)[0], options or {}, engine)
        return await self.rendering.submit(self.queue, asked, filename=filename, **submit_options)

    async def preview(
        self,
        language: str,
        source: str | Bytes,
        output: str,
        *,
        options: Mapping[str, Any] | None = None,
        engine: str | None = None,
    ) -> Rendered:
        """Render now, without a job, inside the same limits. Nothing is kept."""
        self.queue.refuse_when_closed()
        request = RenderRequest(language, output, rendering.source_for_payload(source)[0], options or {}, engine)
        return await self.rendering.preview(documents.prepare(request))

    async def artifact(self, name: str) -> Artifact:
        """What is known of an artifact, by its uid or its short link. Raises NotFound, and Expired when it was there."""
        return await self.rendering.artifact(name)

    async def read(self, artifact: Artifact, start: int = 0, stop: int | None = None) -> AsyncIterator[Bytes]:
        """The bytes of an artifact, or some of them."""
        return await self.rendering.read(artifact, start, stop)

    async def bytes(self, link: str) -> Bytes:
        """All bytes of an artifact, by the `short_link` or the `artifact` of a job's result. Raises NotFound and Expired."""
        chunks = await self.read(await self.artifact(link))
        return b"".join([chunk async for chunk in chunks])
