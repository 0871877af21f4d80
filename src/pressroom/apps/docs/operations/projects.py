"""Projects: create, change, delete, and what they store."""

from collections.abc import Sequence

import msgspec

from pressroom.app import Core
from pressroom.apps.docs.model import Org, Project
from pressroom.apps.docs.requests import ProjectChanges, ProjectDraft
from pressroom.model import Submitted


class Storage(msgspec.Struct, frozen=True):
    """Bytes of the builds of a project, and what they take because equal files are stored once."""

    builds: int
    files: int
    bytes: int
    stored_bytes: int


class Projects:
    """`org` and `project` are slugs. Every method raises OrgNotFound and ProjectNotFound."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(self, org: str, draft: ProjectDraft) -> Project:
        """With its edition __main. Raises InvalidArgument and SlugTaken."""
        raise NotImplementedError

    async def get(self, org: str, project: str) -> Project:
        raise NotImplementedError

    async def get_with_org(self, org: str, project: str) -> tuple[Org, Project]:
        raise NotImplementedError

    async def list(
        self, org: str, *, text: str = "", order: str = "slug", after: str = "", limit: int = 100
    ) -> tuple[Sequence[Project], int]:
        """One page and how many there are. `order` is "slug" or "date_created" (newest first)."""
        raise NotImplementedError

    async def change(self, org: str, project: str, changes: ProjectChanges) -> Project:
        raise NotImplementedError

    async def delete(self, org: str, project: str, *, actor: str, reason: str = "deleted by hand") -> None:
        """Into purgatory."""
        raise NotImplementedError

    async def measure(self, org: str, project: str) -> Storage:
        raise NotImplementedError

    async def rebuild_dashboard(self, org: str, project: str | None, *, actor: str) -> Sequence[Submitted]:
        """Of one project, or of all of an organisation."""
        raise NotImplementedError
