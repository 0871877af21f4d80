"""Purge what was deleted long enough ago, and ended jobs past their retention (Q31, Q36)."""

from typing import Any

from pressroom.app import Core
from pressroom.definitions import Kind
from pressroom.worker.context import RunningJob


class PurgatoryCleanup:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.kind = Kind("docs.purgatory_cleanup", self._run, max_attempts=2, pool="default")

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        raise NotImplementedError
