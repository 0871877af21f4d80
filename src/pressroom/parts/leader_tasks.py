"""What one process does for all: delete artifacts that nothing needs, and what the apps do once at a start."""

import asyncio
import logging
from collections.abc import Mapping

from pressroom.alerts import Alerts
from pressroom.app import RunningApp
from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.base.lifecycle import Lifecycle, cancel_tasks
from pressroom.config import Settings
from pressroom.errors import PressroomError
from pressroom.kinds.rendering import Rendering
from pressroom.parts.local_workers import LocalWorkers
from pressroom.store.jobs import queries
from pressroom.worker.maintenance import run_every

log = logging.getLogger("pressroom")

LEADING_INTERVAL = 1.0  # seconds between two looks whether this process leads
A_DAY = 24 * 3600


class LeaderTasks(Lifecycle):
    """Periodic work of a process with workers, done while it leads. A stop cancels it: the next leader begins anew."""

    def __init__(self, settings: Settings, workers: LocalWorkers, rendering: Rendering, apps: Mapping[str, RunningApp]) -> None:
        self._settings = settings
        self._workers = workers
        self._rendering = rendering
        self._apps = apps
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        self.apps_have_begun = asyncio.Event()
        self._rounds = 0

    async def start(self) -> None:
        if self._workers.works:
            tasks = (
                (self._settings.cleanup_interval, self._collect_artifacts),
                (self._settings.cleanup_interval, self._forget_alerts),
                (LEADING_INTERVAL, self._notify_apps_of_leadership),
            )
            never = asyncio.Event()
            self._tasks = [asyncio.create_task(run_every(seconds, task, never)) for seconds, task in tasks]

    async def stop(self) -> None:
        await cancel_tasks(self._tasks)
        self._tasks = []

    async def _collect_artifacts(self) -> None:
        """As often as jobs are pruned, and not at once; once a day it also looks for bytes that no row knows."""
        rounds, self._rounds = self._rounds, self._rounds + 1
        if rounds == 0 or not self._workers.leads():
            return
        settings, rendering = self._settings, self._rendering
        a_day = max(1, int(A_DAY / settings.cleanup_interval))
        try:
            if rendering.has_artifact_store or await rendering.database.read(queries.has_any_blob):
                orphans = rounds % a_day == 0
                await collect_garbage(rendering.blobs, rendering.database, orphans=orphans, cache_limit=settings.cache_limit)
        except PressroomError as reason:
            self._workers.worker_counters.count_error(getattr(reason, "dependency", "artifacts"), reason)
            log.warning("artifacts were not collected: %s", reason)
        except Exception:  # this round failed; the next one comes
            log.exception("artifacts were not collected")

    async def _forget_alerts(self) -> None:
        if self._workers.leads():
            await Alerts(self._rendering.database).forget(self._settings.alert_retention)

    async def _notify_apps_of_leadership(self) -> None:
        if self.apps_have_begun.is_set() or not self._workers.leads():
            return
        for name, app in self._apps.items():
            try:
                await app.on_leading()
            except PressroomError as reason:
                log.warning("the app %s could not begin its work as the leader: %s", name, reason)
            except Exception:  # of an app; the others go on
                log.exception("the app %s could not begin its work as the leader", name)
        self.apps_have_begun.set()
