"""The one place that names databases, deliveries and artifact stores, and picks them as the settings say."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pressroom.artifacts import ArtifactStore
from pressroom.artifacts.aws_credentials import find_credentials
from pressroom.artifacts.credentials import CredentialProvider, RenewedCredentials
from pressroom.artifacts.disk import Disk
from pressroom.artifacts.folder_probe import probe_folder
from pressroom.artifacts.store_id import read_folder_id
from pressroom.base import dependencies
from pressroom.clock import Clock, SystemClock
from pressroom.config import Settings, mask_password
from pressroom.definitions import Schedule
from pressroom.delivery import Delivery, JobNotice
from pressroom.delivery.embedded import Embedded
from pressroom.errors import DatabaseMissing, InvalidSettings
from pressroom.store import Database
from pressroom.store.engine import fsck, sqlite_health
from pressroom.store.engine.health import HealthFinding
from pressroom.store.engine.migrations import Migration
from pressroom.store.engine.schema import CORE_ONLY, Schema
from pressroom.store.engine.sqlite import SQLite

if TYPE_CHECKING:
    from pressroom.artifacts.s3 import S3

S3_PROBE_TIMEOUT = 4.0  # seconds, for each request


def open_database(settings: Settings, clock: Clock, schema: Schema, on_commit: Callable[[], None] | None = None) -> Database:
    """May wait for another process that migrates, so not to be called on an event loop.

    `on_commit` is called, from any thread, when another process has committed something. SQLite is polled instead.
    """
    if not settings.on_postgres:
        return SQLite(settings.path, clock, schema)
    database: Database = _import_postgres("postgres").Postgres(settings.database, clock, on_commit, schema)
    return database


@dataclass(frozen=True)
class DeliveryCallbacks:
    """What a delivery calls."""

    look_up_jobs: Callable[[Sequence[int]], Awaitable[list[JobNotice]]]
    fire_schedules: Callable[[], Awaitable[object]]
    cancel: Callable[[str], Awaitable[object]]
    list_paused_kinds: Callable[[], Awaitable[Collection[str]]]
    count_error: Callable[[str, BaseException | str], None]  # the name of the dependency, and the error or its code


def make_embedded_delivery() -> Embedded:
    return Embedded()


def make_delivery(
    settings: Settings, embedded: Embedded, schedules: Sequence[Schedule], callbacks: DeliveryCallbacks
) -> Delivery:
    """`embedded` is the answer if the settings name no other."""
    match settings.delivery:
        case "redis":
            count_error = partial(callbacks.count_error, "redis")
            make = _import_delivery("redis").Redis
            redis: Delivery = make(settings.redis_url, settings.render_queue, callbacks.look_up_jobs, count_error)
            return redis
        case "oban":
            crons = [schedule.cron for schedule in schedules]
            make = partial(
                _import_delivery("oban").Oban,
                fire_schedules=callbacks.fire_schedules,
                cancel=callbacks.cancel,
                list_paused_kinds=callbacks.list_paused_kinds,
            )
            count_error = partial(callbacks.count_error, "oban")
            oban: Delivery = make(settings.database, crons, count_error=count_error, schema=settings.oban_schema)
            return oban
        case _:
            return embedded


def _import_delivery(name: str, module: str | None = None) -> Any:
    """`module` is another one of this delivery than the one that delivers."""
    try:
        return import_module(f"pressroom.delivery.{module or name}")
    except ImportError as reason:
        if reason.name is not None and reason.name.startswith("pressroom"):
            raise
        raise InvalidSettings([f"delivery: needs the package {name}; pip install 'pressroom[{name}]'"]) from None


def make_artifact_store(settings: Settings, folder: str, clock: Clock) -> ArtifactStore:
    return _make_s3(settings, clock) if settings.s3_bucket else Disk(folder, clock)


async def read_artifact_store_id(settings: Settings, clock: Clock) -> str | None:
    """None for a store without an id, and for a folder that is not there, which is not made."""
    if settings.s3_bucket:
        return await _make_s3(settings, clock).read_id()
    return await asyncio.to_thread(read_folder_id, Path(settings.artifact_folder))


def examine_database(settings: Settings, schema: Schema) -> list[HealthFinding]:
    """What state the database is in. Changes nothing."""
    if not settings.on_postgres:
        return sqlite_health.examine(settings.path, schema)
    try:
        findings: list[HealthFinding] = _import_postgres("postgres_health").examine(settings.database, schema)
    except InvalidSettings as missing:
        code = dependencies.PACKAGE_MISSING
        return [HealthFinding("database", False, str(missing), dependencies.MENDS[code], code=code)]
    return findings


def dependency_probes(settings: Settings, *, write: bool) -> dict[str, dependencies.Probe]:
    """Of everything beside the database that the settings name. With `write` they also write, and delete what they wrote."""
    clock = SystemClock()
    credentials = _machine_credentials(settings, clock)  # kept from probe to probe: STS is not to be asked by each of them
    probes: dict[str, dependencies.Probe] = {
        "artifacts": partial(_probe_artifact_store, settings, clock, credentials, write=write)
    }
    match settings.delivery:
        case "redis":
            probes["delivery"] = partial(_probe_redis, settings)
        case "oban":
            probes["delivery"] = partial(_probe_oban, settings)
    if settings.render_url:
        probes["render"] = partial(_probe_render_service, settings)
    return probes


async def examine_dependencies(settings: Settings, *, write: bool) -> list[HealthFinding]:
    probes = dependency_probes(settings, write=write)
    statuses = await asyncio.gather(*(dependencies.run_probe(name, probe) for name, probe in probes.items()))
    return [HealthFinding(one.name, one.code is None, one.detail, one.remedy, code=one.code or "") for one in statuses]


async def _probe_artifact_store(
    settings: Settings, clock: Clock, credentials: CredentialProvider | None, *, write: bool
) -> str:
    if settings.s3_bucket:
        return await _make_s3(settings, clock, credentials, timeout=S3_PROBE_TIMEOUT, retries=0).probe(write=write)
    folder = Path(settings.artifact_folder or tempfile.gettempdir())
    return await asyncio.to_thread(probe_folder, folder, write=write)


async def _probe_redis(settings: Settings) -> str:
    place: str = await _import_delivery("redis", "redis_probe").probe(settings.redis_url, settings.render_queue)
    return place


async def _probe_render_service(settings: Settings) -> str:
    from pressroom.render_client import make_remote_renderer  # which loads the renderers

    renderer = make_remote_renderer(settings)
    try:
        return await renderer.probe()
    finally:
        await renderer.close()


async def _probe_oban(settings: Settings) -> str:
    place: str = await _import_delivery("oban", "oban.probe").probe(settings.database, settings.oban_schema)
    return place


def find_violations(settings: Settings, schema: Schema) -> list[fsck.Violation]:
    if settings.on_postgres:
        violations: list[fsck.Violation] = _import_postgres("postgres_health").audit(settings.database, schema)
        return violations
    return sqlite_health.audit(settings.path, schema)


def pending_migrations(settings: Settings, schema: Schema) -> list[Migration]:
    if settings.on_postgres:
        missing: list[Migration] = _import_postgres("postgres_health").pending_migrations(settings.database, schema)
        return missing
    return sqlite_health.pending_migrations(settings.path, schema)


def require_database(settings: Settings) -> None:
    """For commands that only read: a mistyped name must not create a database. Raises DatabaseMissing."""
    if not settings.on_postgres:
        if settings.path != ":memory:" and not Path(settings.path).exists():
            raise DatabaseMissing(settings.path)
    elif any(migration.number == 1 for migration in pending_migrations(settings, CORE_ONLY)):
        raise DatabaseMissing(mask_password(settings.database))


async def migrate(settings: Settings, schema: Schema) -> None:
    await open_database(settings, SystemClock(), schema).close()
    if settings.delivery == "oban":
        await _import_delivery("oban").install(settings.database, settings.oban_schema)


def _import_postgres(module: str) -> Any:
    try:
        return import_module(f"pressroom.store.engine.{module}")
    except ImportError:
        raise InvalidSettings(["database: needs the package psycopg; pip install 'pressroom[postgres]'"]) from None


def _machine_credentials(settings: Settings, clock: Clock) -> CredentialProvider | None:
    """Those of the environment or of the machine's role. None if the settings have some, or no bucket."""
    if not settings.s3_bucket or settings.s3_access_key:
        return None
    return RenewedCredentials(partial(find_credentials, os.environ, settings.s3_region), clock)


def _make_s3(settings: Settings, clock: Clock, credentials: CredentialProvider | None = None, **options: Any) -> "S3":
    try:
        from pressroom.artifacts.s3 import S3, Bucket
    except ImportError:
        raise InvalidSettings(["s3_bucket: needs the package obstore; pip install 'pressroom[s3]'"]) from None
    return S3(
        Bucket(
            endpoint=settings.s3_endpoint,
            bucket=settings.s3_bucket,
            access_key=settings.s3_access_key,
            secret_key=settings.s3_secret_key,
            use_ssl=settings.s3_use_ssl,
            presign_endpoint=settings.s3_presign_endpoint or None,
            region=settings.s3_region,
            prefix=settings.s3_prefix,
        ),
        clock,
        credentials=credentials or _machine_credentials(settings, clock),
        **options,
    )
