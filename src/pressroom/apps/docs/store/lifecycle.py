"""What lifecycle rules look at and delete: units of work."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pressroom.apps.docs.domain.lifecycle import Deletion, LifecycleRules
from pressroom.apps.docs.errors import BuildInUse, ProjectNotFound
from pressroom.apps.docs.model import Build, Org, Project
from pressroom.apps.docs.store.builds import get_build_by_uid
from pressroom.apps.docs.store.editions import get_edition_by_id, list_editions
from pressroom.apps.docs.store.orgs import get_org
from pressroom.apps.docs.store.projects import list_projects, lock_project
from pressroom.apps.docs.store.purgatory import Deleter, delete_build, delete_edition, retention_of
from pressroom.apps.docs.store.rows import build_of_row
from pressroom.model import Statement, Work
from pressroom.store.jobs.transitions import now

ACTOR = "lifecycle rules"
PROJECTS_AT_ONCE = 100
BUILDS_AT_ONCE = 500


class ProjectDeletion(msgspec.Struct, frozen=True):
    """What a rule deletes, and in which project (its slug)."""

    project: str
    deletion: Deletion


class ProjectPlan(msgspec.Struct, frozen=True):
    project: Project
    deletions: Sequence[Deletion]


def plan_org(org: str, *, project: str | None = None, rules: Sequence[dict[str, Any]] | None = None) -> Work[list[ProjectPlan]]:
    """What would be deleted now, of all projects or of one (its slug). `rules` take the place of those that are stored."""
    found = yield from get_org(org)
    plans: list[ProjectPlan] = []
    after = ""
    while page := (yield from list_projects(org, after=after, limit=PROJECTS_AT_ONCE)):
        for one in page:
            if project in (None, one.slug):
                deletions = yield from plan_project(found, one, rules)
                plans += [ProjectPlan(one, deletions)] if deletions else []
        after = page[-1].slug
    return plans


def plan_project(org: Org, project: Project, rules: Sequence[dict[str, Any]] | None = None) -> Work[list[Deletion]]:
    """A project's rules, also when it has none on purpose, take the place of its organisation's."""
    checked = LifecycleRules.of(org, project) if rules is None else LifecycleRules(rules)
    if not checked.types:
        return []
    moment = yield from now()
    editions = yield from list_editions(project.id)
    builds = yield from _list_builds(project.id)
    history = yield from _list_history(project.id)
    return checked.evaluate(editions, builds, history, moment)


def apply_plans(org: str, projects: Sequence[str]) -> Work[list[ProjectDeletion]]:
    """Delete what the rules say now, in these projects (their ids). What was planned before may have changed meanwhile."""
    found = yield from get_org(org)
    deleted: list[ProjectDeletion] = []
    for id in projects:
        try:
            project = yield from lock_project(id)
        except ProjectNotFound:  # deleted meanwhile; the others are not left to the next hour for that
            continue
        for deletion in (yield from plan_project(found, project)):
            deleter = Deleter(ACTOR, deletion.reason, retention_of(found, project))
            if (yield from _delete(project, deletion, deleter)):
                deleted.append(ProjectDeletion(project.slug, deletion))
    return deleted


def _delete(project: Project, deletion: Deletion, deleter: Deleter) -> Work[bool]:
    if deletion.what == "edition":
        return (yield from delete_edition(project, (yield from get_edition_by_id(deletion.id)), deleter))
    try:
        return (yield from delete_build(project, (yield from get_build_by_uid(deletion.id)), deleter))
    except BuildInUse:
        return False


def _list_builds(project: str) -> Work[list[Build]]:
    builds: list[Build] = []
    after = ""
    while rows := (
        yield Statement("docs.list_lifecycle_builds", {"project": project, "after": after, "limit": BUILDS_AT_ONCE})
    ):
        builds += [build_of_row(row) for row in rows]
        after = builds[-1].uid
    return builds


def _list_history(project: str) -> Work[Mapping[str, Sequence[str]]]:
    history: dict[str, list[str]] = {}
    for edition, build in (yield Statement("docs.list_lifecycle_history", {"project": project})):
        history.setdefault(edition, []).append(build)
    return history
