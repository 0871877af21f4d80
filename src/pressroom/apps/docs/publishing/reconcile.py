"""Compare what editions show with what is published, and publish again what differs."""

from typing import Any

from pressroom.app import Core
from pressroom.definitions import Kind
from pressroom.worker.context import RunningJob


class Reconcile:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.kind = Kind("docs.reconcile", self._run, max_attempts=2, pool="outbound")

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        raise NotImplementedError
