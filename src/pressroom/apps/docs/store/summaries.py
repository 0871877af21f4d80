"""What pages show of many rows at once: units of work."""

from collections.abc import Sequence
from typing import Any

import msgspec

from pressroom.apps.docs.model import Build, BuildStatus, Project
from pressroom.apps.docs.store.rows import build_of_row
from pressroom.model import Statement, Work
from pressroom.store.jobs.rows import compact


class NewestBuild(msgspec.Struct, frozen=True):
    uid: str
    number: int | None
    git_ref: str
    alternate_name: str | None
    status: BuildStatus
    broken_links: int | None
    date_created: int


class ProjectSummary(msgspec.Struct, frozen=True):
    project: Project
    editions: int
    newest: NewestBuild | None


class ListedFile(msgspec.Struct, frozen=True):
    path: str
    size: int
    media_type: str


class MediaTypeSize(msgspec.Struct, frozen=True):
    media_type: str
    files: int
    bytes: int


def summarise_projects(projects: Sequence[Project]) -> Work[list[ProjectSummary]]:
    """In the order given."""
    if not projects:
        return []
    rows = yield Statement("docs.summarise_projects", {"projects": compact([project.id for project in projects])})
    facts = {id: (editions, _newest_build(newest)) for id, editions, *newest in rows}
    return [ProjectSummary(project, *facts[project.id]) for project in projects if project.id in facts]


def _newest_build(row: Sequence[Any]) -> NewestBuild | None:
    uid, number, git_ref, alternate_name, status, broken_links, created = row
    if uid is None:
        return None
    return NewestBuild(uid, number, git_ref, alternate_name, BuildStatus(status), broken_links, created)


def list_largest_files(artifact: str, *, text: str = "", limit: int = 50) -> Work[list[ListedFile]]:
    place = {"artifact": artifact, "text": contains_pattern(text), "limit": limit}
    return [ListedFile(*row) for row in (yield Statement("docs.list_largest_files", place))]


def measure_media_types(artifact: str) -> Work[list[MediaTypeSize]]:
    rows = yield Statement("docs.measure_media_types", {"artifact": artifact})
    return [MediaTypeSize(media_type, int(files), int(size)) for media_type, files, size in rows]


def find_previous_build(build: Build) -> Work[Build | None]:
    """The one of the same ref that was completed before it."""
    if build.number is None:
        return None
    place = {"git_ref": build.git_ref, "alternate_name": build.alternate_name or "", "number": build.number}
    rows = yield Statement("docs.find_previous_build", {"project": build.project, **place})
    return build_of_row(rows[0]) if rows else None


def contains_pattern(text: str) -> str:
    """For LIKE: what contains the text, in any case."""
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%" if text else ""
