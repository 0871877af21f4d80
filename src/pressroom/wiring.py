"""The one place that picks backends and puts the parts together."""

import asyncio
import contextlib
import dataclasses
import logging
import os
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property, partial
from types import EllipsisType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from pressroom import backends, registry, rendering, webhooks
from pressroom.app import App, Core, find_apps, schema_of
from pressroom.artifacts import Blobs
from pressroom.bulk import Bulk
from pressroom.clock import Clock, SystemClock
from pressroom.config import Settings
from pressroom.delivery import Delivery, Notice, make_notices
from pressroom.delivery.embedded import Embedded
from pressroom.errors import (
    InvalidArgument,
    InvalidSettings,
    NotFound,
    PressroomError,
    StopTimeout,
    StoreBusy,
    StoreUnavailable,
)
from pressroom.ids import new_uid
from pressroom.keeping.checked_store import CheckedStore, compare
from pressroom.keeping.collect import collect
from pressroom.model import Kind, Schedule, Submitted
from pressroom.notify.inside import Switchboard
from pressroom.notify.tail import Tail
from pressroom.queue import Queue
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.rendering import Rendering
from pressroom.sealing import keyring_of
from pressroom.store import Database
from pressroom.store.artifacts import store_identity
from pressroom.store.artifacts.artifacts import Artifact
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs import queries, worker_records
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.webhooks import Webhooks
from pressroom.worker import coverage_watch
from pressroom.worker.counters import SlotUsage, WorkerCounters
from pressroom.worker.coverage_watch import CoverageWatch
from pressroom.worker.leader import Leadership
from pressroom.worker.maintenance import Maintenance, run_every
from pressroom.worker.worker import Worker

if TYPE_CHECKING:
    from pressroom.api.tokens import Tokens

log = logging.getLogger("pressroom")

LOOK_AGAIN = 1.0  # seconds before somebody who does not lead asks again whether they do
STARTING = "worker_starting"  # why a process claims nothing yet; public, in docs/errors.md
START_PATIENCE = 60.0  # seconds in which a store that is busy while we start may come free


class Pressroom(Queue):
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
        base = settings or Settings()
        unknown = changes.keys() - {field.name for field in dataclasses.fields(Settings)}
        if unknown:
            raise InvalidArgument(f"there is no option {', '.join(sorted(unknown))}")
        self.settings = dataclasses.replace(base, **{name: value for name, value in changes.items() if value is not None})
        if problems := list(self.settings.problems()):
            raise InvalidSettings(problems)
        self.clock = clock or SystemClock()
        lifetime = timedelta(seconds=self.settings.cache_ttl)
        self.rendering = Rendering(presses=self.settings.presses, cache_for=lifetime, clock=self.clock)
        self.keyring = keyring_of(self.settings)
        self.webhooks = Webhooks(
            self.clock, allow=self.settings.webhook_allow, base_url=self.settings.base_url, keyring=self.keyring
        )
        self.bulk = Bulk()
        is_bare = bool(kinds) and apps is None and settings is None
        named = self.settings.apps if apps is None else apps
        self.installed = find_apps(() if is_bare else named)
        self.apps = {app.name: app.make(self._core_for(app)) for app in self.installed}
        core = () if is_bare else (self.rendering.kind, self.webhooks.kind, self.bulk.kind)
        ours = [*core, *(kind for running in self.apps.values() for kind in running.kinds)]
        self._registered = {kind.name: kind for kind in ours} | registry.by_name(kinds)
        self._taken = registry.select_kinds(self._registered, only=only, pools=pools, all_but=all_but)
        brought = [one for running in self.apps.values() for one in running.schedules if one.kind in self._taken]
        self._schedules = registry.checked([*brought, *schedules], self._registered)
        if pools is not None:
            self._schedules = [one for one in self._schedules if one.kind in self._taken]
        self._works = workers is not None
        self.worker_counters = WorkerCounters()
        self._open = False
        self._forget_last_time()

    def _core_for(self, app: App) -> Core:
        own = self.settings.sections.get(app.name)
        if own is None and app.settings is not None:
            own = app.settings()
        return Core(self, self.rendering, self.settings, own, self.clock, self.keyring)

    def app(self, name: str) -> Any:
        """A running app, as its `make` returned it. Raises NotFound for one that is not in use."""
        if name not in self.apps:
            raise NotFound(f"the app {name!r} is not in use here; in use are {', '.join(self.apps) or 'none'}")
        return self.apps[name]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.stop()
        except StopTimeout as late:
            log.warning("%s", late)

    async def start(self) -> None:
        """Open the database, bring it up to date, and start the workers."""
        # Opening may wait for another process that migrates; the event loop need not wait with it.
        inside, loop = Embedded(), asyncio.get_running_loop()

        def heard() -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody is left to tell
                loop.call_soon_threadsafe(inside.announce, ())

        database = await asyncio.to_thread(backends.open_database, self.settings, self.clock, schema_of(self.installed), heard)
        delivery: Delivery = inside
        try:
            delivery = backends.make_delivery(self.settings, inside, self._schedules, self._errands(database))
            await delivery.open()
            await self._start_on(database, delivery, inside)
        except BaseException:
            if self._open:
                with contextlib.suppress(PressroomError):
                    await self.stop(grace=0)
            else:
                await delivery.close()
                await database.close()
            raise

    async def _start_on(self, database: Database, delivery: Delivery, inside: Embedded) -> None:
        settings = self.settings
        switchboard = Switchboard()
        self._forget_last_time()
        super().__init__(
            database,
            delivery,
            switchboard,
            self._registered,
            max_queued=settings.max_queued,
            stop_running=self._stop_if_running,
        )
        self.rendering.open(database, self._make_artifact_store)
        self.webhooks.open(database, partial(inside.announce, ()))
        self.bulk.open(database, self)
        for running in self.apps.values():
            await _patiently(running.open)
        if self._works:
            await self.check_artifact_store()
        await _patiently(partial(database.run, partial(kind_rows.register, self._registered), name="register"))
        await _patiently(self.webhooks.seal_stored_secrets)  # that an older version has stored as they are
        self._open = True
        self._tail = asyncio.create_task(self._make_tail().run())
        self._collecting = asyncio.create_task(self._collect())
        self._leading = asyncio.create_task(self._work_on_leading())
        self.maintenance = Maintenance(
            database,
            delivery,
            self._registered,
            self._schedules,
            switchboard.tell,
            self.for_schedule,
            self.clock,
            lease=settings.lease,
            prune_interval=settings.cleanup_interval,
            leads=self._leads,
        )
        if self._works:
            await self._start_work(inside, switchboard)

    def _forget_last_time(self) -> None:
        """A queue that was stopped may be started again."""
        self.worker: Worker | None = None
        self.leadership: Leadership | None = None
        self._finished = False
        self._released = 0
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        vars(self).pop("tokens", None)

    async def finish(self, grace: float | None = None) -> None:
        """Claim nothing more, let what runs end within the grace, release the rest. Everything else goes on until `stop`."""
        if self.worker is None or self._finished:
            return
        self._finished = True
        grace = self.settings.grace if grace is None else grace
        drain = self._database.volatile
        self._released = sum(
            await asyncio.gather(self.worker.stop(grace, drain=drain), self.webhooks.finish(grace, drain=drain))
        )

    async def stop(self, grace: float | None = None) -> None:
        """Stop gracefully. Raises StopTimeout if the grace was too short for some jobs; they went back to the queue."""
        if not self._open:
            return
        self._open = False
        self._accepting = False
        grace = self.settings.grace if grace is None else grace
        await self.finish(grace)
        if self.worker is not None:
            await self.maintenance.stop()
            await self.webhooks.stop()
        if self.leadership is not None:
            await self.leadership.stop()
        self._switchboard.close()
        beside = (self._tail, self._collecting, self._leading)
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        for running in self.apps.values():
            await running.stop()
        await self.rendering.close()
        await self._delivery.close()
        await asyncio.sleep(0)  # let those who wait take a last look before the database closes
        await self._database.close()
        if self._temporary is not None:
            await asyncio.to_thread(self._temporary.cleanup)
        if self._released:
            raise StopTimeout(self._released, grace)

    async def render(
        self,
        language: str,
        source: str | bytes,
        output: str,
        *,
        options: Mapping[str, Any] | None = None,
        engine: str | None = None,
        filename: str | None = None,
        **how: Any,
    ) -> Submitted:
        """Queue a render; `wait` for it returns the artifact's uid and short link. `how` is as for `submit`: tier, key, org_id.

        What was rendered before, from the same source with the same options by the same version, is the answer at once.
        """
        asked = RenderRequest(language, output, rendering.as_text(source)[0], options or {}, engine)
        return await self.rendering.submit(self, asked, filename=filename, **how)

    async def preview(
        self,
        language: str,
        source: str | bytes,
        output: str,
        *,
        options: Mapping[str, Any] | None = None,
        engine: str | None = None,
    ) -> Rendered:
        """Render now, without a job, inside the same limits. Nothing is kept."""
        self._refuse_when_closed()
        request = RenderRequest(language, output, rendering.as_text(source)[0], options or {}, engine)
        return await self.rendering.preview(documents.prepare(request))

    async def artifact(self, name: str) -> Artifact:
        """What is known of an artifact, by its uid or its short link. Raises NotFound, and Expired when it was there."""
        return await self.rendering.artifact(name)

    async def read(self, artifact: Artifact, start: int = 0, stop: int | None = None) -> AsyncIterator[bytes]:
        """The bytes of an artifact, or some of them."""
        return await self.rendering.read(artifact, start, stop)

    @cached_property
    def tokens(self) -> "Tokens":
        """Who may use the service of this database."""
        from pressroom.api.tokens import Tokens

        return Tokens(self._database, self.clock)

    async def schedules(self) -> list[tuple[Schedule, int]]:
        """Every schedule known to the database, with its last tick in milliseconds."""
        return await self._database.read(schedule_rows.list_schedules)

    async def workers(self) -> list[tuple[worker_records.WorkerRecord, int, int]]:
        """Every worker known to the database, with when it started and when it was last seen, in milliseconds."""
        return await self._database.read(worker_records.list_workers)

    @property
    def slot_usage(self) -> dict[str, SlotUsage]:
        """Of the workers in this process: of `jobs`, and of `webhooks`, whose worker starts with the first delivery."""
        workers = {"jobs": self.worker, "webhooks": self.webhooks.worker}
        return {name: worker.slot_usage for name, worker in workers.items() if worker is not None and worker.kinds}

    @property
    def claim_problem(self) -> str | None:
        """The code of what keeps the workers of this process from claiming jobs, or None. `check_database` finds the rest."""
        if self.worker is None:
            return STARTING
        problems = [worker.claim_problem for worker in (self.worker, self.webhooks.worker) if worker is not None]
        return next(filter(None, problems), None)

    async def check_database(self) -> None:
        """Raises PressroomError if the database cannot be read now."""
        await self._database.read(queries.paused)

    async def watch_coverage(self, stopping: asyncio.Event) -> None:
        """Warn in the log while jobs wait and no worker runs; for a service without workers. Workers watch by themselves."""
        watch = CoverageWatch(self._database, self._leads)
        await run_every(coverage_watch.INTERVAL, watch.check, stopping)

    async def _start_work(self, inside: Embedded, switchboard: Switchboard) -> None:
        database = self._database
        for schedule in self._schedules:
            await _patiently(partial(database.run, partial(schedule_rows.save_schedule, schedule), name="schedule"))
        # Deliveries have slots of their own: a receiver that is slow must not keep renders waiting.
        delivered = {name: kind for name, kind in self._taken.items() if name == webhooks.NAME}
        rendered = {name: kind for name, kind in self._taken.items() if name not in delivered}
        worker = self._make_worker(self._delivery, switchboard, rendered, self.settings.slots)
        await _patiently(worker.start)
        self.worker = worker
        self.leadership = Leadership(database, worker.name)
        await self.leadership.start()
        self.maintenance.start()
        crew = partial(self._make_worker, inside, switchboard, delivered, webhooks.COURIERS)
        self.webhooks.start(crew if delivered else None, self._leads)

    def _errands(self, database: Database) -> backends.Errands:
        async def look_up(ids: Sequence[int]) -> list[Notice]:
            return make_notices(await database.read(partial(queries.notices, ids, self._registered)), self._registered)

        return backends.Errands(
            look_up=look_up,
            fire_schedules=lambda: self.maintenance.fire_schedules(),
            cancel=lambda uid: self.cancel(uid, reason="cancelled in oban"),
            paused=lambda: database.read(queries.paused),
            count_error=self.worker_counters.count_error,
        )

    def _leads(self) -> bool:
        return self.leadership is not None and self.leadership.leads

    def _make_worker(self, delivery: Delivery, switchboard: Switchboard, kinds: dict[str, Kind], slots: int) -> Worker:
        return Worker(
            self._database,
            delivery,
            kinds,
            switchboard.tell,
            name=f"{socket.gethostname()}.{os.getpid()}.{new_uid()[-6:]}",
            slots=slots,
            lease=self.settings.lease,
            poll=self.settings.poll_interval,
            counters=self.worker_counters,
        )

    async def _collect(self) -> None:
        """Delete artifacts that nothing needs any more, as often as jobs are pruned."""
        rounds = 0
        while self._works:
            await asyncio.sleep(self.settings.cleanup_interval)
            rounds += 1
            if not self._leads():
                continue
            try:
                if self.rendering.in_use or await self._database.read(queries.any_blob):
                    a_day = max(1, int(24 * 3600 / self.settings.cleanup_interval))
                    await collect(
                        self.rendering.blobs, self._database, orphans=rounds % a_day == 0, cache_limit=self.settings.cache_limit
                    )
            except PressroomError as reason:
                self.worker_counters.count_error(getattr(reason, "dependency", "artifacts"), reason)
                log.warning("artifacts were not collected: %s", reason)
            except Exception:  # this round failed; the next one comes
                log.exception("artifacts were not collected")

    async def _work_on_leading(self) -> None:
        """What the apps do once, in the process that leads."""
        while self._works and not self._leads():  # noqa: ASYNC110
            await asyncio.sleep(LOOK_AGAIN)
        for name, running in self.apps.items() if self._works else ():
            try:
                await running.on_leading()
            except PressroomError as reason:
                log.warning("the app %s could not begin its work as the leader: %s", name, reason)
            except Exception:  # of an app; the others go on
                log.exception("the app %s could not begin its work as the leader", name)

    def _make_artifact_store(self) -> Blobs:
        folder = self.settings.artifact_folder
        if not folder and not self.settings.s3_bucket:
            self._temporary = tempfile.TemporaryDirectory(prefix="pressroom-artifacts-", ignore_cleanup_errors=True)
            folder = self._temporary.name
            return backends.make_artifact_store(self.settings, folder, self.clock)
        store = backends.make_artifact_store(self.settings, folder, self.clock)
        return CheckedStore(store, self._database, self.settings.artifact_location)

    async def check_artifact_store(self) -> None:
        """Raises ArtifactStoreMismatch if the settings name another artifact store than the one that the database records.

        Makes no folder. A store that is out of reach is checked at its first use: jobs wait for it.
        """
        recorded = await _patiently(partial(self._database.read, store_identity.find))
        if recorded is None or not (self.settings.artifact_folder or self.settings.s3_bucket):
            return
        try:
            found = await backends.read_artifact_store_id(self.settings, self.clock)
        except StoreUnavailable as reason:
            log.warning("the artifact store could not be checked, and is at its first use: %s", reason)
            return
        compare(recorded, found, self.settings.artifact_location)

    async def adopt_artifact_store(self) -> None:
        """Record the artifact store of these settings as the one of this database, whatever was recorded."""
        if isinstance(self.rendering.blobs, CheckedStore):
            await self.rendering.blobs.adopt()

    def _make_tail(self) -> Tail:
        database = self._database

        async def news_after(last: int) -> tuple[int, list[int]]:
            events = await database.read(lambda: queries.events_after(last))
            return (events[-1].id if events else last), [event.job_id for event in events]

        async def newest() -> int:
            return await database.read(queries.last_event)

        return Tail(self._switchboard, database.changed_elsewhere, news_after, newest, self.settings.poll_interval)

    def _stop_if_running(self, id: int) -> None:
        if self.worker is not None:
            self.worker.stop_job(id)
            self.webhooks.stop_job(id)


async def _patiently[T](step: Callable[[], Awaitable[T]]) -> T:
    """A store that is busy while we start is waited for. To end, and to be started again, would come to the same, later."""
    deadline = time.monotonic() + START_PATIENCE
    while True:
        try:
            return await step()
        except StoreBusy as reason:
            if time.monotonic() >= deadline:
                raise
            log.warning("starting, when the store is free: %s", reason)
            await asyncio.sleep(0.1)
