"""`Pressroom`: a queue with workers, made of its parts."""

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Self

from pressroom.app import App, database_schema, find_apps
from pressroom.backends.queue_backend import QueueBackend
from pressroom.base.lifecycle import start_parts, stop_parts
from pressroom.clock import Clock, SystemClock
from pressroom.config import Settings
from pressroom.definitions import Kind, Schedule
from pressroom.delivery import Delivery
from pressroom.errors import InvalidArgument, InvalidSettings, PressroomError, StopTimeout
from pressroom.parts.artifact_store import ConfiguredArtifactStore
from pressroom.parts.core_kinds import CoreKinds
from pressroom.parts.leader_tasks import LeaderTasks
from pressroom.parts.local_workers import LocalWorkers
from pressroom.parts.press_methods import PressMethods
from pressroom.parts.remote_events import RemoteEvents
from pressroom.parts.running_apps import RunningApps
from pressroom.queue import Queue
from pressroom.registry import Registry
from pressroom.sealing import keyring_of
from pressroom.store import Database
from pressroom.worker.counters import WorkerCounters
from pressroom.worker.leader import Leadership
from pressroom.worker.maintenance import Maintenance
from pressroom.worker.worker import Worker

if TYPE_CHECKING:
    from pressroom.api.tokens import Tokens

log = logging.getLogger("pressroom")


class Pressroom(PressMethods):
    """A queue on a database, with workers in this process.

        async with Pressroom("sqlite:///press.db", kinds=[shout], workers=4) as press:
            job = await press.submit("shout", {"text": "hi"})
            print(await press.wait(job, timeout=5))

    `workers` is the number of jobs in progress at once. 0 is eight per core, and None is none: then this process only submits
    and looks. Left out, it is as the settings say. They take all kinds, or `only` these, or those of some `pools`, and
    `all_but` those. With `pools`, schedules of other kinds are left to other processes. Leaving the block stops the workers
    gracefully.

    With `kinds` alone there are these kinds and no others. With `apps` there are also those of the apps and of the core
    (`render`, webhooks). With neither, or with `settings`, the apps are those of the settings.

    `options` are settings by their names. One that is None is left as the settings say, as are `database` and `clock`.
    """

    def __init__(
        self,
        database: str | None = None,
        *,
        kinds: Sequence[Kind] = (),
        schedules: Sequence[Schedule] = (),
        workers: int | EllipsisType | None = ...,
        only: Sequence[str] | None = None,
        pools: Sequence[str] | None = None,
        all_but: Sequence[str] = (),
        apps: Sequence[App | str] | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        **options: Any,
    ) -> None:
        changes = {"database": database, "workers": None if workers is ... else workers} | options
        self.settings = _change_settings(settings or Settings(), changes)
        self.clock = clock or SystemClock()
        self.keyring = keyring_of(self.settings)
        is_bare = bool(kinds) and apps is None and settings is None
        self.installed = find_apps(() if is_bare else self.settings.apps if apps is None else apps)
        works, counters = workers is not None, WorkerCounters()
        self.registry = registry = Registry()
        self._backend = QueueBackend(
            self.settings,
            self.clock,
            database_schema(self.installed),
            registry,
            fire_schedules=lambda: self.maintenance.fire_schedules(),
            cancel=lambda uid: self.cancel(uid, reason="cancelled in oban"),
            count_error=counters.count_error,
        )
        self.queue = Queue(
            self._backend,
            registry.kinds,
            max_queued=self.settings.max_queued,
            stop_running=lambda job_id: self.local_workers.stop_job(job_id),
        )
        self.artifact_store = ConfiguredArtifactStore(self.settings, self.clock, self._backend, checks=works)
        core = CoreKinds(self.settings, self.clock, self.keyring, self._backend, self.queue, self.artifact_store)
        self.rendering, self.webhooks, self.bulk = core.rendering, core.webhooks, core.bulk
        running_apps = RunningApps(self.installed, self.settings, self.clock, self.keyring, self.queue, self.rendering)
        self.apps = running_apps.by_name
        self.local_workers = LocalWorkers(
            self.settings, self.clock, self._backend, registry, self.queue, self.webhooks, counters, has_workers=works
        )
        self.leader_tasks = LeaderTasks(self.settings, self.local_workers, self.rendering, self.apps)
        registry.register_all(
            [*(core.kinds_without_apps if is_bare else core.kinds), *running_apps.kinds],
            kinds,
            running_apps.schedules,
            schedules,
            only=only,
            pools=pools,
            all_but=all_but,
        )
        # Opened in this order. The reverse is that of a stop: first the workers, then the tasks that wait for jobs.
        self._parts = (
            self._backend,
            RemoteEvents(self._backend, self.queue, self.settings.poll_interval),
            self.leader_tasks,
            self.artifact_store,
            self.queue,
            core,
            running_apps,
            self.local_workers,
        )
        self._open = False

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.stop()
        except StopTimeout as late:
            log.warning("%s", late)

    async def start(self) -> None:
        """Open the database, bring it up to date, and start the workers."""
        vars(self).pop("tokens", None)  # of the database that was open before
        self._open = True
        try:
            await start_parts(self._parts)
        except BaseException:
            with suppress(PressroomError):
                await self.stop(grace=0)
            raise

    async def finish(self, grace: float | None = None) -> None:
        """Claim nothing more, let what runs end within the grace, release the rest. Everything else goes on until `stop`."""
        await self.local_workers.finish(self.settings.grace if grace is None else grace)

    async def stop(self, grace: float | None = None) -> None:
        """Stop gracefully. Raises StopTimeout if the grace was too short for some jobs; they went back to the queue."""
        if not self._open:
            return
        self._open = False
        self.queue.refuse_submits()
        try:
            await self.finish(grace)
        finally:
            await stop_parts(self._parts)
        if released := self.local_workers.released:
            raise StopTimeout(released, self.settings.grace if grace is None else grace)

    @cached_property
    def tokens(self) -> "Tokens":
        """Who may use the service of this database."""
        from pressroom.api.tokens import Tokens

        return Tokens(self._database, self.clock)

    @property
    def worker(self) -> Worker | None:
        """None until it has started, and without workers."""
        return self.local_workers.worker

    @property
    def leadership(self) -> Leadership | None:
        return self.local_workers.leadership

    @property
    def maintenance(self) -> Maintenance:
        return self.local_workers.maintenance

    @property
    def _database(self) -> Database:
        return self._backend.database

    @property
    def _delivery(self) -> Delivery:
        return self._backend.delivery


def _change_settings(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """What is None is left as it is."""
    if unknown := changes.keys() - {field.name for field in dataclasses.fields(Settings)}:
        raise InvalidArgument(f"there is no option {', '.join(sorted(unknown))}")
    changed = dataclasses.replace(settings, **{name: value for name, value in changes.items() if value is not None})
    if problems := [*changed.problems()]:
        raise InvalidSettings(problems)
    return changed
