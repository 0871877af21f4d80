"""Which editions a build would move, without a build: for `upload --dry-run`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from pressroom.apps.docs.model import Org, Project
from pressroom.apps.docs.requests import BuildDraft
from pressroom.apps.docs.store.editions import ShownBuild, list_editions, list_shown_builds

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.apps.docs.domain.slugs import RewriteRules


class PlannedEdition(msgspec.Struct, frozen=True):
    """`action`: "create", "move" or "stay"; "perhaps" where only the service knows."""

    slug: str
    action: str
    reason: str = ""


class UploadPlan(msgspec.Struct, frozen=True):
    """`note` says why there is no edition of the ref itself."""

    editions: list[PlannedEdition]
    note: str = ""


async def plan_locally(app: "DocsApp", org: Org, project: Project, draft: BuildDraft) -> UploadPlan:
    """With the rows of now: the plan that the job would make."""
    from pressroom.apps.docs.domain.tracking import plan_editions

    editions = await app.core.database.read(lambda: list_editions(project.id))
    shown = await app.core.database.read(lambda: list_shown_builds(project.id))
    build = ShownBuild("", draft.git_ref, draft.alternate_name, project.last_number + 1)
    plan = plan_editions(build, editions, shown, _rules_of(org, project), project.auto_create or org.auto_create)
    created = {edition.slug for edition in plan.create}
    planned = [PlannedEdition(slug, "create" if slug in created else "move") for slug in plan.move]
    planned += [PlannedEdition(one.slug, "stay", one.reason) for one in plan.skipped]
    return UploadPlan(planned, _describe_preview(plan.preview.edition_slug, plan.preview.problem, plan.preview.matched_rule))


def plan_from_preview(preview: Mapping[str, Any], editions: Sequence[Mapping[str, Any]]) -> UploadPlan:
    """By what a service says of the ref and of its editions. What follows versions is decided when the build is there."""
    slug = preview.get("edition_slug")
    note = _describe_preview(slug, preview.get("problem"), preview.get("matched_rule"))
    planned: list[PlannedEdition] = []
    known = {str(edition["slug"]).lower() for edition in editions}
    if slug is not None and slug.lower() not in known:
        planned.append(PlannedEdition(slug, "create"))
    for edition in editions:
        if action := _action_of(edition, preview["git_ref"], slug):
            planned.append(action)
    return UploadPlan(planned, note)


def _action_of(edition: Mapping[str, Any], git_ref: str, slug: str | None) -> PlannedEdition | None:
    mode, params = edition["tracking_mode"], edition.get("tracking_params") or {}
    follows = mode in ("git_ref", "alternate_git_ref")
    is_named = slug is not None and edition["slug"].lower() == slug.lower()
    if follows and not is_named and (params.get("git_ref") != git_ref or mode == "alternate_git_ref"):
        return None
    if edition.get("pinned"):
        return PlannedEdition(edition["slug"], "stay", "it is pinned")
    if mode == "manual":
        return PlannedEdition(edition["slug"], "stay", "it is moved by people only") if is_named else None
    if follows:
        return PlannedEdition(edition["slug"], "move")
    return PlannedEdition(edition["slug"], "perhaps", f"it follows {mode}")


def _rules_of(org: Org, project: Project) -> "RewriteRules":
    """A project's own rules replace all those of its organisation."""
    from pressroom.apps.docs.domain.slugs import RewriteRules

    if project.slug_rewrite_rules:
        return RewriteRules(project.slug_rewrite_rules, source="project")
    return RewriteRules(org.slug_rewrite_rules, source="org" if org.slug_rewrite_rules else "default")


def _describe_preview(slug: str | None, problem: str | None, rule: Mapping[str, Any] | None) -> str:
    if slug is not None:
        return ""
    if problem:
        return f"no edition of the ref itself: {problem}"
    return f"no edition of the ref itself: a rule ignores it ({rule})" if rule else "no edition of the ref itself"
