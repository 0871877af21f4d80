"""One run over a site of a tree: from what its record says is there to what is wanted."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import batched

import msgspec

from pressroom.apps.docs.edge.media import media_type_of
from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.publishing import PublishedSite
from pressroom.apps.docs.publishing.copy_plan import SiteRecord, is_page, plan_copy
from pressroom.apps.docs.publishing.leases import PublishLease
from pressroom.apps.docs.publishing.places import TreePlace
from pressroom.apps.docs.publishing.tree_paths import GONE, RECORDS, SWEEPS, marker_path, purgatory_path, site_folder
from pressroom.artifact_lifecycle import blob_key
from pressroom.artifacts import Blobs
from pressroom.artifacts.threads import in_thread
from pressroom.clock import Clock
from pressroom.errors import NotFound
from pressroom.store.artifacts.artifacts import ArtifactFile

ASSET_GRACE = 300.0  # seconds that an asset outlives the last page that uses it; pages may be a minute old
AT_ONCE = 16
BATCH = 256  # files between two records
BATCHES = 16  # of one step: a site of 50,000 files is not to write its record two hundred times
IN_MEMORY = 4 * 1024 * 1024  # bytes of a file that are read at once


class SiteCopy:
    """`retention` is for how many seconds what is removed stays in purgatory."""

    def __init__(
        self,
        place: TreePlace,
        blobs: Blobs,
        clock: Clock,
        lease: PublishLease,
        org: str,
        site: PublishedSite,
        record: SiteRecord,
        retention: int,
    ) -> None:
        self._place = place
        self._blobs = blobs
        self._clock = clock
        self._lease = lease
        self._org = org
        self._site = site
        self._record = record
        self._retention = retention

    async def run(self, edition: str, seq: int, build: str | None, wanted: Mapping[str, ArtifactFile]) -> None:
        """`build` None: nothing is wanted."""
        record = self._record
        plan = await in_thread(partial(plan_copy, record, wanted))
        record.edition, record.seq, record.build, record.complete = edition, seq, build, False
        for path in wanted.keys() & record.orphans.keys():
            del record.orphans[path]
        await self._remove(plan.in_the_way)
        for step in plan.writes:
            for files in batched(step, max(BATCH, math.ceil(len(step) / BATCHES))):
                await self._write(files)
        await self._remove(plan.old_pages)
        await self._orphan(plan.old_assets)
        record.complete = True
        await self._save()

    async def sweep(self) -> None:
        """Remove the assets whose grace is over."""
        before = self._clock.now_ms() - int(ASSET_GRACE * 1000)
        due = sorted(path for path, since in self._record.orphans.items() if since <= before)
        for path in due:
            del self._record.orphans[path]
        await self._remove(due)
        if due:
            await self._save()
        if not self._record.orphans:
            await self._place.delete(marker_path(SWEEPS, self._org, self._site))

    async def _write(self, files: Sequence[ArtifactFile]) -> None:
        await self._begin([file.path for file in files])
        await _side_by_side([lambda file=file: self._write_one(file) for file in files])  # type: ignore[misc]
        self._end({file.path: file.sha256 for file in files}, [file.path for file in files])

    async def _write_one(self, file: ArtifactFile) -> None:
        await self._lease.check()
        try:
            chunks = await self._blobs.get(blob_key(file))
            data = b"".join([chunk async for chunk in chunks]) if file.size <= IN_MEMORY else chunks
            await self._place.write(self._path(file.path), data, media_type_of(file.path, file.media_type))
        except NotFound:
            raise PublisherUnavailable(f"the bytes of {file.path} are gone from the artifact store") from None

    async def _remove(self, paths: Sequence[str]) -> None:
        """Into purgatory, the first ones first."""
        purge_after = self._clock.now_ms() + self._retention * 1000
        for some in batched(paths, BATCH):
            await self._begin(some)
            first = [path for path in some[:1] if is_page(path)]
            for together in (first, some[len(first) :]):
                await _side_by_side([lambda path=path: self._remove_one(path, purge_after) for path in together])  # type: ignore[misc]
            for path in some:
                self._record.files.pop(path, None)
            self._end({}, some)

    async def _remove_one(self, path: str, purge_after: int) -> None:
        await self._lease.check()
        purgatory = purgatory_path(purge_after, self._org, self._site, self._record.seq, path)
        await self._place.move(self._path(path), purgatory)

    async def _orphan(self, paths: Sequence[str]) -> None:
        """Note from when on no page uses these. `sweep` removes them later."""
        if paths:
            await self._place.write(marker_path(SWEEPS, self._org, self._site), b"{}", "application/json")
            now = self._clock.now_ms()
            self._record.orphans = dict.fromkeys(paths, now) | self._record.orphans

    async def _begin(self, paths: Sequence[str]) -> None:
        """From here on it is unknown what is at these paths, until the record is saved again after `_end`."""
        self._record.unknown = sorted({*self._record.unknown, *paths})
        await self._save()

    def _end(self, files: Mapping[str, str], paths: Sequence[str]) -> None:
        self._record.files |= files
        self._record.unknown = sorted({*self._record.unknown}.difference(paths))

    async def _save(self) -> None:
        await self._lease.check()
        removed = self._record.complete and self._record.build is None
        kinds = (GONE, RECORDS) if removed else (RECORDS, GONE)
        here, other = (marker_path(kind, self._org, self._site) for kind in kinds)
        await self._place.write(here, msgspec.json.encode(self._record), "application/json")
        if self._record.complete:
            await self._place.delete(other)

    def _path(self, path: str) -> str:
        return f"{site_folder(self._site)}{path}"


async def _side_by_side(works: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """The first failure ends the others."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def run_one(work: Callable[[], Awaitable[None]]) -> None:
        async with slots:
            await work()

    tasks = [asyncio.create_task(run_one(work)) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
