"""Editions: create, change, move, roll back, and their history."""

from collections.abc import Sequence

from pressroom.app import Core
from pressroom.apps.docs.model import Edition
from pressroom.apps.docs.requests import EditionChanges, EditionDraft, Rollback
from pressroom.apps.docs.store.editions import BEYOND, HistoryLine
from pressroom.model import Submitted


class Editions:
    """`org`, `project` and `slug` are slugs. Raises EditionNotFound and the like."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(self, org: str, project: str, draft: EditionDraft) -> Edition:
        """Raises InvalidArgument and SlugTaken (slugs are compared without regard to case)."""
        raise NotImplementedError

    async def get(self, org: str, project: str, slug: str) -> Edition:
        raise NotImplementedError

    async def list(self, org: str, project: str) -> Sequence[Edition]:
        """All of a project, __main first, then by kind and newest version first."""
        raise NotImplementedError

    async def change(
        self, org: str, project: str, slug: str, changes: EditionChanges, *, actor: str
    ) -> tuple[Edition, Submitted | None]:
        """With `build`, the job that moves it (Q25). Raises BuildNotUsable, MainEditionStays."""
        raise NotImplementedError

    async def roll_back(self, org: str, project: str, slug: str, rollback: Rollback, *, actor: str) -> Submitted:
        """To a build of its history (404 for one that is not in it)."""
        raise NotImplementedError

    async def list_history(
        self,
        org: str,
        project: str,
        slug: str,
        *,
        include_deleted: bool = False,
        before: int = BEYOND,
        limit: int = 100,
    ) -> Sequence[HistoryLine]:
        raise NotImplementedError

    async def delete(self, org: str, project: str, slug: str, *, actor: str, reason: str = "deleted by hand") -> None:
        """Into purgatory. Raises MainEditionStays."""
        raise NotImplementedError
