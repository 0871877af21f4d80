"""Warns in the log while jobs are ready that no running worker takes."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from pressroom.store import Database
from pressroom.store.operators import worker_coverage
from pressroom.store.operators.worker_coverage import PATIENCE, WorkerCoverage

log = logging.getLogger("pressroom.maintenance")

INTERVAL = 10.0  # seconds between two checks
REPEAT = timedelta(minutes=10)
NO_WORKER = ""  # in place of a kind: no worker is running at all


class CoverageWatch:
    """Warns once a kind has been without a worker for `PATIENCE`, again every `REPEAT`, and when that is over.

    The leader does it. Where no worker is running there is no leader: then every service does it.
    """

    def __init__(self, database: Database, leads: Callable[[], bool]) -> None:
        self._database = database
        self._leads = leads
        self._since: dict[str, datetime] = {}
        self._warned: dict[str, datetime] = {}

    async def check(self) -> None:
        coverage = await self._database.read(partial(worker_coverage.read_coverage, patience=timedelta(0)))
        if self._leads() or not coverage.workers:
            self._warn(coverage)
        elif NO_WORKER in self._warned:
            self._warn(WorkerCoverage(at=coverage.at, workers=coverage.workers, without_worker=[]))
        else:
            self.reset()

    def reset(self) -> None:
        """Another process warns from now on."""
        self._since.clear()
        self._warned.clear()

    def _warn(self, coverage: WorkerCoverage) -> None:
        missing = _describe_missing(coverage)
        for kind in sorted(self._warned.keys() - missing.keys()):
            log.warning("%s", _describe_end(kind, coverage))
        self._since = {kind: self._since.get(kind, coverage.at) for kind in missing}
        self._warned = {kind: at for kind, at in self._warned.items() if kind in missing}
        for kind, sentence in missing.items():
            if coverage.at - self._since[kind] >= PATIENCE and self._is_due(kind, coverage.at):
                self._warned[kind] = coverage.at
                log.warning("%s", sentence)

    def _is_due(self, kind: str, at: datetime) -> bool:
        return kind not in self._warned or at - self._warned[kind] >= REPEAT


def _describe_end(kind: str, coverage: WorkerCoverage) -> str:
    if kind == NO_WORKER:
        return "a worker is running again" if coverage.workers else "no job waits for a worker any more"
    return f"{kind} is no longer without a worker, or has no jobs that are ready"


def _describe_missing(coverage: WorkerCoverage) -> dict[str, str]:
    sentences = worker_coverage.describe_coverage(coverage)
    kinds = [one.kind for one in coverage.without_worker] if coverage.workers else [NO_WORKER] * len(sentences)
    return dict(zip(kinds, sentences, strict=True))
