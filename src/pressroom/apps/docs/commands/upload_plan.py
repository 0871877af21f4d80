"""Which editions a build would move, without a build: for `upload --dry-run`. The plan is the one that the job makes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from pressroom.apps.docs.domain.slugs import RewriteRules, SlugPreview
from pressroom.apps.docs.domain.tracking import TrackingPlan, follows, plan_editions
from pressroom.apps.docs.model import AutoCreate, Edition, EditionKind, TrackingMode, TrackingParams
from pressroom.apps.docs.requests import BuildDraft
from pressroom.apps.docs.store.editions import ShownBuild, list_editions, list_shown_builds

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

NEXT_NUMBER = 2**53 - 1  # of a build that is not there yet: newer than all others


class PlannedEdition(msgspec.Struct, frozen=True):
    """`action`: "create", "move" or "stay"."""

    slug: str
    action: str
    reason: str = ""


class UploadPlan(msgspec.Struct, frozen=True):
    """`note` says why there is no edition of the ref itself."""

    editions: list[PlannedEdition]
    note: str = ""


async def plan_locally(app: "DocsApp", org_slug: str, project_slug: str, draft: BuildDraft) -> UploadPlan:
    """With the rows of now."""
    org, project = await app.projects.get_with_org(org_slug, project_slug)
    editions = await app.core.database.read(lambda: list_editions(project.id))
    shown = await app.core.database.read(lambda: list_shown_builds(project.id))
    rules, auto_create = RewriteRules.of(org, project), project.auto_create or org.auto_create
    return _describe(plan_editions(new_build(draft), editions, shown, rules, auto_create))


def plan_remotely(
    draft: BuildDraft,
    preview: SlugPreview,
    editions: Sequence[Edition],
    shown: Mapping[str, ShownBuild],
    auto_create: AutoCreate,
) -> UploadPlan:
    """With what a service says. It matches the rules itself, so that this machine needs no RE2."""
    rules = cast("RewriteRules", _AnsweredRules(preview))
    return _describe(plan_editions(new_build(draft), editions, shown, rules, auto_create))


def new_build(draft: BuildDraft) -> ShownBuild:
    return ShownBuild("", draft.git_ref, draft.alternate_name, NEXT_NUMBER)


def is_concerned(edition: Edition, draft: BuildDraft) -> bool:
    """Whether it matters what the edition shows now."""
    build = new_build(draft)
    return follows(edition, None, build) or follows(edition, ShownBuild("", "main", None, 0), build)


def edition_of_view(view: Mapping[str, Any]) -> Edition:
    """An edition as a service shows it. Its slug is its id."""
    return Edition(
        id=view["slug"],
        project="",
        slug=view["slug"],
        title=view["title"],
        kind=EditionKind(view["kind"]),
        tracking_mode=TrackingMode(view["tracking_mode"]),
        tracking_params=msgspec.convert(view["tracking_params"], TrackingParams),
        lifecycle_exempt=view["lifecycle_exempt"],
        pinned=view["pinned"],
        build=view["build"],
        publish_status=None,
        publish_seq=0,
        published_seq=0,
        publish_error=None,
        ref_missing_since=None,
        date_created=0,
        date_changed=0,
        date_deleted=None,
    )


class _AnsweredRules:
    """Stands for the rules of a service, which has answered what they make of the one ref."""

    def __init__(self, answer: SlugPreview) -> None:
        self._answer = answer

    def preview(self, git_ref: str, alternate_name: str | None = None) -> SlugPreview:  # noqa: ARG002
        return self._answer


def _describe(plan: TrackingPlan) -> UploadPlan:
    created = {edition.slug for edition in plan.create}
    planned = [PlannedEdition(slug, "create" if slug in created else "move") for slug in plan.move]
    planned += [PlannedEdition(one.slug, "stay", one.reason) for one in plan.skipped]
    return UploadPlan(planned, _describe_preview(plan.preview))


def _describe_preview(preview: SlugPreview) -> str:
    if preview.edition_slug is not None:
        return ""
    if preview.problem:
        return f"no edition of the ref itself: {preview.problem}"
    return f"a rule ignores {preview.git_ref}, so that no edition moves: {msgspec.json.encode(preview.matched_rule).decode()}"
