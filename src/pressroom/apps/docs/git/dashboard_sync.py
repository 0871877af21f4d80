"""Fetch a dashboard template and render the projects that use it (Q27, Q28); without a template, render projects again."""

from typing import Any

from pressroom.app import Core
from pressroom.definitions import Kind
from pressroom.worker.context import RunningJob


class DashboardSync:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.kind = Kind("docs.dashboard_sync", self._run, max_attempts=3, pool="outbound")

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        raise NotImplementedError
