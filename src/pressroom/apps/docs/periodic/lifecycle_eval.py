"""Delete what lifecycle rules say (Q29)."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from pressroom.app import Core
from pressroom.apps.docs.periodic.kinds import ORGS_AT_ONCE, periodic_kind, raise_if_all_failed
from pressroom.apps.docs.publishing.reconcile import Reconcile
from pressroom.apps.docs.store import lifecycle as rows
from pressroom.apps.docs.store.lifecycle import ProjectDeletion
from pressroom.apps.docs.store.orgs import list_orgs
from pressroom.apps.docs.store.projects import get_project
from pressroom.worker.context import RunningJob

NAME = "docs.lifecycle_eval"
PAGE = 100

log = logging.getLogger("pressroom.docs")


class LifecycleEval:
    def __init__(self, core: Core, reconcile: Reconcile) -> None:
        self._core = core
        self._reconcile = reconcile
        self.kind = periodic_kind(NAME, self._run, core)

    async def submit(self) -> None:
        await self._core.queue.submit(NAME, {}, key=NAME)

    async def dry_run(
        self, org: str, project: str | None = None, *, rules: Sequence[dict[str, Any]] | None = None
    ) -> list[ProjectDeletion]:
        """What would be deleted now; with `rules`, if these were the rules. Raises OrgNotFound, ProjectNotFound and
        InvalidArgument."""
        if project is not None:
            await self._core.database.read(partial(get_project, org, project))
        plans = await self._core.database.read(partial(rows.plan_org, org, project=project, rules=rules))
        return [ProjectDeletion(plan.project.slug, deletion) for plan in plans for deletion in plan.deletions]

    async def _run(self, job: RunningJob, payload: Any) -> dict[str, int]:  # noqa: ARG002
        orgs = [slug async for slug in self._list_orgs()]
        await job.items("orgs", orgs)
        counts: Counter[str] = Counter(editions=0, builds=0)
        slots = asyncio.Semaphore(ORGS_AT_ONCE)

        async def evaluate_one(org: str) -> None:
            async with slots, job.item(org):
                await self._evaluate(job, org, counts)

        results = await asyncio.gather(*map(evaluate_one, orgs), return_exceptions=True)
        await job.message(f"Deleted {counts['editions']:,} editions and {counts['builds']:,} builds")
        raise_if_all_failed(results)
        return dict(counts)

    async def _evaluate(self, job: RunningJob, org: str, counts: Counter[str]) -> None:
        """Planned in a read first, so that an organisation where nothing is to go keeps no writer waiting."""
        plans = await self._core.database.read(partial(rows.plan_org, org))
        if not plans:
            return
        projects = [plan.project.id for plan in plans]
        deleted = await job.write(partial(rows.apply_plans, org, projects))
        for one in deleted:
            counts[f"{one.deletion.what}s"] += 1
            log.info(
                "lifecycle rule %s %s deleted the %s %s of %s/%s: %s",
                *(one.deletion.rule, one.deletion.parameters, one.deletion.what, one.deletion.name, org, one.project),
                one.deletion.reason,
            )
        if any(one.deletion.what == "edition" for one in deleted):
            await self._reconcile.submit(org)  # takes them away where they are published, and renders the dashboards

    async def _list_orgs(self) -> AsyncIterator[str]:
        after = ""
        while page := await self._core.database.read(partial(list_orgs, after=after, limit=PAGE)):
            for org in page:
                yield org.slug
            after = page[-1].slug
