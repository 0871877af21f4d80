"""The slug of the edition that a git ref makes: rewrite rules, and what a slug may look like."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from pressroom.apps.docs.model import EditionKind


class SlugPreview(msgspec.Struct, frozen=True, kw_only=True):
    """`edition_slug` is None if a rule ignores the ref, or if what it makes is not a slug (then `problem` says why)."""

    git_ref: str
    edition_slug: str | None
    edition_kind: EditionKind | None
    matched_rule: dict[str, Any] | None  # with its index
    rule_source: Literal["org", "project", "default"]
    problem: str | None = None


class RewriteRules:
    """Rules that were checked. The first that matches a ref decides."""

    def __init__(self, rules: Sequence[dict[str, Any]], *, source: Literal["org", "project", "default"]) -> None:
        """Raises InvalidArgument with the index and field of what is wrong."""
        raise NotImplementedError

    def preview(self, git_ref: str, alternate_name: str | None = None) -> SlugPreview:
        raise NotImplementedError


def check_slug(what: Literal["organisation", "project", "edition"], slug: str) -> None:
    """Raises InvalidArgument that says what is allowed."""
    raise NotImplementedError
