"""Find editions whose branch or tag is gone (Q30)."""

from typing import Any

from pressroom.app import Core
from pressroom.definitions import Kind
from pressroom.worker.context import RunningJob


class GitRefAudit:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.kind = Kind("docs.git_ref_audit", self._run, max_attempts=2, pool="outbound")

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        raise NotImplementedError
