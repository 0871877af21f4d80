"""Purge what was deleted long enough ago, and ended jobs past their retention (Q31, Q36)."""

import asyncio
import logging
from collections import Counter
from functools import partial
from typing import Any

from pressroom.app import Core
from pressroom.apps.docs.periodic.kinds import ORGS_AT_ONCE, periodic_kind, raise_if_all_failed
from pressroom.apps.docs.publishing.publishers import Publishers
from pressroom.apps.docs.store.builds import abandon_build, list_abandoned_builds
from pressroom.apps.docs.store.orgs import get_org, list_orgs
from pressroom.apps.docs.store.purgatory import list_due, list_orgs_with_due, purge
from pressroom.apps.docs.uploads import leftovers
from pressroom.apps.docs.uploads.staging import Staging
from pressroom.errors import PressroomError
from pressroom.model import Statement, Work
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now
from pressroom.worker.context import RunningJob

NAME = "docs.purgatory_cleanup"
ENTRIES_AT_ONCE = 1_000
JOBS_AT_ONCE = 1_000
ABANDONED_AFTER = 4  # times `upload_ttl`: an upload that began in time may still be going on
ABANDONED = {"code": "upload_abandoned", "message": "nothing was uploaded in time, or its end was not announced"}

log = logging.getLogger("pressroom.docs")


class PurgatoryCleanup:
    """Releases what purgatory held; the collector of artifacts deletes the bytes."""

    def __init__(self, core: Core, staging: Staging, publishers: Publishers) -> None:
        self._core = core
        self._staging = staging
        self._publishers = publishers
        self._upload_ttl = int(core.app_settings.upload_ttl * 1000)
        self.kind = periodic_kind(NAME, self._run, core)

    async def submit(self) -> None:
        await self._core.queue.submit(NAME, {}, key=NAME)

    async def _run(self, job: RunningJob, payload: Any) -> dict[str, int]:  # noqa: ARG002
        orgs = await self._core.database.read(_list_orgs)
        await job.items("orgs", orgs)
        counts: Counter[str] = Counter(entries=0, objects=0, bytes=0, uploads=0, jobs=0)
        slots = asyncio.Semaphore(ORGS_AT_ONCE)

        async def clean_one(org: str) -> None:
            async with slots, job.item(org):
                await self._purge_org(job, org, counts)

        results = await asyncio.gather(*map(clean_one, orgs), return_exceptions=True)
        await self._fail_abandoned_builds(job, counts)
        await self._delete_leftover_uploads(counts)
        while pruned := await job.write(_prune_jobs):
            counts["jobs"] += pruned
        await job.message(
            f"Purged {counts['objects']:,} objects of {counts['bytes']:,} bytes, {counts['uploads']:,} unused uploads "
            f"and {counts['jobs']:,} jobs"
        )
        raise_if_all_failed(results)
        return dict(counts)

    async def _purge_org(self, job: RunningJob, org: str, counts: Counter[str]) -> None:
        """In batches, each a transaction of its own, so that others can write in between."""
        while purged := await job.write(partial(_purge_some, org)):
            counts.update(purged)
        found = await self._core.database.read(partial(get_org, org))
        for publisher in await self._publishers.of(found):
            files = await publisher.delete_expired(found, self._core.clock.now_ms())
            counts.update(objects=files.objects, bytes=files.bytes)

    async def _fail_abandoned_builds(self, job: RunningJob, counts: Counter[str]) -> None:
        """The row first: a build that failed accepts no upload any more."""
        while uids := await self._core.database.read(partial(list_abandoned_builds, ABANDONED_AFTER * self._upload_ttl)):
            for uid in uids:
                if not await job.write(partial(abandon_build, uid, ABANDONED)):
                    continue  # its upload was announced at last
                try:
                    await self._staging.delete(uid)
                except PressroomError as reason:
                    log.warning("what was uploaded for the build %s could not be deleted: %s", uid, reason)
                counts["uploads"] += 1

    async def _delete_leftover_uploads(self, counts: Counter[str]) -> None:
        try:
            counts["uploads"] += await leftovers.delete_leftover_uploads(self._core.database, self._staging)
        except PressroomError as reason:
            log.warning("uploads that nothing reads any more could not be deleted: %s", reason)


def _list_orgs() -> Work[list[str]]:
    """Those with something that is due, and those that publish to places with a purgatory of their own."""
    due = yield from list_orgs_with_due()
    after, publishing = "", list[str]()
    while page := (yield from list_orgs(after=after)):
        publishing += [org.slug for org in page if org.slots.get("publishing_store")]
        after = page[-1].slug
    return sorted({*due, *publishing})


def _purge_some(org: str) -> Work[Counter[str]]:
    """Empty if nothing is due any more. What belongs to a project that is purged goes with it, and is counted with it."""
    counts: Counter[str] = Counter()
    projects: set[str] = set()
    entries = yield from list_due(org, ENTRIES_AT_ONCE)
    for entry in sorted(entries, key=lambda one: one.what != "project"):
        if entry.project in projects:
            continue
        yield from purge(entry)
        counts.update(entries=1, objects=entry.objects, bytes=entry.bytes)
        if entry.what == "project":
            projects.add(entry.project)
    return counts


def _prune_jobs() -> Work[int]:
    """Those of this app that ended longer ago than their retention (Q36). The core does the same for all, every few minutes."""
    moment = yield from now()
    rows = yield Statement("docs.list_prunable_docs_jobs", {"now": moment, "limit": JOBS_AT_ONCE})
    ids = [id for (id,) in rows]
    return len((yield Statement("delete_jobs", {"ids": compact(ids)}))) if ids else 0
