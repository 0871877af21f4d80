"""What is known of the branches and tags that editions follow: units of work."""

from collections.abc import Sequence

import msgspec

from pressroom.apps.docs.domain.lifecycle import LifecycleRules, followed_ref, is_live
from pressroom.apps.docs.model import Edition, Project
from pressroom.apps.docs.store.editions import list_editions
from pressroom.apps.docs.store.orgs import get_org
from pressroom.apps.docs.store.projects import lock_project, touch_editions
from pressroom.apps.docs.store.purgatory import Deleter, delete_edition, retention_of
from pressroom.apps.docs.store.rows import project_of_row
from pressroom.model import Statement, Work
from pressroom.store.jobs.transitions import now

PROJECTS_AT_ONCE = 500
SECOND_LOOK = 3_600_000  # milliseconds after which an answer without refs counts as another one
BELIEVED = 2  # answers without refs


class AuditedEdition(msgspec.Struct, frozen=True):
    """`project` is a slug. `reason` tells why it was deleted; None for one that was only flagged."""

    project: str
    slug: str
    git_ref: str
    reason: str | None = None


class RefAudit(msgspec.Struct, frozen=True, kw_only=True):
    """`stale`: the dashboard shows an older state."""

    flagged: list[AuditedEdition]
    found_again: list[AuditedEdition]
    deleted: list[AuditedEdition]
    stale: bool


def list_projects_with_git() -> Work[list[Project]]:
    """Of all organisations."""
    found: list[Project] = []
    place = {"limit": PROJECTS_AT_ONCE}
    while rows := (yield Statement("docs.list_projects_with_git", {**place, "after": found[-1].id if found else ""})):
        found += map(project_of_row, rows)
    return found


def note_answer(git_url: str, refs: int) -> Work[bool]:
    """Whether the answer of a repository can be believed. One without any refs has to be given twice, an hour apart: a server
    that is broken may give it too, and believing it would delete everything."""
    moment = yield from now()
    rows = yield Statement("docs.find_repository", {"git_url": git_url})
    before, empty, checked = rows[0] if rows else (0, 0, 0)
    if refs == 0 and empty and moment - checked < SECOND_LOOK:
        return bool(empty >= BELIEVED)
    empty = 0 if refs else empty + 1
    fields = {"git_url": git_url, "refs": refs or before, "empty_answers": empty, "now": moment}
    yield Statement("docs.save_repository", fields)
    return bool(refs or empty >= BELIEVED)


def audit_project(id: str, git_url: str, live_refs: frozenset[str]) -> Work[RefAudit]:
    """Flag the editions whose ref is gone, and delete those that the rule `ref_deleted` names (Q30). `live_refs` are short,
    and those of the repository `git_url`: they say nothing of a project that has been given another one meanwhile.
    Raises ProjectNotFound for a project that was deleted meanwhile."""
    project = yield from lock_project(id)
    if project.git_url != git_url:
        return RefAudit(flagged=[], found_again=[], deleted=[], stale=False)
    editions = yield from list_editions(id)
    moment = yield from now()
    found_again, flagged = [], []
    for edition in editions:
        git_ref = followed_ref(edition)
        if git_ref is None:
            continue
        if is_live(git_ref, live_refs):
            if (yield Statement("docs.clear_missing_ref", {"id": edition.id})):
                found_again.append(AuditedEdition(project.slug, edition.slug, git_ref))
        elif (yield Statement("docs.flag_missing_ref", {"id": edition.id, "now": moment})):
            flagged.append(AuditedEdition(project.slug, edition.slug, git_ref))
    if flagged or found_again:
        yield from touch_editions(id)
    deleted = yield from _delete(project, editions, live_refs, moment)
    changed = bool(flagged or found_again or deleted)
    is_stale = changed or (project.dashboard is not None and project.dashboard_version < project.editions_version)
    return RefAudit(flagged=flagged, found_again=found_again, deleted=deleted, stale=is_stale)


def _delete(
    project: Project, editions: Sequence[Edition], live_refs: frozenset[str], moment: int
) -> Work[list[AuditedEdition]]:
    org = yield from get_org(project.org)
    rules = LifecycleRules.of(org, project)
    by_id = {edition.id: edition for edition in editions}
    deleted = []
    for deletion in rules.evaluate(editions, [], {}, moment, live_refs, only=("ref_deleted",)):
        edition = by_id[deletion.id]
        reason = f"{deletion.rule}: {deletion.reason}"
        deleter = Deleter("git_ref_audit", reason, retention_of(org, project))
        if (yield from delete_edition(project, edition, deleter)):
            deleted.append(AuditedEdition(project.slug, edition.slug, followed_ref(edition) or "", reason))
    return deleted
