"""Builds: announce one, receive its archive, start processing it, compare two."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterable, Sequence
from functools import partial
from typing import Any

import msgspec

from pressroom.app import Core
from pressroom.apps.docs.domain.comparison import Comparison, compare_files
from pressroom.apps.docs.errors import ArchiveTooLarge, BuildNotFound, BuildNotUsable, EditionNotFound, NotUploaded
from pressroom.apps.docs.model import Build, BuildStatus, Project
from pressroom.apps.docs.operations import checks
from pressroom.apps.docs.operations.build_jobs import submit_processing
from pressroom.apps.docs.operations.projects import find_with_org
from pressroom.apps.docs.requests import BuildDraft
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import builds as rows
from pressroom.apps.docs.store import editions as edition_rows
from pressroom.apps.docs.store import purgatory
from pressroom.apps.docs.store.builds import NewBuild
from pressroom.apps.docs.store.projects import lock_project
from pressroom.apps.docs.store.purgatory import Deleter
from pressroom.apps.docs.uploads.build_files import list_files
from pressroom.apps.docs.uploads.staging import Staging
from pressroom.errors import InvalidArgument, NotFound
from pressroom.ids import parse_uid
from pressroom.model import Work
from pressroom.store.artifacts.artifacts import ArtifactFile

STATUSES = ("", *(status.value for status in BuildStatus))


class AnnouncedBuild(msgspec.Struct, frozen=True):
    """`upload_url` is where its archive is to be PUT. None: a completed build of the ref has the same content, and is the
    answer."""

    build: Build
    upload_url: str | None


class Builds:
    """`org` and `project` are slugs, `uid` is a build's id in any spelling. Raises BuildNotFound and the like."""

    def __init__(self, core: Core, staging: Staging) -> None:
        self._core = core
        self._staging = staging
        self._settings: DocsSettings = core.app_settings

    async def announce(self, org: str, project: str, draft: BuildDraft, *, uploader: str, base_url: str) -> AnnouncedBuild:
        """Raises InvalidArgument for a ref, hash or annotation that cannot be."""
        checks.check_annotations(draft.annotations)
        new = NewBuild(
            git_ref=checks.check_ref(draft.git_ref),
            alternate_name=checks.check_alternate_name(draft.alternate_name),
            content_hash=checks.check_content_hash(draft.content_hash),
            annotations=draft.annotations,
            uploader=uploader,
        )
        capability = secrets.token_urlsafe(24)

        def unit() -> Work[tuple[Build, bool]]:
            _, found = yield from find_with_org(org, project)
            if (same := (yield from rows.find_same_build(found.id, new))) is not None:
                return same, False
            return (yield from rows.insert_build(found.id, new, _digest(capability))), True

        build, is_new = await self._core.database.run(unit, name="docs")
        if not is_new:
            return AnnouncedBuild(build, None)
        return AnnouncedBuild(build, await self._staging.upload_url(build.uid, capability, base_url))

    async def receive(self, uid: str, capability: str, chunks: AsyncIterable[bytes]) -> int:
        """Stream an archive to staging. Returns its size. Raises BuildNotFound for a wrong or expired capability, and
        ArchiveTooLarge."""
        find = partial(rows.find_build_to_upload, _parsed(uid), _digest(capability), self._settings.upload_ttl)
        build = await self._core.database.read(find)
        return await self._staging.receive(build.uid, chunks, self._settings.max_upload)

    async def start(self, org: str, project: str, uid: str, *, actor: str) -> Build:
        """The upload is complete (`PATCH {"status": "uploaded"}`, Q19): number the build and submit `build_processing`. Called
        twice it answers the same job. Raises NotUploaded."""
        found, build = await self._find(org, project, uid)
        if build.status is not BuildStatus.PENDING:
            return build
        await self._require_uploaded(build)
        async with self._core.queue.transaction() as tx:
            await tx.run(partial(lock_project, found.id), name="docs")
            build = await tx.run(partial(rows.get_build, found.id, build.uid), name="docs")
            if build.status is not BuildStatus.PENDING:
                return build
            submitted = await submit_processing(self._core.queue, found, build, actor=actor, within=tx)
            started = await tx.run(partial(rows.start_build, build, submitted.uid), name="docs")
            assert started is not None  # the project is locked, and it was pending
        return started

    async def _require_uploaded(self, build: Build) -> None:
        size = await self._staging.size(build.uid)
        if size is None:
            raise NotUploaded
        if size > self._settings.max_upload:  # a bucket takes what it is given
            await self._staging.delete(build.uid)
            raise ArchiveTooLarge(self._settings.max_upload)

    async def get(self, org: str, project: str, uid: str) -> Build:
        return (await self._find(org, project, uid))[1]

    async def list(
        self, org: str, project: str, *, status: str = "", before: str = "", limit: int = 100
    ) -> tuple[Sequence[Build], int]:
        """Created last first: one page and how many there are."""
        if status not in STATUSES:
            raise InvalidArgument(f"status: {status[:80]!r} is not {', '.join(STATUSES[1:])}")

        def unit() -> Work[tuple[Sequence[Build], int]]:
            _, found = yield from find_with_org(org, project)
            page = yield from rows.list_builds(found.id, status=status, before=before, limit=limit)
            return page, (yield from rows.count_builds(found.id, status=status))

        return await self._core.database.read(unit)

    async def list_files(self, build: Build) -> Sequence[ArtifactFile]:
        """By path; empty before the inventory."""
        return await list_files(self._core.database, build)

    async def list_problems(self, build: Build) -> Sequence[dict[str, Any]]:
        """Its broken links, the first ones."""
        return await self._core.database.read(partial(rows.read_problems, build.uid))

    async def list_editions_showing(self, build: Build) -> Sequence[str]:
        return await self._core.database.read(partial(rows.list_editions_showing, build.uid))

    async def compare(self, org: str, project: str, before: str, after: str) -> Comparison:
        """Which files were added, removed and changed between two builds (ids) or editions (slugs)."""
        found = (await self._core.database.read(partial(find_with_org, org, project)))[1]
        older, newer = [await self._find_side(found, name) for name in (before, after)]
        # Two builds of 50,000 files take a part of a second, in which other requests and heartbeats go on.
        return await asyncio.to_thread(compare_files, await self.list_files(older), await self.list_files(newer))

    async def _find_side(self, project: Project, name: str) -> Build:
        """By the id of a build, or by the slug of an edition that shows it."""

        def unit() -> Work[Build]:
            try:
                return (yield from rows.get_build(project.id, _parsed(name)))
            except BuildNotFound:
                pass
            try:
                edition = yield from edition_rows.get_edition(project.id, name)
            except EditionNotFound:
                raise BuildNotFound from None
            if edition.build is None:
                raise BuildNotUsable(f"the edition {edition.slug} shows no build yet")
            return (yield from rows.get_build_by_uid(edition.build))

        build = await self._core.database.read(unit)
        if build.artifact is None:
            raise BuildNotUsable(f"the build {build.uid} has no files yet")
        return build

    async def delete(self, org: str, project: str, uid: str, *, actor: str, reason: str = "deleted by hand") -> None:
        """Into purgatory. Raises BuildInUse while an edition shows it."""
        checks.check_reason(reason)
        parsed = _parsed(uid)

        def unit() -> Work[Build]:
            found, of_slug = yield from find_with_org(org, project)
            locked = yield from lock_project(of_slug.id)
            build = yield from rows.get_build(locked.id, parsed)
            deleter = Deleter(actor, reason, purgatory.retention_of(found, locked))
            yield from purgatory.delete_build(locked, build, deleter)
            return build

        build = await self._core.database.run(unit, name="docs")
        if build.status is BuildStatus.PENDING:
            await self._staging.delete(build.uid)

    async def _find(self, org: str, project: str, uid: str) -> tuple[Project, Build]:
        parsed = _parsed(uid)

        def unit() -> Work[tuple[Project, Build]]:
            _, found = yield from find_with_org(org, project)
            return found, (yield from rows.get_build(found.id, parsed))

        return await self._core.database.read(unit)


def _parsed(uid: str) -> str:
    """A build's id in any spelling. Raises BuildNotFound."""
    try:
        return parse_uid(uid)
    except NotFound:
        raise BuildNotFound from None


def _digest(capability: str) -> str:
    return hashlib.sha256(capability.encode(errors="replace")).hexdigest()
