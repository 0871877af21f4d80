"""Which editions and builds lifecycle rules delete: a pure function of rules, rows and the time."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from pressroom.apps.docs.model import Build, Edition


class Deletion(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule deletes, with the rule and its parameters."""

    what: Literal["edition", "build"]
    id: str
    name: str  # the edition's slug, or the build's ref
    rule: str
    parameters: dict[str, Any]
    reason: str  # for people


class LifecycleRules:
    """Rules that were checked."""

    def __init__(self, rules: Sequence[dict[str, Any]]) -> None:
        """Raises InvalidArgument with the index and field of what is wrong."""
        raise NotImplementedError

    def evaluate(
        self,
        editions: Sequence[Edition],
        builds: Sequence[Build],
        history: Mapping[str, Sequence[str]],  # by the id of the edition: uids of builds, newest first
        now: int,  # milliseconds
        live_refs: frozenset[str] | None = None,  # branches and tags of the repository; None: not known, nothing matches
    ) -> list[Deletion]:
        raise NotImplementedError
