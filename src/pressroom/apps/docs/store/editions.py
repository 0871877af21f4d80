"""Editions and their history in the database: units of work."""

import json
from typing import Any

import msgspec

from pressroom.apps.docs.errors import EditionNotFound
from pressroom.apps.docs.model import (
    BuildStatus,
    Edition,
    EditionKind,
    HistoryEntry,
    PublishStatus,
    TrackingMode,
    TrackingParams,
)
from pressroom.apps.docs.store.rows import edition_of_row, encoded
from pressroom.ids import new_uid
from pressroom.model import Row, Statement, Work
from pressroom.store.artifacts import artifacts
from pressroom.store.jobs.transitions import now

BEYOND = 1 << 53


class NewEdition(msgspec.Struct, frozen=True, kw_only=True):
    slug: str
    title: str
    kind: EditionKind
    tracking_mode: TrackingMode
    tracking_params: TrackingParams = TrackingParams()
    lifecycle_exempt: bool = False
    pinned: bool = False


class ShownBuild(msgspec.Struct, frozen=True):
    """What an edition shows: the facts that a newer build is compared with."""

    uid: str
    git_ref: str
    alternate_name: str | None
    number: int


class EditionMove(msgspec.Struct, frozen=True, kw_only=True):
    """An edition comes to show a build, if nothing has moved it since `expected_seq`."""

    edition: str
    expected_seq: int
    build: str
    artifact: str
    trigger: str
    actor: str
    job_uid: str | None
    pinned: bool | None = None  # None leaves it as it is


def slug_key(slug: str) -> str:
    """Slugs that differ only in case name the same edition."""
    return slug.lower()


def insert_edition(project: str, new: NewEdition) -> Work[bool]:
    """False if the project has an edition of this slug."""
    moment = yield from now()
    fields = {
        "slug": new.slug,
        "slug_key": slug_key(new.slug),
        "title": new.title,
        "kind": new.kind,
        "tracking_mode": new.tracking_mode,
        "tracking_params": encoded(new.tracking_params),
        "lifecycle_exempt": int(new.lifecycle_exempt),
        "pinned": int(new.pinned),
    }
    rows = yield Statement("docs.insert_edition", {"id": new_uid(), "project": project, "now": moment, **fields})
    return bool(rows)


def get_edition(project: str, slug: str) -> Work[Edition]:
    """Raises EditionNotFound, also for a deleted one."""
    return _edition_of((yield Statement("docs.find_edition", {"project": project, "slug_key": slug_key(slug)})))


def get_edition_by_id(id: str) -> Work[Edition]:
    """Also a deleted one. Raises EditionNotFound."""
    return _edition_of((yield Statement("docs.find_edition_by_id", {"id": id})))


def list_editions(project: str) -> Work[list[Edition]]:
    return [edition_of_row(row) for row in (yield Statement("docs.list_editions", {"project": project}))]


def list_shown_builds(project: str) -> Work[dict[str, ShownBuild]]:
    """By the id of the edition."""
    rows = yield Statement("docs.list_shown_builds", {"project": project})
    return {edition: ShownBuild(*facts) for edition, *facts in rows}


def save_edition(edition: Edition) -> Work[None]:
    moment = yield from now()
    fields = {
        "id": edition.id,
        "title": edition.title,
        "kind": edition.kind,
        "tracking_mode": edition.tracking_mode,
        "tracking_params": encoded(edition.tracking_params),
        "lifecycle_exempt": int(edition.lifecycle_exempt),
        "pinned": int(edition.pinned),
    }
    yield Statement("docs.save_edition", {**fields, "now": moment})


def move_edition(move: EditionMove) -> Work[int | None]:
    """Pointer, history and hold in one transaction. Returns the new sequence number, or None if something else has moved the
    edition meanwhile."""
    moment = yield from now()
    pinned = None if move.pinned is None else int(move.pinned)
    fields = {"id": move.edition, "build": move.build, "expected_seq": move.expected_seq, "pinned": pinned, "now": moment}
    rows = yield Statement("docs.move_edition", fields)
    if not rows:
        return None
    seq = int(rows[0][0])
    entry = {"trigger": move.trigger, "actor": move.actor, "job_uid": move.job_uid, "now": moment}
    yield Statement("docs.insert_history", {"edition": move.edition, "build": move.build, "seq": seq, **entry})
    yield from artifacts.release(edition_holder(move.edition))
    yield from artifacts.hold(edition_holder(move.edition), move.artifact)
    return seq


def find_move_of_job(edition: str, job_uid: str) -> Work[int | None]:
    """The sequence number of the move that a job has made."""
    rows = yield Statement("docs.find_move_of_job", {"edition": edition, "job_uid": job_uid})
    return int(rows[0][0]) if rows else None


def list_unpublished(project: str) -> Work[list[str]]:
    """Ids of a project's editions, also deleted ones, that have moved since they were published."""
    return [id for (id,) in (yield Statement("docs.list_unpublished", {"project": project}))]


def mark_published(edition: str, seq: int, error: str | None = None) -> Work[bool]:
    """The move `seq` is published, or has failed. False if a later move has taken its place."""
    status = PublishStatus.PUBLISHED if error is None else PublishStatus.FAILED
    yield Statement("docs.mark_history", {"edition": edition, "seq": seq, "status": status, "error": error})
    rows = yield Statement("docs.mark_published", {"id": edition, "seq": seq, "status": status, "error": error})
    return bool(rows)


def settle_publishing(job_uid: str, error: str) -> Work[None]:
    """Mark what a job has moved and not published as failed (D29)."""
    yield Statement("docs.settle_publishing", {"job_uid": job_uid, "error": error})
    yield Statement("docs.settle_history", {"job_uid": job_uid, "error": error})


class EditionHistoryLine(msgspec.Struct, frozen=True, kw_only=True):
    """An entry with the facts of its build."""

    entry: HistoryEntry
    git_ref: str
    alternate_name: str | None
    number: int
    build_status: BuildStatus
    annotations: dict[str, Any]
    build_deleted: bool


def list_history(
    edition: str, *, include_deleted: bool = False, before: int = BEYOND, limit: int = 100
) -> Work[list[EditionHistoryLine]]:
    """Newest first. What shows a deleted build is left out, unless asked for."""
    place = {"edition": edition, "before": before, "deleted": int(include_deleted), "limit": limit}
    return [_history_of_row(row) for row in (yield Statement("docs.list_history", place))]


def was_shown(edition: str, build: str) -> Work[bool]:
    return bool((yield Statement("docs.find_in_history", {"edition": edition, "build": build})))


def edition_holder(id: str) -> str:
    """What an edition shows cannot be collected."""
    return f"docs:edition:{id}"


def _edition_of(rows: list[Row]) -> Edition:
    if not rows:
        raise EditionNotFound
    return edition_of_row(rows[0])


def _history_of_row(row: Row) -> EditionHistoryLine:
    # fmt: off
    (edition, build, seq, trigger, actor, job_uid, publish_status, error, created, git_ref, alternate_name, number, status,
     annotations, deleted) = row
    # fmt: on
    return EditionHistoryLine(
        entry=HistoryEntry(
            edition=edition,
            build=build,
            seq=seq,
            trigger=trigger,
            actor=actor,
            job_uid=job_uid,
            publish_status=PublishStatus(publish_status),
            error=error,
            date_created=created,
        ),
        git_ref=git_ref,
        alternate_name=alternate_name,
        number=number,
        build_status=BuildStatus(status),
        annotations=json.loads(annotations),
        build_deleted=bool(deleted),
    )
