"""What was deleted and can be restored."""

from collections.abc import Sequence

from pressroom.app import Core
from pressroom.apps.docs.store.purgatory import PurgatoryEntry


class Purgatory:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def list(
        self, org: str, *, project: str | None = None, before: str = "", limit: int = 100
    ) -> Sequence[PurgatoryEntry]:
        """Entered last first. `project` is a slug."""
        raise NotImplementedError

    async def restore(self, org: str, id: str, *, actor: str) -> PurgatoryEntry:
        """Raises PurgatoryEntryNotFound, SlugTaken and BuildNotUsable."""
        raise NotImplementedError
