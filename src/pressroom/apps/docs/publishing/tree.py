"""Copy mode: a tree of files that any web server or CDN shows. `tree_paths` says where things are.

A publication compares what is wanted with what the record of the site says is there, and copies the difference. So it can be
killed at any moment, and the next run does the rest.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial

import msgspec

from pressroom.apps.docs.model import MAIN, Org, Project
from pressroom.apps.docs.publishing import Publication, PublishedSite, PurgedFiles, ReadFiles, ReadShownSites
from pressroom.apps.docs.publishing.copy_plan import SiteRecord
from pressroom.apps.docs.publishing.leases import PublishLease, Superseded, publish_lease
from pressroom.apps.docs.publishing.places import TreePlace
from pressroom.apps.docs.publishing.site_copy import SiteCopy
from pressroom.apps.docs.publishing.tree_paths import (
    GONE,
    OWN_FILES,
    PURGATORY,
    RECORDS,
    SWEEPS,
    dashboard_files,
    dashboard_path,
    is_in_site,
    marker_path,
    site_folder,
    site_of_marker,
)
from pressroom.apps.docs.store.editions import get_edition_by_id
from pressroom.apps.docs.store.publishing import find_shown_project, is_shown
from pressroom.apps.docs.store.purgatory import retention_of
from pressroom.artifacts import Blobs
from pressroom.clock import Clock
from pressroom.store import Database
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import ArtifactFile

FILES_AT_ONCE = 1_000


class TreePublisher:
    def __init__(self, place: TreePlace, database: Database, blobs: Callable[[], Blobs], clock: Clock) -> None:
        self._place = place
        self._database = database
        self._blobs = blobs
        self._clock = clock

    async def publish(self, publication: Publication) -> None:
        """A move of another edition that has had the slug makes way: what is left to do is done after it."""
        while not await self._publish(publication):
            edition = await self._database.read(partial(get_edition_by_id, publication.edition.id))
            if edition.publish_seq > publication.seq:
                return

    async def _publish(self, publication: Publication) -> bool:
        """False if it ended early because another move waits."""
        org, site = publication.org, publication.site
        async with self._site_copy(org, site, publication.seq, retention_of(org, publication.project)) as (copy, record):
            if not _is_late(publication, record):
                wanted = await self._wanted(publication)
                await copy.run(publication.edition.id, publication.seq, _shown_build(publication), wanted)
                if publication.build is None:
                    await self._delete_own_files(site)
                    if site.edition == MAIN:  # which lives as long as its project
                        await self._delete_dashboard(org, site.project)
            return True
        return False

    async def publish_dashboard(self, org: Org, project: Project, read_files: ReadFiles) -> None:
        """What differs, with the pages last."""
        async with self._dashboard_lease(org, project.slug) as lease:
            targets = {dashboard_path(project, name): data for name, data in (await read_files()).items()}
            for path, data in sorted(targets.items(), key=lambda one: one[0].endswith(".html")):
                if await self._place.read(path) != data:
                    await lease.check()
                    media_type = "text/html; charset=utf-8" if path.endswith(".html") else "application/json"
                    await self._place.write(path, data, media_type)

    async def reconcile(self, org: Org, read_shown: ReadShownSites) -> Collection[PublishedSite]:
        """Publish what has no record, remove what should have none, and sweep the assets of old pages."""
        recorded = await self._list_sites(RECORDS, org)
        sites = await read_shown()
        shown, busy = {publication.site: publication for publication in sites.publications}, set(sites.busy)
        repaired = sorted((shown.keys() ^ recorded) - busy)
        for site in repaired:
            if site in shown:
                await self.publish(shown[site])
            else:
                await self._unpublish(org, site)
        for project in {site.project for site in repaired} - {site.project for site in shown}:
            await self._delete_dashboard(org, project)
        for site in sorted(await self._list_sites(SWEEPS, org) - busy):
            async with self._site_copy(org, site, 0, org.purgatory_retention) as (copy, _):
                await copy.sweep()
        return repaired

    async def purge_sites(self, org: Org, sites: Collection[PublishedSite]) -> None:
        """It is no cache."""

    async def delete_expired(self, org: Org, now: int) -> PurgedFiles:  # noqa: ARG002
        await self._place.delete_temporary_files()
        purged = PurgedFiles(0, 0)
        for folder in await self._place.list_folders(PURGATORY):
            if folder.isdigit() and int(folder) <= now:
                more = await self._place.delete_folder(f"{PURGATORY}/{folder}")
                purged = PurgedFiles(purged.objects + more.objects, purged.bytes + more.bytes)
        return purged

    async def close(self) -> None:
        await self._place.close()

    @asynccontextmanager
    async def _site_copy(
        self, org: Org, site: PublishedSite, seq: int, retention: int
    ) -> AsyncIterator[tuple[SiteCopy, SiteRecord]]:
        """Alone with a site. Ends quietly if a later move waits."""
        with suppress(Superseded):
            async with publish_lease(self._database, f"{self._place.name} {site}", seq) as lease:
                record = await self._load(org, site)
                yield SiteCopy(self._place, self._blobs(), self._clock, lease, org.slug, site, record, retention), record

    def _dashboard_lease(self, org: Org, project: str) -> AbstractAsyncContextManager[PublishLease]:
        """Alone with the dashboard of a project, whatever its editions do."""
        return publish_lease(self._database, f"{self._place.name} {org.slug}/{project}/v", 0)

    async def _unpublish(self, org: Org, site: PublishedSite) -> None:
        """A site that the database does not know any more."""
        async with self._site_copy(org, site, 0, org.purgatory_retention) as (copy, record):
            if not await self._database.read(partial(is_shown, org.slug, site)):  # it may have come meanwhile
                await copy.run(record.edition, record.seq, None, {})
                await self._delete_own_files(site)

    async def _delete_own_files(self, site: PublishedSite) -> None:
        await self._delete_all(f"{site_folder(site)}{name}" for name in sorted(OWN_FILES))

    async def _delete_dashboard(self, org: Org, project: str) -> None:
        """Of a project that is gone, unless another one has its slug by now."""
        async with self._dashboard_lease(org, project) as lease:
            if await self._database.read(partial(find_shown_project, org.slug, project)) is None:
                await lease.check()
                await self._delete_all(dashboard_files(project))

    async def _delete_all(self, paths: Iterable[str]) -> None:
        for path in paths:
            await self._place.delete(path)

    async def _load(self, org: Org, site: PublishedSite) -> SiteRecord:
        for kind in (RECORDS, GONE):
            data = await self._place.read(marker_path(kind, org.slug, site))
            with suppress(msgspec.DecodeError):
                if data is not None:
                    return msgspec.json.decode(data, type=SiteRecord)
        # No record: what lies there is unknown, and is written again or removed.
        folder = site_folder(site)
        paths = [path.removeprefix(folder) for path in await self._place.list_files(folder.rstrip("/"))]
        return SiteRecord(unknown=sorted(path for path in paths if is_in_site(site, path)))

    async def _wanted(self, publication: Publication) -> Mapping[str, ArtifactFile]:
        wanted: dict[str, ArtifactFile] = {}
        if publication.build is None or publication.build.artifact is None:
            return wanted
        after = ""
        while True:
            page = await self._database.read(
                partial(artifacts.files_of, publication.build.artifact, after=after, limit=FILES_AT_ONCE)
            )
            wanted |= {file.path: file for file in page if is_in_site(publication.site, file.path)}
            if len(page) < FILES_AT_ONCE:
                return wanted
            after = page[-1].path

    async def _list_sites(self, kind: str, org: Org) -> set[PublishedSite]:
        return {site_of_marker(path) for path in await self._place.list_files(f"{kind}/{org.slug}")}


def _shown_build(publication: Publication) -> str | None:
    return None if publication.build is None else publication.build.uid


def _is_late(publication: Publication, record: SiteRecord) -> bool:
    """Whether what is there is of a later move, or this very one is done. Of two editions that have had the same slug, the one
    that was created later wins, unless it was removed."""
    if record.edition == publication.edition.id:
        is_done = record.complete and record.build == _shown_build(publication)
        return publication.seq < record.seq or (publication.seq == record.seq and is_done)
    if publication.build is None:
        return record.edition != ""
    return record.edition > publication.edition.id and record.build is not None
