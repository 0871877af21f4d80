"""Which editions a build belongs to (Q21): a pure function of the build, the editions and the rules."""

from collections.abc import Mapping, Sequence

import msgspec

from pressroom.apps.docs.domain.slugs import RewriteRules, SlugPreview
from pressroom.apps.docs.model import AutoCreate, Edition
from pressroom.apps.docs.store.editions import NewEdition, ShownBuild


class SkippedEdition(msgspec.Struct, frozen=True):
    """An edition that the build matches and does not move: `{"slug": "1", "reason": "…"}` in the progress."""

    slug: str
    reason: str


class TrackingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """`create`: editions to insert first (one with the slug may be there by then). `move`: slugs that are to show the build,
    the created ones included."""

    create: list[NewEdition]
    move: list[str]
    skipped: list[SkippedEdition]
    preview: SlugPreview


def plan_editions(
    build: ShownBuild,
    editions: Sequence[Edition],
    shown: Mapping[str, ShownBuild],
    rules: RewriteRules,
    auto_create: AutoCreate,
) -> TrackingPlan:
    """`shown`: what each edition shows, by its id; one that shows nothing is not in it."""
    raise NotImplementedError


def refusal(edition: Edition, current: ShownBuild | None, build: ShownBuild) -> str | None:
    """Why this edition may not come to show the build now, in words; None if it may.

    Asked again in the transaction that moves it."""
    raise NotImplementedError
