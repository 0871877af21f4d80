"""One machine was enough, and is no longer: a database in a file becomes one on a server, with all that it holds.

The file is locked while it is read. Its rows go into a schema that no worker uses, batch by batch, each with how far it is; a
promotion that was killed goes on from there when it is run again. When both sides have the same hashes, the file is marked as
promoted and the schema gets its real name. No process ever sees half of it.
"""

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pressroom import backends, failpoints
from pressroom.clock import SystemClock
from pressroom.config import Settings
from pressroom.errors import CopyDiffers, DatabasePromoted, InvalidSettings
from pressroom.ids import new_uid
from pressroom.promote import sqlite_writers
from pressroom.promote.artifacts import CopiedBlobs, copy_blobs
from pressroom.promote.hold import lock_source
from pressroom.promote.sqlite_source import Source
from pressroom.store.artifacts.store_identity import RecordedStore
from pressroom.store.engine.promoted_mark import PromotedMark
from pressroom.store.engine.schema import Schema

if TYPE_CHECKING:
    from pressroom.promote.postgres_lines import Tally
    from pressroom.promote.postgres_target import Target

# Told what is copied, how much of it is there, and how much there is.
type Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class CopiedTable:
    """What was, or would be, copied of one table. The hash is the same on both sides."""

    table: str
    rows: int
    bytes: int
    hash: str


@dataclass(frozen=True)
class Promotion:
    source: str
    target: str
    tables: list[CopiedTable]
    counters: dict[str, int]
    artifacts: CopiedBlobs | None  # None: they stay where they are
    artifact_folder: str
    left_behind: list[str]  # tables that are not Pressroom's own
    obstacles: list[str]  # of a rehearsal: why it would be refused
    done_before: bool = False
    key_file: str = ""  # with which webhook secrets and embed keys are encrypted; empty if there is none


def rehearse(settings: Settings, schema: Schema, target_url: str, *, artifacts_to_s3: bool) -> Promotion:
    """What would be copied, and what stands in the way. Changes nothing."""
    target_class = _check_preconditions(settings, artifacts_to_s3=artifacts_to_s3)
    with closing(Source(settings.path, schema, readonly=True)) as source, target_class(target_url, schema) as target:
        obstacles = [f"{settings.path} is in use by {user}" for user in sqlite_writers.find_writers(settings.path)]
        if mark := source.read_mark():
            obstacles.append(str(DatabasePromoted(settings.path, mark.place)))
        obstacles += target.existing_data(source.known_tables)
        blobs = source.blobs()
        return Promotion(
            source=settings.path,
            target=target.place,
            tables=[_copied_table(name, _tally_table(source, name)) for name in source.tables],
            counters=source.counters(),
            artifacts=CopiedBlobs(len(blobs), sum(blob.size for blob in blobs), 0) if artifacts_to_s3 else None,
            artifact_folder=settings.artifact_folder,
            left_behind=source.foreign_tables(),
            obstacles=obstacles,
            key_file=_key_file(settings),
        )


def promote(
    settings: Settings,
    schema: Schema,
    target_url: str,
    *,
    artifacts_to_s3: bool,
    wait: float,
    on_progress: Tell,
    on_wait: Callable[[str], None],
) -> Promotion:
    """Copy everything, verify it, and mark the source. May be killed anywhere and run again."""
    target_class = _check_preconditions(settings, artifacts_to_s3=artifacts_to_s3)
    with target_class(target_url, schema) as target, closing(lock_source(settings.path, schema, wait, on_wait)) as source:
        target.lock()
        mark = source.read_mark()
        if mark is not None and mark.place != target.place:
            raise DatabasePromoted(settings.path, mark.place)
        done_before = mark is not None and target.has_promotion(mark.promotion)
        copied = CopiedBlobs(0, 0, 0)
        if done_before:
            tallies = {name: _tally_table(source, name) for name in source.tables}
        else:
            tallies, copied = _copy_everything(source, target, settings, artifacts_to_s3=artifacts_to_s3, tell=on_progress)
        return Promotion(
            source=settings.path,
            target=target.place,
            tables=[_copied_table(name, tally) for name, tally in tallies.items()],
            counters=source.counters(),
            artifacts=copied if artifacts_to_s3 else None,
            artifact_folder=settings.artifact_folder,
            left_behind=source.foreign_tables(),
            obstacles=[],
            done_before=done_before,
            key_file=_key_file(settings),
        )


def _key_file(settings: Settings) -> str:
    """Encrypted rows are copied as they are, so that the processes on the server need the key as well."""
    file = settings.key_file
    return str(file) if file is not None and not settings.secret_key and file.exists() else ""


def _check_preconditions(settings: Settings, *, artifacts_to_s3: bool) -> "type[Target]":
    problems = []
    if settings.on_postgres or settings.path == ":memory:":
        problems.append(f"database: {settings.database_label} cannot be promoted; name a file: sqlite:///FILE")
    if artifacts_to_s3 and not settings.s3_bucket:
        problems.append("s3_bucket: is needed for --artifacts-to s3, with the other settings of the bucket")
    if problems:
        raise InvalidSettings(problems)
    try:
        from pressroom.promote.postgres_target import Target
    except ImportError:
        raise InvalidSettings(["--to: needs the package psycopg; pip install 'pressroom[postgres]'"]) from None
    return Target


def _copy_everything(
    source: Source, target: "Target", settings: Settings, *, artifacts_to_s3: bool, tell: Tell
) -> "tuple[dict[str, Tally], CopiedBlobs]":
    target.require_empty(source.known_tables)
    promotion = target.prepare_stage(source.tables, new_uid(), settings.path)
    failpoints.hit("promote.prepared")
    tallies = _copy_rows(source, target, tell)
    copied, store = _copy_artifacts(source, settings, tell) if artifacts_to_s3 else (CopiedBlobs(0, 0, 0), None)
    _verify(target, tallies, tell)
    failpoints.hit("promote.verified")
    with target.finish_promotion(source.counters(), store):
        # First here, then there: killed in between, the source takes no more jobs and the next run ends what is left.
        source.write_mark(PromotedMark(promotion, target.place))
        failpoints.hit("promote.marked")
    failpoints.hit("promote.finished")
    return tallies, copied


def _copy_rows(source: Source, target: "Target", tell: Tell) -> "dict[str, Tally]":
    before = target.progress()
    total = source.count_rows()
    try:
        return _copy_from(before, source, target, total, tell)
    except _CopyChanged:
        # The source was written to after a copy was cut short. What was copied is stale.
        target.discard_progress()
        return _copy_from({}, source, target, total, tell)


class _CopyChanged(Exception):
    """The rows that were copied before are not as they were."""


def _copy_from(before: "dict[str, Tally]", source: Source, target: "Target", total: int, tell: Tell) -> "dict[str, Tally]":
    from pressroom.promote.postgres_lines import Tally

    tallies, sent = {}, 0
    for name, table in source.tables.items():
        lines, tally = source.lines(table), Tally()
        there = before.get(name, Tally())
        for line in islice(lines, there.rows):
            tally.add(line)
        if tally != there:
            raise _CopyChanged
        while target.copy_batch(table, lines, tally):
            tell("rows", sent + tally.rows, total)
        tallies[name] = tally
        sent += tally.rows
    return tallies


def _verify(target: "Target", tallies: "dict[str, Tally]", tell: Tell) -> None:
    total, seen = sum(tally.rows for tally in tallies.values()), 0
    for name, sent in tallies.items():
        arrived = target.tally(name)
        if arrived != sent:
            target.discard_progress()
            raise CopyDiffers(
                f"{name} has {sent.rows:,} rows ({sent.hash}) in the source and {arrived.rows:,} ({arrived.hash}) in the "
                "target; nothing was promoted, and the next run copies everything again"
            )
        seen += sent.rows
        tell("rows verified", seen, total)


def _copy_artifacts(source: Source, settings: Settings, tell: Tell) -> tuple[CopiedBlobs, RecordedStore]:
    """Returns what was copied, and the bucket as the promoted database records it."""
    clock, folder = SystemClock(), settings.artifact_folder
    bucket = backends.make_artifact_store(settings, "", clock)
    # Opening a folder makes it: a source without artifacts should stay without one.
    disk = backends.make_artifact_store(replace(settings, s3_bucket=""), folder, clock) if Path(folder).is_dir() else None

    async def copy() -> tuple[CopiedBlobs, str]:
        copied = await copy_blobs(source.blobs(), disk, bucket, lambda done, total: tell("artifacts", done, total))
        for key, path in source.aliases():
            await bucket.alias(key, path)
        return copied, await bucket.create_id()

    copied, store_id = asyncio.run(copy())
    return copied, RecordedStore(store_id, settings.artifact_location)


def _tally_table(source: Source, name: str) -> "Tally":
    from pressroom.promote.postgres_lines import Tally

    tally = Tally()
    for line in source.lines(source.tables[name]):
        tally.add(line)
    return tally


def _copied_table(name: str, tally: "Tally") -> CopiedTable:
    return CopiedTable(name, tally.rows, tally.size, tally.hash)
