"""What was deleted and can be restored."""

from collections.abc import Sequence

from pressroom.app import Core
from pressroom.apps.docs.errors import PurgatoryEntryNotFound
from pressroom.apps.docs.model import Project
from pressroom.apps.docs.operations import edition_jobs
from pressroom.apps.docs.operations.projects import find_with_org
from pressroom.apps.docs.store import orgs as org_rows
from pressroom.apps.docs.store import purgatory as rows
from pressroom.apps.docs.store.projects import get_project_by_id, lock_project
from pressroom.apps.docs.store.purgatory import PurgatoryEntry
from pressroom.errors import NotFound
from pressroom.ids import parse_uid
from pressroom.model import Work


class Purgatory:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def list(
        self, org: str, *, project: str | None = None, before: str = "", limit: int = 100
    ) -> Sequence[PurgatoryEntry]:
        """Entered last first. `project` is a slug."""

        def unit() -> Work[list[PurgatoryEntry]]:
            yield from org_rows.get_org(org)
            id = "" if project is None else (yield from find_with_org(org, project))[1].id
            return (yield from rows.list_entries(org, project=id, before=before, limit=limit))

        return await self._core.database.read(unit)

    async def restore(self, org: str, id: str, *, actor: str) -> PurgatoryEntry:
        """Raises PurgatoryEntryNotFound, SlugTaken and BuildNotUsable. A job publishes what it shows."""
        try:
            parsed = parse_uid(id)
        except NotFound:
            raise PurgatoryEntryNotFound from None

        def unit() -> Work[tuple[PurgatoryEntry, Project]]:
            yield from org_rows.get_org(org)
            entry = yield from rows.get_entry(org, parsed)
            if entry.what != "project":
                yield from lock_project(entry.project)
            yield from rows.restore(entry, actor)
            return entry, (yield from get_project_by_id(entry.project))

        async with self._core.queue.transaction() as tx:
            entry, project = await tx.run(unit, name="docs")
            if entry.what != "build":
                await edition_jobs.submit_publish(self._core.queue, project, None, actor=actor, within=tx)
        return entry
