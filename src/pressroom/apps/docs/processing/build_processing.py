"""A build becomes editions (Q19 to Q24): inventory, tracking, editions, dashboard; one job."""

from typing import Any

from pressroom.app import Core
from pressroom.definitions import Kind
from pressroom.worker.context import RunningJob


class BuildProcessing:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.kind = Kind("docs.build_processing", self._run, max_attempts=3, pool="default")

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        raise NotImplementedError
