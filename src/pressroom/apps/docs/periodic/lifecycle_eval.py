"""Delete what lifecycle rules say (Q29)."""

from typing import Any

from pressroom.app import Core
from pressroom.definitions import Kind
from pressroom.worker.context import RunningJob


class LifecycleEval:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.kind = Kind("docs.lifecycle_eval", self._run, max_attempts=2, pool="default")

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        raise NotImplementedError
