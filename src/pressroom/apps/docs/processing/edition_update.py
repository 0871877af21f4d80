"""An edition comes to show a build that a person chose (Q25, Q26)."""

from typing import Any

from pressroom.app import Core
from pressroom.definitions import Kind
from pressroom.worker.context import RunningJob


class EditionUpdate:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.kind = Kind("docs.edition_update", self._run, max_attempts=3, pool="default")

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        raise NotImplementedError
