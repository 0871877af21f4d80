"""The one place that names databases, deliveries and artifact stores, and picks them as the settings say."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from pressroom.artifacts import Blobs
from pressroom.artifacts.disk import Disk
from pressroom.clock import Clock, SystemClock
from pressroom.config import Settings, masked
from pressroom.delivery import Delivery, Notice
from pressroom.delivery.embedded import Embedded
from pressroom.errors import DatabaseMissing, InvalidSettings
from pressroom.model import Schedule
from pressroom.store import Database, fsck, sqlite_care
from pressroom.store.care import Finding
from pressroom.store.migrate import Migration
from pressroom.store.sqlite import SQLite


def open_database(settings: Settings, clock: Clock, heard: Callable[[], None] | None = None) -> Database:
    """May wait for another process that migrates, so not to be called on an event loop.

    `heard` is called, from whatever thread, when another process has committed something. SQLite's are asked for instead.
    """
    if not settings.on_postgres:
        return SQLite(settings.path, clock)
    database: Database = _postgres("postgres").Postgres(settings.database, clock, heard)
    return database


@dataclass(frozen=True)
class Errands:
    """What a delivery may ask of us."""

    look_up: Callable[[Sequence[int]], Awaitable[list[Notice]]]
    fire_schedules: Callable[[], Awaitable[object]]
    cancel: Callable[[str], Awaitable[object]]
    paused: Callable[[], Awaitable[Collection[str]]]


def make_delivery(settings: Settings, inside: Embedded, schedules: Sequence[Schedule], errands: Errands) -> Delivery:
    """`inside` is the delivery inside this process, which is all that most need."""
    match settings.delivery:
        case "redis":
            redis: Delivery = _delivery("redis").Redis(settings.redis_url, settings.render_queue, errands.look_up)
            return redis
        case "oban":
            crons = [schedule.cron for schedule in schedules]
            make = partial(_delivery("oban").Oban, fire=errands.fire_schedules, cancel=errands.cancel, paused=errands.paused)
            oban: Delivery = make(settings.database, crons)
            return oban
        case _:
            return inside


def _delivery(name: str) -> Any:
    try:
        return import_module(f"pressroom.delivery.{name}")
    except ImportError as reason:
        if reason.name is not None and reason.name.startswith("pressroom"):
            raise
        raise InvalidSettings([f"delivery: needs the package {name}; pip install 'pressroom[{name}]'"]) from None


def make_artifact_store(settings: Settings, folder: str, clock: Clock) -> Blobs:
    return _s3(settings, clock) if settings.s3_bucket else Disk(folder, clock)


def examine(settings: Settings) -> list[Finding]:
    """What state the database is in. Changes nothing."""
    if settings.on_postgres:
        findings: list[Finding] = _postgres("postgres_care").examine(settings.database)
        return findings
    return sqlite_care.examine(settings.path)


def audit(settings: Settings) -> list[fsck.Violation]:
    if settings.on_postgres:
        violations: list[fsck.Violation] = _postgres("postgres_care").audit(settings.database)
        return violations
    return sqlite_care.audit(settings.path)


def pending_migrations(settings: Settings) -> list[Migration]:
    if settings.on_postgres:
        missing: list[Migration] = _postgres("postgres_care").pending_migrations(settings.database)
        return missing
    return sqlite_care.pending_migrations(settings.path)


def require_database(settings: Settings) -> None:
    """For commands that only read: a mistyped name must not create a database. Raises DatabaseMissing."""
    if not settings.on_postgres:
        if settings.path != ":memory:" and not Path(settings.path).exists():
            raise DatabaseMissing(settings.path)
    elif any(migration.number == 1 for migration in pending_migrations(settings)):
        raise DatabaseMissing(masked(settings.database))


async def migrate(settings: Settings) -> None:
    await open_database(settings, SystemClock()).close()


def _postgres(module: str) -> Any:
    try:
        return import_module(f"pressroom.store.{module}")
    except ImportError:
        raise InvalidSettings(["database: needs the package psycopg; pip install 'pressroom[postgres]'"]) from None


def _s3(settings: Settings, clock: Clock) -> Blobs:
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
    )
