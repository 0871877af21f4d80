"""Encrypt credentials anew whose key version is old (Q32)."""

from typing import Any

from pressroom.app import Core
from pressroom.definitions import Kind
from pressroom.worker.context import RunningJob


class CredentialRewrap:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.kind = Kind("docs.credential_rewrap", self._run, max_attempts=2, pool="outbound")

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        raise NotImplementedError
