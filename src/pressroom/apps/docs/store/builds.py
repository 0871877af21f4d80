"""Builds in the database: units of work."""

import json
from typing import Any

import msgspec

from pressroom.apps.docs.errors import BuildNotFound
from pressroom.apps.docs.model import Build
from pressroom.apps.docs.store.rows import build_of_row, encoded
from pressroom.ids import new_uid
from pressroom.model import Row, Statement, Work
from pressroom.store.artifacts import artifacts
from pressroom.store.jobs.transitions import now

LAST_UID = "Z"  # sorts behind every uid, in any collation: those begin with a digit
ABANDONED_AT_ONCE = 100


class NewBuild(msgspec.Struct, frozen=True, kw_only=True):
    """What the uploader says of a build. `content_hash` is that of the archive."""

    git_ref: str
    alternate_name: str | None = None
    content_hash: str
    annotations: dict[str, Any] = {}
    uploader: str = ""


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """What an archive held (Q20). The files themselves are the artifact's; its links may be checked later."""

    artifact: str
    object_count: int
    total_size: int
    broken_links: int | None = None
    problems: list[dict[str, Any]] | None = None  # of the broken links, the first ones


def insert_build(project: str, new: NewBuild, upload_digest: str | None) -> Work[Build]:
    """`upload_digest` is that of the capability in the address where we receive its archive ourselves."""
    moment = yield from now()
    uid = new_uid()
    fields = {
        "uid": uid,
        "project": project,
        "git_ref": new.git_ref,
        "alternate_name": new.alternate_name,
        "content_hash": new.content_hash,
        "upload_digest": upload_digest,
        "uploader": new.uploader,
        "annotations": encoded(new.annotations),
    }
    yield Statement("docs.insert_build", {**fields, "now": moment})
    return (yield from get_build(project, uid))


def get_build(project: str, uid: str, *, include_deleted: bool = False) -> Work[Build]:
    """Raises BuildNotFound."""
    place = {"uid": uid, "project": project, "deleted": int(include_deleted)}
    return _build_of((yield Statement("docs.find_build", place)))


def get_build_by_uid(uid: str) -> Work[Build]:
    """Of any project, also a deleted one. Raises BuildNotFound."""
    return _build_of((yield Statement("docs.find_build_by_uid", {"uid": uid})))


def find_build_to_upload(uid: str, digest: str, seconds: float) -> Work[Build]:
    """One that waits for its upload and was created within so many seconds. Raises BuildNotFound."""
    moment = yield from now()
    place = {"uid": uid, "digest": digest, "after": moment - int(seconds * 1000)}
    return _build_of((yield Statement("docs.find_build_to_upload", place)))


def list_builds(project: str, *, status: str = "", before: str = "", limit: int = 100) -> Work[list[Build]]:
    """Created last first; from the first one if `before` is "", and of every status if `status` is ""."""
    place = {"project": project, "status": status, "before": before or LAST_UID, "limit": limit}
    return [build_of_row(row) for row in (yield Statement("docs.list_builds", place))]


def count_builds(project: str, *, status: str = "") -> Work[int]:
    return int((yield Statement("docs.count_builds", {"project": project, "status": status}))[0][0])


def find_same_build(project: str, new: NewBuild) -> Work[Build | None]:
    """The newest build of the ref, if it has the same content and its editions show what they should: nothing needs to be
    uploaded."""
    place = {
        "project": project,
        "git_ref": new.git_ref,
        "alternate_name": new.alternate_name or "",
        "content_hash": new.content_hash,
    }
    rows = yield Statement("docs.find_same_build", place)
    return build_of_row(rows[0]) if rows else None


def start_build(build: Build, job_uid: str) -> Work[Build | None]:
    """The upload is complete: number the build. None if another call came first. The project must be locked."""
    moment = yield from now()
    (number,) = (yield Statement("docs.take_build_number", {"id": build.project}))[0]
    fields = {"uid": build.uid, "number": number, "job_uid": job_uid, "now": moment}
    if not (yield Statement("docs.start_build", fields)):
        return None
    return (yield from get_build(build.project, build.uid))


def record_inventory(uid: str, inventory: Inventory) -> Work[None]:
    """What a build consists of, once: a second attempt's inventory is not taken. The build holds its artifact."""
    fields = {
        "artifact": inventory.artifact,
        "object_count": inventory.object_count,
        "total_size": inventory.total_size,
        "broken_links": inventory.broken_links,
        "problems": encoded(inventory.problems),
    }
    if (yield Statement("docs.record_inventory", {"uid": uid, **fields})):
        yield from artifacts.hold(build_holder(uid), inventory.artifact)


def record_links(uid: str, broken: int, problems: list[dict[str, Any]]) -> Work[bool]:
    """How many links are broken, and the first ones; once."""
    fields = {"uid": uid, "broken_links": broken, "problems": encoded(problems)}
    return bool((yield Statement("docs.record_links", fields)))


def reopen_build(uid: str, job_uid: str) -> Work[bool]:
    """One that failed is processed again, by another job."""
    return bool((yield Statement("docs.reopen_build", {"uid": uid, "job_uid": job_uid})))


def complete_build(uid: str, error: dict[str, Any] | None = None) -> Work[bool]:
    """`error` tells of editions that could not be updated; the build is complete all the same."""
    moment = yield from now()
    return bool((yield Statement("docs.complete_build", {"uid": uid, "error": encoded(error), "now": moment})))


def fail_build(uid: str, error: dict[str, Any]) -> Work[bool]:
    moment = yield from now()
    return bool((yield Statement("docs.fail_build", {"uid": uid, "error": encoded(error), "now": moment})))


def abandon_build(uid: str, error: dict[str, Any]) -> Work[bool]:
    """Fail a build whose upload never came. False if it came after all."""
    moment = yield from now()
    return bool((yield Statement("docs.abandon_build", {"uid": uid, "error": encoded(error), "now": moment})))


def read_problems(uid: str) -> Work[list[dict[str, Any]]]:
    """The broken links of a build, the first ones."""
    rows = yield Statement("docs.build_problems", {"uid": uid})
    problems: list[dict[str, Any]] = json.loads(rows[0][0]) if rows and rows[0][0] else []
    return problems


def list_editions_showing(uid: str) -> Work[list[str]]:
    """Slugs of the editions that show a build."""
    return [slug for (slug,) in (yield Statement("docs.list_editions_showing", {"build": uid}))]


def list_abandoned_builds(older_than: int) -> Work[list[str]]:
    """Builds that wait for their upload for more than so many milliseconds."""
    moment = yield from now()
    rows = yield Statement("docs.list_abandoned_builds", {"before": moment - older_than, "limit": ABANDONED_AT_ONCE})
    return [uid for (uid,) in rows]


def build_holder(uid: str) -> str:
    return f"docs:build:{uid}"


def _build_of(rows: list[Row]) -> Build:
    if not rows:
        raise BuildNotFound
    return build_of_row(rows[0])
