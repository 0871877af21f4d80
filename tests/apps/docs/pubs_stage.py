"""What tests of publishers, credentials and periodic jobs share: builds with given files, and editions that show them."""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec

from pressroom import Job, Pressroom, artifact_lifecycle
from pressroom.apps.docs.app import DocsApp
from pressroom.apps.docs.model import MAIN, Build, Edition, EditionKind, Org, Project, TrackingMode, TrackingParams
from pressroom.apps.docs.publishing import Publication, PublishedSite, ReadFiles, ReadShownSites, ShownSites
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import builds, editions, orgs, projects, purgatory
from pressroom.apps.docs.store.builds import Inventory, NewBuild
from pressroom.apps.docs.store.editions import EditionMove, NewEdition
from pressroom.apps.docs.store.purgatory import Deleter
from pressroom.ids import new_uid
from pressroom.model import Work
from pressroom.store.artifacts import artifacts
from tests.apps.docs.dash_stage import DocsStage

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
HASH = "sha256:" + "0" * 64


def shows(*publications: Publication, busy: Collection[PublishedSite] = ()) -> ReadShownSites:
    """For `Publisher.reconcile`: these, and nothing else."""

    async def read_shown() -> ShownSites:
        return ShownSites(publications, busy, {publication.site.project for publication in publications})

    return read_shown


def has_files(files: dict[str, bytes]) -> ReadFiles:
    """For `Publisher.publish_dashboard`."""

    async def read_files() -> dict[str, bytes]:
        return dict(files)

    return read_files


class PubsStage(DocsStage):
    async def save_org(self, org: Org, **changes: Any) -> Org:
        return await self.run(partial(orgs.save_org, msgspec.structs.replace(org, **changes)))  # type: ignore[no-any-return]

    async def build(self, project: Project, files: Mapping[str, bytes], *, ref: str = "main") -> Build:
        """A completed build."""
        blobs = self.press.rendering.blobs
        stored = [
            await artifact_lifecycle.store_file(
                blobs, self.database, path, data, media_type=TYPES.get(path.rpartition(".")[2], "application/octet-stream")
            )
            for path, data in files.items()
        ]
        draft = artifact_lifecycle.bundle_draft(stored, media_type="text/html", with_link=False)
        inventory = Inventory(artifact=draft.uid, object_count=len(files), total_size=draft.size, broken_links=0, problems=[])

        def unit() -> Work[Build]:
            yield from artifacts.record(draft, org_id=project.org, keep_for=60_000)
            build = yield from builds.insert_build(project.id, NewBuild(git_ref=ref, content_hash=HASH), None)
            yield from builds.start_build(build, new_uid())
            yield from builds.record_inventory(build.uid, inventory)
            yield from builds.complete_build(build.uid)
            return (yield from builds.get_build(project.id, build.uid))

        return await self.run(unit)  # type: ignore[no-any-return]

    async def move(self, project: Project, slug: str, build: Build, *, published: bool = False) -> Publication:
        """Let an edition show a build, as a job does before it publishes. The edition is created if it is not there."""
        assert build.artifact is not None
        new = NewEdition(
            slug=slug,
            title=slug,
            kind=EditionKind.DRAFT,
            tracking_mode=TrackingMode.GIT_REF,
            tracking_params=TrackingParams(git_ref=build.git_ref),
        )

        def unit() -> Work[Edition]:
            if slug != MAIN:
                yield from editions.insert_edition(project.id, new)
            edition = yield from editions.get_edition(project.id, slug)
            move = EditionMove(
                edition=edition.id,
                expected_seq=edition.publish_seq,
                build=build.uid,
                artifact=str(build.artifact),
                trigger="build",
                actor="test",
                job_uid=None,
            )
            seq = yield from editions.move_edition(move)
            assert seq is not None
            if published:
                yield from editions.mark_published(edition.id, seq)
            yield from projects.touch_editions(project.id)
            return (yield from editions.get_edition(project.id, slug))

        edition = await self.run(unit)
        org = await self.database.read(partial(orgs.get_org, project.org))
        return Publication(org=org, project=project, edition=edition, build=build, seq=edition.publish_seq)

    async def delete_edition(self, project: Project, slug: str) -> Publication:
        def unit() -> Work[Edition]:
            edition = yield from editions.get_edition(project.id, slug)
            yield from purgatory.delete_edition(project, edition, Deleter("test", "a test", 3600))
            return (yield from editions.get_edition_by_id(edition.id))

        edition = await self.run(unit)
        org = await self.database.read(partial(orgs.get_org, project.org))
        return Publication(org=org, project=project, edition=edition, build=None, seq=edition.publish_seq)

    async def edition(self, project: Project, slug: str) -> Edition:
        return await self.database.read(partial(editions.get_edition, project.id, slug))

    async def run_job(self, kind: str, payload: Any = None) -> Job:
        job = await self.press.submit(kind, payload or {}, key=kind)
        return await self.press.wait_until_ended(job, timeout=120)


@asynccontextmanager
async def pubs_stage(
    database: str, *, workers: int | None = 2, settings: DocsSettings | None = None, **options: Any
) -> AsyncIterator[PubsStage]:
    sections = {"docs": settings or DocsSettings()}
    async with Pressroom(
        database, workers=workers, apps=["docs"], sections=sections, **({"poll_interval": 0.05} | options)
    ) as press:
        assert isinstance(press.app("docs"), DocsApp)
        yield PubsStage(press)
