"""What dashboards are rendered from, and which one a project has: units of work."""

from collections.abc import Sequence

import msgspec

from pressroom.apps.docs.model import Build, Edition, Org, Project
from pressroom.apps.docs.store.editions import list_editions
from pressroom.apps.docs.store.orgs import get_org
from pressroom.apps.docs.store.projects import get_project_by_id
from pressroom.apps.docs.store.purgatory import dashboard_holder
from pressroom.apps.docs.store.rows import build_of_row
from pressroom.apps.docs.store.templates import StaleDashboard, find_synced_template
from pressroom.model import Statement, Work
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import ArtifactDraft, ArtifactFile

FILES_AT_ONCE = 1_000


class DashboardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A project as it was at its `editions_version`. `builds` are those that its editions show, by uid. `template` is an
    artifact; None is the built-in one."""

    org: Org
    project: Project
    editions: list[Edition]
    builds: dict[str, Build]
    template: str | None = None


def read_facts(project: str) -> Work[DashboardFacts]:
    """Also of a deleted project. Raises ProjectNotFound."""
    found = yield from get_project_by_id(project)
    rows = yield Statement("docs.list_dashboard_builds", {"project": project})
    builds = [build_of_row(row) for row in rows]
    return DashboardFacts(
        org=(yield from get_org(found.org)),
        project=found,
        editions=(yield from list_editions(project)),
        builds={build.uid: build for build in builds},
        template=(yield from find_synced_template(found.org, project)),
    )


def save_dashboard(project: Project, version: int, draft: ArtifactDraft) -> Work[bool]:
    """Keep a rendered dashboard in the place of the one before. False if one of this version or a newer one is kept."""
    fields = {"id": project.id, "artifact": draft.uid, "version": version}
    if not (yield Statement("docs.save_dashboard", fields)):
        return False
    holder = dashboard_holder(project.id)
    yield from artifacts.release(holder)
    yield from artifacts.record(draft, org_id=project.org, holder=holder)
    return True


def find_dashboard(project: str) -> Work[str | None]:
    """The artifact. None before the first render, and for a project that is deleted."""
    found = yield from get_project_by_id(project)
    return found.dashboard if found.date_deleted is None else None


def read_dashboard(project: str) -> Work[tuple[str | None, list[ArtifactFile]]]:
    """With its files by path: those of a dashboard that is replaced are deleted soon."""
    artifact = yield from find_dashboard(project)
    return artifact, [] if artifact is None else (yield from list_all_files(artifact))


def list_all_files(artifact: str) -> Work[list[ArtifactFile]]:
    files: list[ArtifactFile] = []
    while page := (yield from artifacts.files_of(artifact, after=files[-1].path if files else "", limit=FILES_AT_ONCE)):
        files += page
    return files


def make_stale(projects: Sequence[str]) -> Work[list[StaleDashboard]]:
    """Have these projects' dashboards rendered again. Returns those that there are; deleted ones are left out."""
    found: list[StaleDashboard] = []
    for id in projects:
        yield Statement("docs.make_dashboard_stale", {"id": id})
        project = yield from get_project_by_id(id)
        if project.date_deleted is None:
            found.append(StaleDashboard(project.id, project.slug))
    return found
