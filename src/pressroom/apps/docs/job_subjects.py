"""The project, build and edition that a job of the docs app is about. What was deleted has no page."""

import msgspec

from pressroom.apps.docs.errors import EditionNotFound, ProjectNotFound
from pressroom.apps.docs.model import Project
from pressroom.apps.docs.pages.paths import build_path, edition_path, project_path
from pressroom.apps.docs.store.editions import get_edition_by_id
from pressroom.apps.docs.store.projects import get_project_by_id
from pressroom.model import Job, Statement, Work
from pressroom.store.operators.lookup import LookupResult

KIND_PREFIX = "docs."


class _NamedEdition(msgspec.Struct, frozen=True):
    """The part of a payload that names an edition, by its id."""

    edition: str | None = None


def find_subjects(job: Job) -> Work[list[LookupResult]]:
    if not job.kind.startswith(KIND_PREFIX) or job.project_id is None:
        return []
    try:
        project = yield from get_project_by_id(job.project_id)
    except ProjectNotFound:
        return []
    if project.date_deleted is not None or project.org != job.org_id:
        return []
    name = f"{project.org}/{project.slug}"
    found = [LookupResult(what="project", name=project.id, about=name, path=project_path(project))]
    found += yield from _find_edition(job, project)
    return found + (yield from _find_build(job, project))


def _find_edition(job: Job, project: Project) -> Work[list[LookupResult]]:
    try:
        id = msgspec.convert(job.payload, _NamedEdition).edition
        edition = None if id is None else (yield from get_edition_by_id(id))
    except (msgspec.ValidationError, EditionNotFound):
        return []
    if edition is None or edition.date_deleted is not None or edition.project != project.id:
        return []
    return [LookupResult(what="edition", name=edition.id, about=edition.slug, path=edition_path(project, edition.slug))]


def _find_build(job: Job, project: Project) -> Work[list[LookupResult]]:
    if job.build_id is None:
        return []
    rows = yield Statement("docs.find_named_build", {"uid": job.build_id})
    return [
        LookupResult(what="build", name=job.build_id, about=git_ref, path=build_path(project, job.build_id))
        for _, _, id, git_ref in rows
        if id == project.id
    ]
