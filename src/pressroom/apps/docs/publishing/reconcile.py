"""Compare what editions show with what is published, and publish again what differs."""

import asyncio
import logging
from collections import Counter
from functools import partial
from typing import Any

from pressroom.app import Core
from pressroom.apps.docs.dashboards.dashboards import Dashboards
from pressroom.apps.docs.model import Org
from pressroom.apps.docs.periodic.kinds import ORGS_AT_ONCE, periodic_kind, raise_if_all_failed
from pressroom.apps.docs.publishing import Publication, Publisher, ShownSites
from pressroom.apps.docs.publishing.publishers import Publishers
from pressroom.apps.docs.search.search import Search
from pressroom.apps.docs.store import publishing as rows
from pressroom.apps.docs.store.orgs import get_org
from pressroom.apps.docs.store.projects import get_project_by_id
from pressroom.apps.docs.store.templates import list_stale_dashboards
from pressroom.errors import PressroomError, Transient
from pressroom.model import Statement, Submitted, Work
from pressroom.worker.context import RunningJob

NAME = "docs.reconcile"
AT_ONCE = 4

log = logging.getLogger("pressroom.docs")


class Reconcile:
    """Every five minutes, and after something was deleted. Idempotent: a second run finds nothing to do."""

    def __init__(self, core: Core, publishers: Publishers, dashboards: Dashboards, search: Search) -> None:
        self._core = core
        self._publishers = publishers
        self._dashboards = dashboards
        self._search = search
        self.kind = periodic_kind(NAME, self._run, core, pool="outbound")

    async def submit(self, org: str | None = None) -> Submitted:
        """For one organisation, or for all that need it."""
        key = NAME if org is None else f"{NAME}:{org}"
        return await self._core.queue.submit(NAME, {} if org is None else {"org": org}, key=key)

    async def _run(self, job: RunningJob, payload: Any) -> dict[str, int]:
        named = (payload or {}).get("org")
        orgs = [str(named)] if named else await self._core.database.read(_list_orgs)
        await job.items("orgs", orgs)
        counts: Counter[str] = Counter(published=0, unpublished=0, repaired=0, dashboards=0)
        slots = asyncio.Semaphore(ORGS_AT_ONCE)

        async def reconcile_one(slug: str) -> None:
            async with slots, job.item(slug):
                await self._reconcile(await self._core.database.read(partial(get_org, slug)), counts)

        results = await asyncio.gather(*map(reconcile_one, orgs), return_exceptions=True)
        if not named:
            await self._search.catch_up()
        await job.message(
            f"Published {counts['published']:,} editions again, removed {counts['unpublished']:,}, repaired "
            f"{counts['repaired']:,} entries, rendered {counts['dashboards']:,} dashboards"
        )
        raise_if_all_failed(results)
        return dict(counts)

    async def _reconcile(self, org: Org, counts: Counter[str]) -> None:
        """Raises Transient, after all was tried, if something could not be published."""
        publishers, database = await self._publishers.of(org), self._core.database
        state = await database.read(partial(rows.read_state, org))

        async def read_shown() -> ShownSites:
            return await database.read(partial(rows.read_shown_sites, org))

        left = [one.publication for one in state.shown if not one.is_published and not one.busy]
        problems = await self._publish_all(publishers, [*state.removed, *left], counts)
        for publisher in publishers:
            repaired = await publisher.reconcile(org, read_shown)
            counts["repaired"] += len(repaired)
            if repaired:
                for cache in publishers:
                    await cache.purge_sites(org, repaired)
        problems += await self._render_dashboards(org, publishers, counts)
        if problems:
            raise Transient(problems[0] if len(problems) == 1 else f"{len(problems)} failed; the first: {problems[0]}")

    async def _publish_all(
        self, publishers: list[Publisher], publications: list[Publication], counts: Counter[str]
    ) -> list[str]:
        slots = asyncio.Semaphore(AT_ONCE)
        problems: list[str] = []

        async def publish_one(publication: Publication) -> None:
            async with slots:
                error = await _try_to_publish(publishers, publication)
                settled = await self._core.database.run(partial(rows.settle, publication, error), name="publish")
            if error is not None:
                problems.append(f"{publication.site}: {error}")
            elif settled:
                counts["published" if publication.build is not None else "unpublished"] += 1

        await asyncio.gather(*map(publish_one, publications))
        return problems

    async def _render_dashboards(self, org: Org, publishers: list[Publisher], counts: Counter[str]) -> list[str]:
        """Of projects whose editions changed where no job rendered it."""
        problems: list[str] = []
        for id in [one.project for one in await self._core.database.read(partial(list_stale_dashboards, org.slug, None))]:
            try:
                await self._dashboards.render(id)
                project = await self._core.database.read(partial(get_project_by_id, id))
                for publisher in publishers:
                    await publisher.publish_dashboard(org, project, partial(self._dashboards.read, id))
                counts["dashboards"] += 1
            except PressroomError as reason:
                problems.append(f"the dashboard of {id}: {reason}")
        return problems


async def _try_to_publish(publishers: list[Publisher], publication: Publication) -> str | None:
    """Returns what went wrong."""
    try:
        for publisher in publishers:
            await publisher.publish(publication)
    except PressroomError as reason:
        return str(reason)
    return None


def _list_orgs() -> Work[list[str]]:
    return [slug for (slug,) in (yield Statement("docs.list_orgs_to_reconcile"))]
