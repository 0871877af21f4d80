"""Organisations: create, change, delete, and which edition a ref would make."""

from collections.abc import Sequence

from pressroom.app import Core
from pressroom.apps.docs.domain.slugs import SlugPreview
from pressroom.apps.docs.model import Org
from pressroom.apps.docs.requests import OrgChanges, OrgDraft


class Orgs:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(self, draft: OrgDraft) -> Org:
        """Raises InvalidArgument for a slug, rule or domain that cannot be, and SlugTaken."""
        raise NotImplementedError

    async def get(self, slug: str) -> Org:
        """Raises OrgNotFound."""
        raise NotImplementedError

    async def list(self, only: str | None = None, *, after: str = "", limit: int = 100) -> Sequence[Org]:
        """By slug. `only`: the one organisation that a caller may see."""
        raise NotImplementedError

    async def change(self, slug: str, changes: OrgChanges) -> Org:
        raise NotImplementedError

    async def delete(self, slug: str) -> None:
        """Raises OrgInUse while it has projects."""
        raise NotImplementedError

    async def preview_slug(
        self, org: str, git_ref: str, *, project: str | None = None, alternate_name: str | None = None
    ) -> SlugPreview:
        """Which edition a build of this ref would make, and by which rule."""
        raise NotImplementedError
