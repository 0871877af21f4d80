"""PDF files by the presses of this process."""

from collections.abc import Callable
from typing import Any

import msgspec

from pressroom.errors import PressroomError
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.sandbox.engine_pools import CallerEnginePools, EnginePools

type EnginePoolsForJob = Callable[[Any], EnginePools | CallerEnginePools]  # of a running job, or None


class LocalRenderer:
    def __init__(self, engine_pools_for_job: EnginePoolsForJob) -> None:
        self._engine_pools_for_job = engine_pools_for_job

    async def render_pdf(self, request: RenderRequest, *, job: Any = None) -> Rendered:
        prepared = documents.prepare(request)
        try:
            rendered = await documents.render(self._engine_pools_for_job(job), prepared.plan)
        except PressroomError as error:
            error.engines = prepared.engines
            raise
        return msgspec.structs.replace(rendered, details=rendered.details | {"engines": prepared.engines})

    async def close(self) -> None:
        """The presses belong to their owner."""
